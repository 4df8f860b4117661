// One test as a row: its mark, its text, and what was answered where that is worth saying.
import { el } from './dom.js';

export const MARKS = { passed: '✓', failed: '✗', error: '!', timeout: '⏱' };

export const inTest = (test) => test.replace(/^assert /, '');

// What a program did, in words; `who` is the program or the reference.
export function said(who, { state, answer }) {
  if (state === 'timeout') return `${who} was ${answer}`;
  return state === 'error' ? `${who}: ${answer}` : `${who} returns ${answer}`;
}

// A test that the reference fails is wrong itself, and its row is struck through.
export function testRow({ test, program, reference, valid }) {
  const invalid = valid === false;
  const passed = program.state === 'passed';
  const mark = invalid ? '–' : MARKS[program.state];
  const colour = invalid ? '' : passed ? 'good' : 'bad';
  const note = invalid
    ? `not valid: ${said('the reference', reference)}`
    : passed
      ? null
      : said('the program', program);
  return el(
    'li',
    { class: invalid ? 'invalid' : null },
    el('span', { class: `mark ${colour}` }, mark),
    el('code', {}, inTest(test)),
    note && el('small', {}, note),
  );
}
