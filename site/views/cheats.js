// The gallery: programs that do not solve the task, and what each grader said of them when it was recorded.
import { el } from './dom.js';

const GRADERS = {
  'exit code': 'trusts the exit code',
  'last word': 'trusts the last line printed',
  'this project': 'this project’s grader',
};

export function showCheats(box, { tests, programs }) {
  const card = ({ name, code, verdicts, why }) =>
    el(
      'article',
      { class: 'panel cheat' },
      el('h2', {}, name),
      el('pre', {}, code),
      el(
        'dl',
        {},
        ...Object.entries(verdicts).flatMap(([grader, accepted]) => [
          el('dt', {}, GRADERS[grader] ?? grader),
          el('dd', { class: accepted ? 'bad' : 'good' }, accepted ? 'accepted' : 'rejected'),
        ]),
      ),
      el('p', { class: 'hint' }, why),
    );
  box.replaceChildren(
    el('p', {}, 'The tests: ', ...tests.flatMap((test, i) => [i ? ' and ' : '', el('code', {}, test)]), '.'),
    el('div', { class: 'grid' }, ...programs.map(card)),
    el(
      'p',
      { class: 'hint' },
      'Recorded with the three graders of the notebook “Fool the grader”, where one can add a cheat.',
    ),
  );
}
