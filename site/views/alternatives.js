// The list beside a word: what the model might have said. Shown while one points at a word; a click pins it, and then
// each alternative is a button.
import { el, find, percent, visible } from './dom.js';

export class Alternatives {
  constructor(choose) {
    this.box = find('#alternatives');
    this.choose = choose; // Called with the word and the id of another token
    this.pinned = null;
    this.box.addEventListener('keydown', (event) => this.onKey(event));
    document.addEventListener('pointerdown', (event) => {
      if (this.pinned && !this.box.contains(event.target) && event.target !== this.pinned.word) this.close();
    });
  }

  preview(word, token) {
    if (this.pinned) return;
    this.fill(token, false);
    this.place(word);
  }

  leave() {
    if (!this.pinned) this.box.hidden = true;
  }

  pin(word, token) {
    this.close();
    this.pinned = { word, token };
    word.classList.add('open');
    this.fill(token, true);
    this.place(word);
    (this.box.querySelector('button:not([aria-current])') ?? this.box.querySelector('button')).focus({
      preventScroll: true,
    });
  }

  close(refocus = false) {
    this.box.hidden = true;
    if (!this.pinned) return;
    this.pinned.word.classList.remove('open');
    if (refocus) this.pinned.word.focus();
    this.pinned = null;
  }

  fill(token, pinned) {
    this.box.className = pinned ? 'alternatives' : 'alternatives preview';
    this.box.setAttribute('role', pinned ? 'menu' : 'tooltip');
    const said = pinned ? 'Say instead' : 'It might have said';
    this.box.replaceChildren(
      el('p', {}, `${said} (doubt: ${token.bits.toFixed(2)} bits)`),
      ...token.alternatives.map((other, i) =>
        el(
          'button',
          {
            type: 'button',
            role: pinned ? 'menuitem' : null,
            style: `--p: ${other.p}`,
            tabindex: pinned ? null : -1,
            'aria-current': other.id === token.id,
            'aria-keyshortcuts': pinned ? i + 1 : null,
            onclick: () => this.take(other),
          },
          el('span', {}, percent(other.p)),
          el('span', {}, visible(other.text) + (other.id === token.id ? ' ✓' : '')),
        ),
      ),
    );
    this.box.hidden = false;
  }

  take(other) {
    const { word, token } = this.pinned;
    this.close();
    if (other.id !== token.id) this.choose(word, other);
  }

  onKey(event) {
    if (!this.pinned) return;
    const buttons = [...this.box.querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === 'Escape') this.close(true);
    else if (event.key === 'Tab') this.close();
    else if (event.key === 'ArrowDown') buttons[(at + 1) % buttons.length].focus();
    else if (event.key === 'ArrowUp') buttons[(at - 1 + buttons.length) % buttons.length].focus();
    else if (/^[1-9]$/.test(event.key)) buttons[event.key - 1]?.click();
    else return;
    if (event.key !== 'Tab') event.preventDefault();
  }

  // Below the word, or above it where the window ends; never over its edge.
  place(word) {
    const at = word.getClientRects()[0] ?? word.getBoundingClientRect();
    const { width, height } = this.box.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
    const below = at.bottom + height + 12 < window.innerHeight || at.top < height + 12;
    this.box.style.left = `${left + window.scrollX}px`;
    this.box.style.top = `${(below ? at.bottom + 6 : at.top - height - 6) + window.scrollY}px`;
  }
}
