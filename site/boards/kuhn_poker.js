// Kuhn poker: three cards, a chip each in the pot, one bet. Pass and bet are fold and call after a bet.

export const CARDS = ['jack', 'queen', 'king'];
export const MOVES = ['Pass', 'Bet'];

// A hand is {cards: [0..2, 0..2], moves: 'pb'...}. Player 0 acts first.
export const toMove = ({ moves }) => moves.length % 2;
export const isOver = ({ moves }) => ['pp', 'bp', 'bb', 'pbp', 'pbb'].includes(moves);
export const pot = ({ moves }) => 2 + [...moves].filter((move) => move === 'b').length;

// Chips that a player wins or loses at the end.
export function result({ cards, moves }, player) {
  if (moves.endsWith('bp')) return toMove({ moves }) === player ? 1 : -1; // The one who did not fold is to move
  const stake = moves.endsWith('bb') ? 2 : 1;
  return cards[player] > cards[1 - player] ? stake : -stake;
}

// What a player knows, as OpenSpiel writes it, in the prompt of the library's selfplay.board_games.see.
export const see = (card, moves) =>
  [`You are player ${moves.length % 2}.`, `${card}${moves}`, 'Moves: Pass Bet', 'Move:'].join('\n');

// The four situations of a player: what was done before, in words and in letters.
export const SITUATIONS = [
  { moves: '', player: 0, words: 'You begin' },
  { moves: 'pb', player: 0, words: 'You passed, the other bet' },
  { moves: 'p', player: 1, words: 'The other passed' },
  { moves: 'b', player: 1, words: 'The other bet' },
];

// Chance of a bet in equilibrium, [lowest, highest], by situation and card: the first player may bluff with a jack as
// often as one time in three, and the rest follows from that (Kuhn 1950).
export const EQUILIBRIUM = {
  '': [
    [0, 1 / 3],
    [0, 0],
    [0, 1],
  ],
  pb: [
    [0, 0],
    [1 / 3, 2 / 3],
    [1, 1],
  ],
  p: [
    [1 / 3, 1 / 3],
    [0, 0],
    [1, 1],
  ],
  b: [
    [0, 0],
    [1 / 3, 1 / 3],
    [1, 1],
  ],
};
