// The stages of a transcript, as the library's problems.stages defines them for a model that continues text.

export const GENERATOR = [
  'Informal reasoning',
  'Structured reasoning',
  'Pseudocode',
  'Constraints and invariants',
  'Executable code',
];
export const DISCRIMINATOR = ['Test cases'];
export const LIMIT = 64; // Tokens of a stage, at most, as in training
const STOP = '\n###'; // A model that writes the next heading itself has ended its stage

export const heading = (title) => `\n### ${title}\n`;
export const opening = (problem) => `${problem.description}\n${problem.signature}`.replace(/\n+$/, '');

// Where a stage's text ends, or -1 while it goes on.
export const stopIn = (text) => text.indexOf(STOP);
