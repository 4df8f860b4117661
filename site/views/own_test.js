// "Break it yourself": a reader's test of the program. A call is enough, as the reference knows the value.
import { gradeTest, NAME } from '../play/round.js';
import { el } from './dom.js';
import { testRow } from './test_rows.js';

const EXAMPLES = { 'def f(n):': 'f(5)', 'def f(s):': "f('ABBA')", 'def f(a, b):': 'f(2, 2)' };

export class OwnTest {
  // `test` is one that an address names; it is submitted.
  constructor(python, problem, program, test) {
    Object.assign(this, { python, problem, program, broke: '' });
    this.input = el('input', {
      id: 'own-test',
      class: 'code',
      spellcheck: 'false',
      autocapitalize: 'off',
      placeholder: EXAMPLES[problem.signature] ?? 'f([3, 4, 5])',
      'aria-label': 'Your test',
    });
    this.status = el('p', { class: 'hint', id: 'own-status', role: 'status' });
    this.status.textContent = problem.reference
      ? 'Write a call. The reference knows what it should return.'
      : 'Write an assertion, such as assert f([1]) == 1.';
    this.rows = el('ul', { class: 'tests', id: 'own-tests' });
    const onsubmit = (event) => {
      event?.preventDefault();
      this.submit().catch((error) => this.say(error.message, true));
    };
    const form = el('form', { class: 'line own', autocomplete: 'off', onsubmit }, this.input, el('button', {}, 'Test'));
    this.box = el('section', { class: 'panel' }, el('h2', {}, 'Break it yourself'), form, this.status, this.rows);
    this.input.value = test;
    if (test) onsubmit();
  }

  async submit() {
    const text = this.input.value || this.input.placeholder;
    const found = await this.python.ownTest(text, NAME, this.problem.reference);
    if (found.wrong) return this.say(found.wrong, true);
    const row = await gradeTest(this.python, this.program, this.problem, found.test);
    this.rows.prepend(testRow(row));
    if (row.valid === false) return this.say('The reference fails this test, so it does not count.');
    if (row.program.state !== 'passed') {
      this.broke = text; // For a link to the round
      return this.say('You broke it.', true);
    }
    return this.say('It holds. Try an empty input, or a number that the words name.');
  }

  say(text, bad = false) {
    this.status.textContent = text;
    this.status.className = bad ? 'hint bad' : 'hint';
  }
}
