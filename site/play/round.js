// One round of the game: the generator's transcript, the discriminator's tests, and what Python says to both.
import { DISCRIMINATOR, GENERATOR } from './stages.js';
import { write } from './transcript.js';

const TESTS = 4; // Transcripts of the discriminator; each ends with one test
export const NAME = 'f'; // Of the function, in every problem of the curriculum

// What the models say, without Python: {problem, stages, testers}.
export function play(players, problem, { temperature, seed, forced }) {
  const stages = write(players.generator, problem, GENERATOR, { temperature, seed, forced });
  const testers = Array.from(
    { length: TESTS },
    (_, i) =>
      write(players.discriminator, problem, DISCRIMINATOR, {
        temperature: 1,
        seed: 1000 * seed + i + 1,
        details: false,
      })[0].text,
  );
  return { problem, stages, testers };
}

export const tokensOf = (round) => round.stages.flatMap((stage) => stage.tokens);

// The same test twice says nothing new.
const distinct = (tests) => [...new Set(tests.filter(Boolean))];

// Each test with what program and reference did, and how many of the discriminator's could not be read or are copies.
export async function grade(python, { problem, stages, testers }) {
  const known = await python.problem(problem.description);
  const { program, tests } = await python.read(stages.at(-1).text, testers, NAME);
  const baseline = [];
  for (const test of known?.tests ?? []) baseline.push({ test, program: await python.run(program, test) });
  const suite = [];
  for (const test of distinct(tests)) suite.push(await gradeTest(python, program, problem, test));
  const unreadable = tests.filter((test) => !test).length;
  return { program, baseline, suite, unreadable, copies: tests.length - unreadable - suite.length };
}

// One test: valid if the reference passes it. Without a reference nobody can say.
export async function gradeTest(python, program, problem, test) {
  const reference = problem.reference ? await python.run(problem.reference, test) : null;
  return {
    test,
    reference,
    program: await python.run(program, test),
    valid: reference ? reference.state === 'passed' : null,
  };
}

// The rewards of the game: the share of baseline and valid tests that the program passes, and for the discriminator
// (1 - pass rate) * validity, where only valid tests count, and a copy counts as invalid.
export function rewards({ baseline, suite, unreadable, copies }) {
  const passed = (rows) => rows.filter((row) => row.program.state === 'passed').length;
  const valid = suite.filter((row) => row.valid);
  const faced = [...baseline, ...valid];
  const validity = valid.length / Math.max(1, suite.length + unreadable + copies);
  const broken = valid.length ? 1 - passed(valid) / valid.length : 0;
  return {
    generator: faced.length ? passed(faced) / faced.length : null,
    discriminator: broken * validity,
    broken,
    validity,
    solved: baseline.length > 0 && passed(baseline) === baseline.length,
    passedBaseline: passed(baseline),
  };
}
