// What the tests say: the problem's own, the discriminator's, and the reader's.
import { grade, gradeTest, NAME, rewards } from '../play/round.js';
import { el, find } from './dom.js';

const MARKS = { passed: '✓', failed: '✗', error: '!', timeout: '⏱' };
const inTest = (test) => test.replace(/^assert /, '');

export class VerdictView {
  constructor(python) {
    this.python = python;
    this.box = find('#verdict');
    this.turn = 0; // Of the round on show; an earlier round's results come too late
  }

  async show(round) {
    const turn = ++this.turn;
    this.round = round;
    if (!this.graded) this.box.replaceChildren(el('p', { class: 'note' }, 'Python is starting, once…'));
    else this.box.setAttribute('aria-busy', 'true');
    try {
      const graded = await grade(this.python, round);
      if (turn === this.turn) this.draw(graded);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  fail(error) {
    this.box.removeAttribute('aria-busy');
    this.box.replaceChildren(
      el(
        'div',
        { class: 'panel' },
        el(
          'p',
          { class: 'note wrong' },
          `Python did not start here (${error.message}), so programs are written but not run.`,
        ),
      ),
    );
  }

  draw(graded) {
    this.graded = graded;
    this.box.removeAttribute('aria-busy');
    this.box.replaceChildren(this.program(graded), this.tests(graded), this.own(graded), sandbox());
  }

  program({ baseline, program }) {
    const { solved, passedBaseline } = rewards(this.graded);
    const text = !baseline.length
      ? 'A problem without a reference'
      : solved
        ? `Solved: it passes all ${baseline.length} baseline tests`
        : `It fails ${baseline.length - passedBaseline} of ${baseline.length} baseline tests`;
    const note = baseline.length
      ? null
      : el(
          'p',
          { class: 'hint' },
          'These words are not in the curriculum, which is all ' +
            'that these models have ever read. They answer anyway; only your own tests can say whether it is right.',
        );
    find('#spoken').textContent = text;
    return el(
      'section',
      { class: 'panel' },
      el('h2', {}, 'The verdict'),
      el('p', { class: `big ${baseline.length ? (solved ? 'good' : 'bad') : ''}` }, text),
      note,
      el(
        'div',
        { class: 'squares' },
        ...baseline.map((row) =>
          el(
            'span',
            {
              class: row.program.state === 'passed' ? '' : 'bad',
              title: `${inTest(row.test)}: ${said(row.program)}`,
            },
            MARKS[row.program.state],
          ),
        ),
      ),
      baseline.length
        ? el(
            'details',
            {},
            el('summary', {}, 'The ten tests and the answers'),
            el('ul', { class: 'tests' }, ...baseline.map((row) => line(row))),
          )
        : null,
      program ? null : el('p', { class: 'bad' }, 'It wrote no program.'),
    );
  }

  tests({ suite, unreadable }) {
    const { generator, discriminator, validity } = rewards(this.graded);
    const valid = suite.filter((row) => row.valid);
    const lost = valid.filter((row) => row.program.state !== 'passed').length;
    return el(
      'section',
      { class: 'panel' },
      el('h2', {}, 'The discriminator’s tests'),
      el('ul', { class: 'tests' }, ...suite.map((row) => line(row))),
      unreadable ? el('p', { class: 'hint' }, `${unreadable} more could not be read as a test.`) : null,
      this.round.problem.reference
        ? el(
            'dl',
            { class: 'rewards' },
            el('dt', {}, 'Generator'),
            el('dd', {}, `earns ${generator.toFixed(2)}, the share of baseline and valid tests passed`),
            el('dt', {}, 'Discriminator'),
            el(
              'dd',
              {},
              `earns ${discriminator.toFixed(2)} = ${(valid.length ? lost / valid.length : 0).toFixed(2)} of valid tests failed × ${validity.toFixed(2)} valid`,
            ),
          )
        : null,
    );
  }

  // The reader's own test: a call is enough, the reference knows the value.
  own({ program }) {
    const input = el('input', {
      id: 'own-test',
      class: 'code',
      spellcheck: 'false',
      autocapitalize: 'off',
      placeholder: example(this.round.problem.signature),
      'aria-label': 'Your test',
    });
    const rows = el('ul', { class: 'tests', id: 'own-tests' });
    const status = el(
      'p',
      { class: 'hint', id: 'own-status', role: 'status' },
      'Write a call. The reference knows what it should return.',
    );
    const submit = async (event) => {
      event.preventDefault();
      const { problem } = this.round;
      const found = await this.python
        .ownTest(input.value || input.placeholder, NAME, problem.reference)
        .catch((error) => ({ wrong: error.message }));
      if (found.wrong) return void ((status.textContent = found.wrong), (status.className = 'hint bad'));
      const row = await gradeTest(this.python, program, problem, found.test);
      rows.prepend(line(row));
      const broken = row.program.state !== 'passed' && row.valid !== false;
      status.className = broken ? 'bad' : 'hint';
      status.textContent =
        row.valid === false
          ? 'The reference fails this test, so it does not count.'
          : broken
            ? 'You broke it.'
            : 'It holds. Try an empty input, or a number that the words name.';
      return undefined;
    };
    return el(
      'section',
      { class: 'panel' },
      el('h2', {}, 'Break it yourself'),
      el('form', { class: 'line own', onsubmit: submit, autocomplete: 'off' }, input, el('button', {}, 'Test')),
      status,
      rows,
    );
  }
}

function said({ state, answer }) {
  if (state === 'timeout') return answer;
  return state === 'error' ? answer : `the program returns ${answer}`;
}

// A test with its mark. A test that the reference fails is wrong itself.
function line({ test, program, reference, valid }) {
  const invalid = valid === false;
  const note = invalid
    ? `not valid: the reference returns ${reference.answer}`
    : program.state === 'passed'
      ? null
      : said(program);
  return el(
    'li',
    { class: invalid ? 'invalid' : null },
    el(
      'span',
      { class: `mark ${invalid ? '' : program.state === 'passed' ? 'good' : 'bad'}` },
      invalid ? '–' : MARKS[program.state],
    ),
    el('code', {}, inTest(test)),
    note ? el('small', {}, note) : null,
  );
}

function example(signature) {
  return { 'def f(n):': 'f(5)', 'def f(s):': "f('ABBA')", 'def f(a, b):': 'f(2, 2)' }[signature] ?? 'f([3, 4, 5])';
}

const sandbox = () =>
  el(
    'p',
    { class: 'note' },
    'Programs run in Python compiled to WebAssembly, in a worker that is ended ' +
      'after three seconds. Here your browser is the sandbox, and program and test share one interpreter: this is not the ' +
      'project’s grader, and the programs under “Fool the grader” would fool this page.',
  );
