// The self-play model at a board: the probability of each legal move's name.
import { sample, softmax } from '../model/choosing.js';

// Probabilities of whole answers, each ended, at temperature 1: the product over an answer's tokens.
export function answerProbabilities({ network, tokenizer, end }, prompt, names) {
  network.rewind(0);
  const first = softmax(network.read(tokenizer.encode(prompt)));
  const start = network.length;
  return names.map((name) => {
    const ids = [...tokenizer.encode(` ${name}`), end];
    network.rewind(start);
    let p = first[ids[0]];
    for (let i = 1; i < ids.length; i++) p *= softmax(network.step(ids[i - 1]))[ids[i]];
    return p;
  });
}

// An index by its probability among these; illegal moves are left out.
export function draw(probabilities, chance) {
  const total = probabilities.reduce((a, b) => a + b, 0);
  return sample(
    probabilities.map((p) => p / total),
    chance,
  );
}
