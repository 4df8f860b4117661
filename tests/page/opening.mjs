// Plays the page's opening round in node: node opening.mjs FOLDER. Reads asked.json, writes answered.json.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { OPENING } from '../../site/play/address.js';
import { Curriculum } from '../../site/play/curriculum.js';
import { play } from '../../site/play/round.js';
import { asked, folder, trained } from './asked.mjs';

const recorded = fileURLToPath(new URL('../../site/recorded', import.meta.url));
const { game } = JSON.parse(await readFile(`${recorded}/training.json`, 'utf8'));
const step = game.find((row) => row.step === OPENING.step);
const players = {
  generator: await trained(`${recorded}/${step.generator}`),
  discriminator: await trained(`${recorded}/${step.discriminator}`),
};
const { stages, testers } = play(players, new Curriculum(asked.curriculum).of(OPENING.problem), OPENING);
await writeFile(`${folder}/answered.json`, JSON.stringify({ ...OPENING, code: stages.at(-1).text, testers }));
