// Writes a transcript: each stage's heading is given, its tokens are chosen by the model or forced by the reader.
import { best, chanceAt, entropy, likeliest, sample, softmax } from '../model/choosing.js';
import { heading, LIMIT, opening, stopIn } from './stages.js';

const SHOWN = 6; // Alternatives that are kept for each token

// One token as it is shown. Probabilities and doubt are those at temperature 1, whatever it was chosen with.
function look(logits, id, tokenizer) {
  const p = softmax(logits);
  const alternatives = best(p, SHOWN).map((x) => ({ ...x, text: tokenizer.decode([x.id]) }));
  return { id, p: p[id], bits: entropy(p), text: tokenizer.decode([id]), alternatives };
}

function choose(logits, temperature, chance) {
  return temperature > 0 ? sample(softmax(logits, temperature), chance) : likeliest(logits);
}

// The stages of one transcript: [{title, text, tokens, cut}]. `forced` holds the first tokens, in order; after them
// the model goes on alone. `details: false` leaves out what only a reader needs.
export function write(model, problem, titles, { temperature = 0, seed = 0, forced = [], details = true } = {}) {
  const { network, tokenizer, end } = model;
  network.rewind(0);
  let logits = network.read(tokenizer.encode(opening(problem) + heading(titles[0])));
  let count = 0; // Tokens of all stages
  let last;
  return titles.map((title, k) => {
    const given = k ? tokenizer.encode(heading(title)) : [];
    if (given[0] === last) given.shift(); // The model wrote the heading itself
    if (given.length) logits = network.read(given);
    const tokens = [];
    let text = '';
    while (tokens.length < LIMIT) {
      const id = count < forced.length ? forced[count] : choose(logits, temperature, chanceAt(seed, count));
      count += 1;
      last = id;
      tokens.push(details ? look(logits, id, tokenizer) : { id });
      logits = network.step(id);
      text = tokenizer.decode(tokens.map((token) => token.id));
      if (id === end || stopIn(text) >= 0) break;
    }
    const stopped = stopIn(text) >= 0;
    return { title, tokens, text: stopped ? text.slice(0, stopIn(text)) : text, cut: last !== end && !stopped };
  });
}
