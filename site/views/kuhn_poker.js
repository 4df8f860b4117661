// Kuhn poker against the self-play model. Its whole strategy is on show; its card is not.
import { CARDS, EQUILIBRIUM, isOver, MOVES, pot, result, see, SITUATIONS, toMove } from '../boards/kuhn_poker.js';
import { answerProbabilities, draw } from '../boards/player.js';
import { el, percent } from './dom.js';
import { StepSlider } from './step_slider.js';

const LETTERS = 'JQK';

export class KuhnPoker {
  constructor(box, steps, modelAt) {
    Object.assign(this, { reader: 1, chips: 0, hands: 0 });
    this.state = el('p', { class: 'state', role: 'status' });
    this.table = el('div', { class: 'cards' });
    this.buttons = el('div', { class: 'line' });
    this.strategy = el('div', { class: 'scroll' });
    this.slider = new StepSlider(
      steps,
      modelAt,
      (step) => `loses ${step.exploitability.toFixed(2)} chips a hand to the best opponent`,
      () => this.learn(),
    );
    box.append(
      el('h2', {}, 'Kuhn poker'),
      el(
        'p',
        { class: 'hint' },
        'Jack, queen and king, a card and a chip each. Pass, or bet a chip; after a bet, pass is to fold.',
      ),
      this.slider.box,
      this.table,
      this.state,
      this.buttons,
      el('h3', {}, 'How often it bets'),
      this.strategy,
      el('p', { class: 'hint' }, 'Blue: the model. Orange frames: where no opponent gains in the long run.'),
    );
    this.learn().then(() => this.deal());
  }

  // Reads the model's strategy at the slider's step.
  async learn() {
    const model = await this.slider.model();
    this.bets = new Map(); // Situation and card -> chance of a bet among both moves
    for (const { moves } of SITUATIONS) {
      for (const card of CARDS.keys()) {
        const [pass, bet] = answerProbabilities(model, see(card, moves), MOVES);
        this.bets.set(`${card}${moves}`, bet / (pass + bet));
      }
    }
    this.drawStrategy();
  }

  deal() {
    const cards = [0, 1, 2].sort(() => Math.random() - 0.5).slice(0, 2);
    this.reader = 1 - this.reader;
    this.hand = { cards, moves: '' };
    this.next();
  }

  next() {
    clearTimeout(this.wait);
    this.drawTable();
    if (isOver(this.hand) || toMove(this.hand) === this.reader) return;
    this.wait = setTimeout(() => {
      const bet = this.bets.get(`${this.hand.cards[1 - this.reader]}${this.hand.moves}`);
      this.move('pb'[draw([1 - bet, bet], Math.random())]);
    }, 700);
  }

  move(letter) {
    this.hand = { ...this.hand, moves: this.hand.moves + letter };
    if (isOver(this.hand)) {
      this.chips += result(this.hand, this.reader);
      this.hands += 1;
    }
    this.next();
    this.buttons.querySelector('button')?.focus({ preventScroll: true });
  }

  drawTable() {
    const { cards, moves } = this.hand;
    const over = isOver(this.hand);
    const card = (owner, rank) =>
      el(
        'figure',
        {},
        rank === null
          ? el('div', { class: 'card back' })
          : el('div', { class: 'card' }, el('span', {}, el('b', {}, LETTERS[rank]), CARDS[rank])),
        el('figcaption', {}, owner),
      );
    this.table.replaceChildren(
      card('your card', cards[this.reader]),
      card('its card', over ? cards[1 - this.reader] : null),
    );
    this.state.textContent = `${this.told(moves)} ${over ? this.outcome() : `${pot(this.hand)} chips in the pot.`}`;
    const mine = !over && toMove(this.hand) === this.reader;
    const facing = moves.endsWith('b');
    const names = facing ? ['Fold', 'Call'] : ['Pass', 'Bet'];
    this.buttons.replaceChildren(
      ...(over
        ? [el('button', { type: 'button', class: 'main', onclick: () => this.deal() }, 'Next hand')]
        : names.map((name, i) =>
            el('button', { type: 'button', disabled: !mine, onclick: () => this.move('pb'[i]) }, name),
          )),
      el(
        'span',
        { class: 'hint' },
        this.hands ? `${this.hands} hands: ${this.chips > 0 ? '+' : ''}${this.chips} chips` : '',
      ),
    );
    for (const row of this.strategy.querySelectorAll('tr[data-moves]')) {
      row.style.fontWeight = row.dataset.moves === moves && !over && toMove(this.hand) !== this.reader ? '700' : '';
    }
  }

  told(moves) {
    if (!moves) return this.reader === 0 ? 'You begin.' : 'It begins.';
    return [...moves]
      .map((letter, i) => {
        const who = i % 2 === this.reader ? 'You' : 'It';
        const facing = i > 0 && moves[i - 1] === 'b';
        const words = { p: facing ? 'folded' : 'passed', b: facing ? 'called' : 'bet' };
        return `${who} ${words[letter]}.`;
      })
      .join(' ');
  }

  outcome() {
    const chips = result(this.hand, this.reader);
    return `${chips > 0 ? 'You win' : 'You lose'} ${Math.abs(chips)} chip${Math.abs(chips) > 1 ? 's' : ''}.`;
  }

  drawStrategy() {
    const words = { '': 'It begins', pb: 'It passed, you bet', p: 'You passed', b: 'You bet' };
    const cell = (moves, card) => {
      const [low, high] = EQUILIBRIUM[moves][card];
      const p = this.bets.get(`${card}${moves}`);
      return el(
        'td',
        {},
        percent(p),
        el(
          'span',
          { class: 'meter', style: `--p: ${p}; --low: ${Math.min(low, 0.97)}; --high: ${high}` },
          el('i'),
          el('b'),
        ),
      );
    };
    this.strategy.replaceChildren(
      el(
        'table',
        {},
        el(
          'thead',
          {},
          el('tr', {}, el('th', { scope: 'col' }, ''), ...CARDS.map((name) => el('th', { scope: 'col' }, name))),
        ),
        el(
          'tbody',
          {},
          ...SITUATIONS.map(({ moves }) =>
            el(
              'tr',
              { 'data-moves': moves },
              el('th', { scope: 'row' }, words[moves]),
              ...CARDS.map((_, card) => cell(moves, card)),
            ),
          ),
        ),
      ),
    );
  }
}
