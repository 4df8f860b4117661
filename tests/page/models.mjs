// Runs the page's models in node: node models.mjs FOLDER, where FOLDER holds asked.json (written by test_page.py).
// Writes answered.json: token ids of every text, greedy tokens of every problem; and logits.bin, float32.
import { writeFile } from 'node:fs/promises';
import { write } from '../../site/play/transcript.js';
import { DISCRIMINATOR, GENERATOR, heading, opening } from '../../site/play/stages.js';
import { asked, folder, model } from './asked.mjs';

const answered = {
  encoded: asked.texts.map((text) => model.tokenizer.encode(text)),
  prompts: asked.problems.map((problem) => [
    model.tokenizer.encode(opening(problem) + heading(GENERATOR[0])),
    ...GENERATOR.slice(1).map((title) => model.tokenizer.encode(heading(title))),
  ]),
};
answered.decoded = answered.encoded.map((ids) => model.tokenizer.decode(ids));
for (const [name, titles] of [
  ['generator', GENERATOR],
  ['discriminator', DISCRIMINATOR],
]) {
  answered[name] = asked.problems.map((problem) => {
    const stages = write(model, problem, titles, { details: false });
    return {
      ids: stages.map((stage) => stage.tokens.map((token) => token.id)),
      texts: stages.map((stage) => stage.text),
    };
  });
}
const rows = [];
for (const { ids, from } of asked.rows) {
  // Logits after each token from position `from` on
  model.network.rewind(0);
  ids.forEach((id, i) => {
    const logits = model.network.step(id, i >= from);
    if (i >= from) rows.push(Float32Array.from(logits));
  });
}
await writeFile(`${folder}/logits.bin`, Buffer.concat(rows.map((row) => Buffer.from(row.buffer))));
await writeFile(`${folder}/answered.json`, JSON.stringify(answered));
