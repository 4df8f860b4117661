// Tic-tac-toe against the self-play model: its probabilities stand on the board.
import { answerProbabilities } from '../boards/player.js';
import { after, best, EMPTY, lineOf, moves, nameOf, result, see, SIGNS, toMove } from '../boards/tic_tac_toe.js';
import { likeliest } from '../model/choosing.js';
import { el, percent } from './dom.js';
import { StepSlider } from './step_slider.js';

const CELLS = ['top left', 'top', 'top right', 'left', 'middle', 'right', 'bottom left', 'bottom', 'bottom right'];

export class TicTacToe {
  constructor(box, steps, modelAt) {
    this.reader = 0; // The player that the reader is
    this.state = el('p', { class: 'state', role: 'status' });
    this.grid = el('div', { class: 'board', role: 'group', 'aria-label': 'Board' });
    this.shows = el('input', { type: 'checkbox', onchange: () => this.draw() });
    this.slider = new StepSlider(
      steps,
      modelAt,
      (step) => `keeps what a position is worth in ${Math.round(100 * step.keeps)}% of its moves`,
      () => this.turn(),
    );
    this.score = el('p', { class: 'hint' });
    this.won = [0, 0, 0]; // Games lost, drawn and won by the reader
    box.append(
      el('h2', {}, 'Tic-tac-toe'),
      this.slider.box,
      this.state,
      this.grid,
      el(
        'div',
        { class: 'line' },
        el('button', { type: 'button', onclick: () => this.begin(0) }, 'New game, you begin'),
        el('button', { type: 'button', onclick: () => this.begin(1) }, 'It begins'),
      ),
      el('label', { class: 'check' }, this.shows, 'Mark the moves that keep what the position is worth'),
      this.score,
      el(
        'p',
        { class: 'hint' },
        'Each free cell shows how likely the model is to move there: in your turn, what it would do in your place; ' +
          'in its own, what it will choose from. It plays the likeliest.',
      ),
    );
    this.begin(0);
  }

  begin(reader) {
    this.reader = reader;
    this.board = EMPTY;
    this.counted = false;
    this.turn();
  }

  // Shows the position with the probabilities of whoever is to move; then the model moves, if it is its turn.
  async turn() {
    clearTimeout(this.wait);
    const model = await this.slider.model();
    const names = moves(this.board).map((move) => nameOf(move, toMove(this.board)));
    const p = names.length ? answerProbabilities(model, see(this.board), names) : [];
    this.probabilities = new Map(moves(this.board).map((move, i) => [move, p[i]]));
    const over = result(this.board, this.reader) !== null;
    this.draw();
    if (!over && toMove(this.board) !== this.reader)
      this.wait = setTimeout(() => this.place(moves(this.board)[likeliest(p)]), 900);
  }

  place(move) {
    this.board = after(this.board, move);
    this.last = move;
    return this.turn();
  }

  draw() {
    const end = result(this.board, this.reader);
    const mine = toMove(this.board) === this.reader;
    const line = lineOf(this.board) ?? [];
    const keeping = this.shows.checked && end === null ? best(this.board) : [];
    const focused = [...this.grid.children].indexOf(document.activeElement);
    this.grid.replaceChildren(
      ...CELLS.map((name, i) =>
        this.cell(name, i, {
          free: mine && end === null && this.board[i] === '.',
          line: line.includes(i),
          keeps: keeping.includes(i),
        }),
      ),
    );
    if (focused >= 0) this.grid.children[focused].focus();
    this.state.textContent =
      end === null
        ? mine
          ? `Your move: you are ${SIGNS[this.reader]}`
          : 'It thinks…'
        : ['You lost.', 'A draw.', 'You won.'][end + 1];
    if (end !== null && !this.counted) ((this.won[end + 1] += 1), (this.counted = true));
    const [lost, drawn, won] = this.won;
    this.score.textContent = lost + drawn + won ? `You won ${won}, drew ${drawn} and lost ${lost}.` : '';
  }

  cell(name, i, { free, line, keeps }) {
    const sign = this.board[i];
    const p = this.probabilities.get(i);
    const shown = sign === '.' && p !== undefined;
    return el(
      'button',
      {
        type: 'button',
        class: [sign !== '.' && sign, line && 'won', keeps && 'keeps'].filter(Boolean).join(' '),
        disabled: !free && sign !== '.' ? true : null,
        'aria-disabled': !free,
        style: shown ? `--p: ${p.toFixed(3)}` : null,
        'aria-label': `${name}: ${sign === '.' ? `free${shown ? `, ${percent(p)}` : ''}` : sign}`,
        onclick: () => free && this.place(i),
      },
      sign === '.' ? (shown ? el('small', {}, percent(p)) : '') : sign,
    );
  }
}
