// Plays a round whenever problem, training step, temperature or a fork changes.
import { addressOf, OPENING, roundAt } from '../play/address.js';
import { play, tokensOf } from '../play/round.js';
import { el, find, visible } from './dom.js';
import { ProblemForm } from './problem.js';
import { TranscriptView } from './transcript.js';
import { VerdictView } from './verdict.js';

export class RoundView {
  // `players(step)` gives both models as they were at a step of training.
  constructor(curriculum, steps, players, python) {
    Object.assign(this, { players, steps: steps.map(({ step }) => step) });
    this.verdict = new VerdictView(python);
    this.transcript = new TranscriptView((place, other) => this.fork(place, other));
    this.form = new ProblemForm(curriculum, steps, () => this.begin());
    this.forks = []; // {place, id, forced, was, now}, the newest last
    find('#copy').addEventListener('click', () => this.copy());
  }

  // The round that an address names, or the opening one.
  open(query = '') {
    const asked = roundAt(query, this.steps);
    this.asked = asked ?? OPENING;
    if (!asked) warn();
    this.form.open(this.asked);
  }

  // Writes the round on show into the address.
  async copy() {
    if (!this.now) return; // Nothing is on show yet
    const { problem, settings, step } = this.now;
    const say = this.forks.map(({ place, id }) => [place, id]);
    const test = this.verdict.own?.broke ?? '';
    history.replaceState(null, '', addressOf({ problem: problem.description, step, ...settings, say, test }));
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject();
    find('#copy').textContent = await copied.then(
      () => 'Copied',
      () => 'It is in the address bar',
    );
    setTimeout(() => (find('#copy').textContent = 'Copy link'), 2500);
  }

  // A new transcript, in the model's own words.
  async begin() {
    const { problem, step, temperature, seed } = this.form;
    const { say = [], test = '' } = this.asked ?? {};
    this.asked = null;
    if (!problem.description) return;
    const turn = (this.turn = Symbol('turn'));
    const models = await this.players(step);
    if (turn !== this.turn) return; // Another one began while the adapters were read
    this.forks = [];
    this.now = { models, problem, step: step.step, settings: { temperature, seed } };
    this.own = null;
    this.show(test);
    for (const [place, id] of say) {
      if (place >= tokensOf(this.round).length || id >= models.generator.config.vocab_size) {
        warn();
        return this.form.open((this.asked = OPENING));
      }
      this.force(place, { id, text: models.generator.tokenizer.decode([id]) }, test);
    }
  }

  show(test = '') {
    const { models, problem, settings } = this.now;
    const start = performance.now();
    const round = play(models, problem, { ...settings, forced: this.forks.at(-1)?.forced ?? [] });
    const milliseconds = performance.now() - start;
    this.own ??= round;
    this.round = round;
    this.transcript.show(
      round.stages,
      this.own.stages,
      this.forks.map((fork) => fork.place),
    );
    this.showForks();
    const count = tokensOf(round).length;
    find('#speed').textContent = `${count} tokens and four tests in ${milliseconds.toFixed(0)} ms, in this page.`;
    this.verdict.show(round, test);
  }

  fork(place, other) {
    this.force(place, other);
    this.transcript.focus(place);
  }

  force(place, other, test) {
    const tokens = tokensOf(this.round);
    const forced = [...tokens.slice(0, place).map((token) => token.id), other.id];
    this.forks = this.forks.filter((fork) => fork.place < place);
    this.forks.push({ place, id: other.id, forced, was: tokens[place].text, now: other.text });
    this.show(test);
  }

  showForks() {
    const bar = find('#fork');
    const fork = this.forks.at(-1);
    bar.hidden = !fork;
    if (!fork) return;
    const changed =
      tokensOf(this.round).slice(fork.place + 1).length &&
      document.querySelectorAll('#stages .other').length - this.forks.length;
    const after = changed > 0 ? `${changed} other words changed.` : 'Nothing else changed.';
    const undo = () => (this.forks.pop(), this.show());
    const clear = () => ((this.forks = []), this.show());
    const word = (text) => el('code', {}, text.trim() || visible(text));
    const button = (name, onclick) => el('button', { type: 'button', class: 'plain', onclick }, name);
    bar.replaceChildren('You made it say ', word(fork.now), ' instead of ', word(fork.was), `. ${after} `);
    bar.append(button('Undo', undo));
    if (this.forks.length > 1) bar.append(button('Back to its own words', clear));
  }
}

function warn() {
  find('#trouble').textContent = 'This address names no round of this page, so here is the opening round.';
  find('#trouble').hidden = false;
}
