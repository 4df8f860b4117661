// What test_page.py asks of a script: node SCRIPT FOLDER, where FOLDER holds asked.json with a model and an adapter.
import { readFile } from 'node:fs/promises';
import { Model } from '../../site/model/model.js';
import { readSafetensors } from '../../site/model/weights.js';

export const [, , folder] = process.argv;
export const asked = JSON.parse(await readFile(`${folder}/asked.json`, 'utf8'));

const read = async (path) => {
  const bytes = await readFile(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
};
const base = await Model.load(asked.model, read);
export const trained = async (adapter) => base.with(readSafetensors(await read(adapter)));
export const model = asked.adapter ? await trained(asked.adapter) : base;
