// Rounds that a real model played when they were recorded.
import { rewards } from '../play/round.js';
import { addressOf, OPENING } from '../play/address.js';
import { el } from './dom.js';
import { programPanel, testsPanel } from './verdict.js';

export function showReal(box, rounds, when = []) {
  const stage = ({ title, text }, k, all) =>
    el('li', {}, el('h3', {}, all.length > 1 ? `${k + 1}. ${title}` : title), el('p', { class: 'words' }, text));
  const round = ({ problem, stages, graded }, k) => {
    const earned = rewards(graded);
    const toy = addressOf({ ...OPENING, problem: problem.description });
    return el(
      'article',
      {},
      el('h2', {}, when[k] ? `${when[k]}: ${problem.description}` : problem.description),
      el('p', { class: 'hint' }, el('a', { href: toy }, 'Play it with the small models')),
      el(
        'div',
        { class: 'columns' },
        el('ol', { class: 'stages' }, ...stages.map(stage)),
        el('div', { class: 'verdict' }, programPanel(graded, earned), testsPanel(problem, graded, earned)),
      ),
    );
  };
  box.replaceChildren(...rounds.map(round));
}
