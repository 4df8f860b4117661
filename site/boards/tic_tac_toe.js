// Tic-tac-toe: rules, the text that the model reads, and the value of every move by searching to the end.

const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 3, 6],
  [1, 4, 7],
  [2, 5, 8],
  [0, 4, 8],
  [2, 4, 6],
];
export const SIGNS = 'xo'; // Of players 0 and 1

// A board is nine characters: x, o, or a point for an empty cell. Player 0 begins.
export const EMPTY = '.........';
export const toMove = (board) => board.replace(/\./g, '').length % 2;
export const lineOf = (board) =>
  LINES.find(([a, b, c]) => board[a] !== '.' && board[a] === board[b] && board[a] === board[c]);
export const moves = (board) => (lineOf(board) ? [] : [...board].flatMap((sign, i) => (sign === '.' ? [i] : [])));
export const after = (board, move) => board.slice(0, move) + SIGNS[toMove(board)] + board.slice(move + 1);

// What the players get at the end: 1 for a win, 0 for a draw, -1 for a loss; null while the game goes on.
export function result(board, player) {
  const line = lineOf(board);
  if (line) return board[line[0]] === SIGNS[player] ? 1 : -1;
  return moves(board).length ? null : 0;
}

export const nameOf = (move, player) => `${SIGNS[player]}(${Math.floor(move / 3)},${move % 3})`;

// The prompt, as the library's selfplay.board_games.see writes it.
export function see(board) {
  const player = toMove(board);
  const rows = [0, 3, 6].map((i) => board.slice(i, i + 3));
  const played = [0, 1].map((p) =>
    [`Player ${p}:`, ...cells(board, SIGNS[p]).map((move) => nameOf(move, p))].join(' '),
  );
  const names = moves(board).map((move) => nameOf(move, player));
  return [`You are player ${player}.`, ...rows, ...played, `Moves: ${names.join(' ')}`, 'Move:'].join('\n');
}

const cells = (board, sign) => [...board].flatMap((x, i) => (x === sign ? [i] : []));

const values = new Map(); // Board -> value to the player to move

function value(board) {
  const end = result(board, toMove(board));
  if (end !== null) return end;
  if (!values.has(board)) values.set(board, Math.max(...moves(board).map((move) => -value(after(board, move)))));
  return values.get(board);
}

// The moves that keep what the position is worth with perfect play.
export function best(board) {
  const here = value(board);
  return moves(board).filter((move) => -value(after(board, move)) === here);
}
