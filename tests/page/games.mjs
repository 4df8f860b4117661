// Runs the page's board games and curriculum in node: node games.mjs FOLDER. Reads asked.json, writes answered.json.
import { readFile, writeFile } from 'node:fs/promises';
import { see as seePoker, MOVES } from '../../site/boards/kuhn_poker.js';
import { answerProbabilities } from '../../site/boards/player.js';
import { best, moves, nameOf, result, see, toMove } from '../../site/boards/tic_tac_toe.js';
import { Model } from '../../site/model/model.js';
import { readSafetensors } from '../../site/model/weights.js';
import { Curriculum } from '../../site/play/curriculum.js';

const [, , folder] = process.argv;
const read = async (path) => {
  const bytes = await readFile(path);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
};

const asked = JSON.parse(await readFile(`${folder}/asked.json`, 'utf8'));
const base = await Model.load(asked.model, read);
const model = asked.adapter ? base.with(readSafetensors(await read(asked.adapter))) : base;
const curriculum = new Curriculum(asked.curriculum);
await writeFile(
  `${folder}/answered.json`,
  JSON.stringify({
    problems: [...curriculum.known.values()].map(({ description, signature, reference, split }) => [
      description,
      signature,
      reference,
      split,
    ]),
    boards: asked.boards.map((board) => {
      const names = moves(board).map((move) => nameOf(move, toMove(board)));
      return { prompt: see(board), names, best: best(board), end: result(board, 0) };
    }),
    chances: asked.measured.map((board) =>
      answerProbabilities(
        model,
        see(board),
        moves(board).map((move) => nameOf(move, toMove(board))),
      ),
    ),
    hands: asked.hands.map(([card, before]) => [
      seePoker(card, before),
      answerProbabilities(model, seePoker(card, before), MOVES),
    ]),
  }),
);
