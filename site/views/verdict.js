// What the tests say: the problem's own, the discriminator's, and the reader's.
import { grade, rewards } from '../play/round.js';
import { el, find } from './dom.js';
import { OwnTest } from './own_test.js';
import { inTest, MARKS, said, testRow } from './test_rows.js';

const UNKNOWN =
  'These words are not in the curriculum, which is all that these models have ever read. They answer anyway; ' +
  'only your own tests can say whether it is right.';
const SANDBOX =
  'Programs run in Python compiled to WebAssembly, in a worker that is ended after five seconds. Your browser is the ' +
  'sandbox here, and program and test share one interpreter: this is not the project’s grader, and a program whose ' +
  'answers equal everything would pass.';

export class VerdictView {
  constructor(python) {
    this.python = python;
    this.box = find('#verdict');
    this.bar = el('progress', { 'aria-label': 'Python' });
    this.loaded = el('p', { class: 'note' });
    this.showLoaded(0, 0);
    python.onload = (bytes, total) => this.showLoaded(bytes, total);
    this.turn = 0; // Of the round on show; an earlier round's results come too late
  }

  // `test` is a reader's, from the address.
  async show(round, test = '') {
    const turn = ++this.turn;
    this.own = null;
    if (!this.drawn) this.box.replaceChildren(el('section', { class: 'panel' }, this.loaded, this.bar));
    else this.box.setAttribute('aria-busy', 'true');
    try {
      const graded = await grade(this.python, round);
      if (turn === this.turn) this.draw(round.problem, graded, test);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  showLoaded(bytes, total) {
    const [some, all] = [bytes, total].map((x) => (x / 1e6).toFixed(1));
    const now = bytes < total ? `is loading: ${some} of ${all} MB` : 'is starting';
    this.loaded.textContent = `Python, which runs the programs, ${now}. Meanwhile, read or change what they say.`;
    if (bytes < total) Object.assign(this.bar, { max: total, value: bytes });
    else this.bar.removeAttribute('value');
  }

  fail(error) {
    const text = `Python does not run here (${error.message}), so programs are written but not tested.`;
    this.box.removeAttribute('aria-busy');
    this.box.replaceChildren(el('p', { class: 'panel note wrong' }, text));
  }

  draw(problem, graded, test) {
    const earned = rewards(graded);
    this.own = new OwnTest(this.python, problem, graded.program, test);
    this.drawn = true;
    this.box.removeAttribute('aria-busy');
    this.box.replaceChildren(
      programPanel(graded, earned),
      testsPanel(problem, graded, earned),
      this.own.box,
      el('p', { class: 'note' }, SANDBOX),
    );
  }
}

// The program on the problem's own tests.
export function programPanel({ baseline, program }, { solved, passedBaseline, broken }) {
  const n = baseline.length;
  const failed = `It fails ${n - passedBaseline} of ${n} baseline tests`;
  const passed = `${broken ? 'Broken, though' : 'Solved:'} it passes all ${n} baseline tests`;
  const text = !n ? 'A problem without a reference' : solved ? passed : failed;
  const colour = !n ? '' : solved && !broken ? 'good' : 'bad';
  find('#spoken').textContent = text;
  const summary = el('summary', {}, 'The tests and the answers');
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, 'The verdict'),
    el('p', { class: `big ${colour}` }, text),
    n ? el('div', { class: 'squares' }, ...baseline.map(square)) : el('p', { class: 'hint' }, UNKNOWN),
    n ? el('details', {}, summary, el('ul', { class: 'tests' }, ...baseline.map(testRow))) : null,
    program ? null : el('p', { class: 'bad' }, 'It wrote no program.'),
  );
}

function square({ test, program }) {
  const title = `${inTest(test)}: ${said('the program', program)}`;
  return el('span', { class: program.state === 'passed' ? null : 'bad', title }, MARKS[program.state]);
}

// The discriminator's tests, and what both players earn.
export function testsPanel(
  { reference },
  { suite, unreadable, copies },
  { generator, discriminator, broken, validity },
) {
  const rest = [
    copies && `${copies} more ${copies > 1 ? 'are copies' : 'is a copy'}.`,
    unreadable && `${unreadable} could not be read.`,
    !suite.length && !unreadable && 'It wrote none that could be read.',
  ];
  const [earns, failed, valid] = [discriminator, broken, validity].map((x) => x.toFixed(2));
  const earned = el(
    'dl',
    { class: 'rewards' },
    el('dt', {}, 'Generator'),
    el('dd', {}, `earns ${(generator ?? 0).toFixed(2)}, the share of baseline and valid tests passed`),
    el('dt', {}, 'Discriminator'),
    el('dd', {}, `earns ${earns} = ${failed} of valid tests failed × ${valid} valid`),
  );
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, 'The discriminator’s tests'),
    el('ul', { class: 'tests' }, ...suite.map(testRow)),
    rest.some(Boolean) ? el('p', { class: 'hint' }, rest.filter(Boolean).join(' ')) : null,
    reference ? earned : null,
  );
}
