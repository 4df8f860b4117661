// Five stages, each token a word that can be pointed at, clicked, or reached with the arrow keys.
import { Alternatives } from './alternatives.js';
import { el, find, percent, visible } from './dom.js';

const MOST = 2; // Bits of doubt that have the full colour

export class TranscriptView {
  // `fork` is called with the place of a token among all tokens, and the alternative.
  constructor(fork) {
    this.list = find('#stages');
    this.alternatives = new Alternatives((word, other) => fork(this.words.indexOf(word), other));
    this.words = [];
    this.list.addEventListener('keydown', (event) => this.onKey(event));
  }

  // `own` is the transcript without forks, to mark what is different; `forks` are the places that were forced.
  show(stages, own, forks) {
    this.alternatives.close();
    this.words = [];
    this.list.replaceChildren(
      ...stages.map((stage, k) => {
        const words = stage.tokens.map((token, i) =>
          this.word(token, {
            different: token.id !== own[k].tokens[i]?.id,
            forced: forks.includes(this.words.length),
          }),
        );
        return el(
          'li',
          {},
          el('h3', {}, `${k + 1}. ${stage.title}`),
          el('p', { class: 'words' }, ...words),
          stage.cut ? el('p', { class: 'cut' }, 'cut off: the stage has no room for more') : null,
        );
      }),
    );
    if (this.words.length) this.words[0].tabIndex = 0; // One stop for the Tab key, arrows inside
  }

  word(token, { different, forced }) {
    const name = visible(token.text).trim() || 'space';
    const word = el(
      'span',
      {
        class: ['word', different && 'other', forced && 'forced'].filter(Boolean).join(' '),
        role: 'button',
        tabindex: -1,
        style: `--share: ${Math.min(1, token.bits / MOST).toFixed(3)}`,
        'aria-haspopup': 'menu',
        'aria-label': `${name}, ${percent(token.p)}, doubt ${token.bits.toFixed(1)} bits`,
        onmouseenter: () => this.alternatives.preview(word, token),
        onmouseleave: () => this.alternatives.leave(),
        onclick: () => this.alternatives.pin(word, token),
      },
      ...signs(token.text),
    );
    word.token = token;
    this.words.push(word);
    return word;
  }

  onKey(event) {
    const at = this.words.indexOf(event.target);
    if (at < 0) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 8, ArrowUp: -8, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.focus(Math.max(0, Math.min(this.words.length - 1, at + steps[event.key])));
    else if (event.key === 'Enter' || event.key === ' ') this.alternatives.pin(event.target, event.target.token);
    else return;
    event.preventDefault();
  }

  focus(place) {
    for (const word of this.words) word.tabIndex = -1;
    this.words[place].tabIndex = 0;
    this.words[place].focus();
  }
}

// The colour leaves out the space before a word. A line's end and a stage's end are faint signs that one can click.
function signs(text) {
  if (text === '') return [' ', el('span', { class: 'ink sign' }, '∎')];
  const space = /^ (?=\S)/.test(text) ? ' ' : '';
  const parts = text.slice(space.length).split(/(\n)/).filter(Boolean);
  const inked = parts.flatMap((part) => (part === '\n' ? [el('span', { class: 'sign' }, '⏎'), '\n'] : [part]));
  return [space, el('span', { class: 'ink' }, ...inked)];
}
