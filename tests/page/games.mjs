// Runs the page's board games and curriculum in node: node games.mjs FOLDER. Reads asked.json, writes answered.json.
import { writeFile } from 'node:fs/promises';
import { answerProbabilities } from '../../site/boards/player.js';
import { best, moves, nameOf, result, see, toMove } from '../../site/boards/tic_tac_toe.js';
import { Curriculum } from '../../site/play/curriculum.js';
import { asked, folder, model } from './asked.mjs';

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
  }),
);
