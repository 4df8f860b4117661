// The address of a round, which says all that is needed to show the same round again.

// What the page opens with: a program that passes its baseline tests, and a valid test that breaks it. A test asserts
// this, so that new recordings ask for another round here.
export const OPENING = {
  problem: 'Return the largest of 5 less than the numbers in xs.',
  step: 48,
  seed: 2,
  temperature: 0,
  say: [], // Forced tokens, the first one first: [place among all tokens, id]
  test: '', // The reader's
};

export const addressOf = ({ say, ...round }) =>
  `#round?${new URLSearchParams({ ...round, say: say.map((fork) => fork.join(':')).join(',') })}`;

// The round that an address names after its question mark; null where it names none.
export function roundAt(query, steps) {
  const given = { ...OPENING, say: '', ...Object.fromEntries(new URLSearchParams(query)) };
  const [step, seed, temperature] = [given.step, given.seed, given.temperature].map(Number);
  const say = given.say ? given.say.split(',').map((fork) => fork.split(':').map(Number)) : [];
  const right =
    Object.keys(given).every((name) => name in OPENING) &&
    given.problem.trim() &&
    steps.includes(step) &&
    Number.isInteger(seed) &&
    temperature >= 0 &&
    temperature <= 1.5 &&
    say.every((fork) => fork.length === 2 && fork.every((x) => Number.isInteger(x) && x >= 0));
  return right ? { ...given, step, seed, temperature, say } : null;
}
