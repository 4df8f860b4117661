// From logits to a choice: probabilities, doubt in bits, and a token.

// Probabilities at a temperature, as a new array.
export function softmax(logits, temperature = 1) {
  const p = new Float64Array(logits.length);
  const highest = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  let total = 0;
  for (let i = 0; i < p.length; i++) total += p[i] = Math.exp((logits[i] - highest) / temperature);
  for (let i = 0; i < p.length; i++) p[i] /= total;
  return p;
}

// Doubt: 0 bits where one token has all the probability, 1 bit where two are equally likely.
export function entropy(p) {
  let bits = 0;
  for (const x of p) if (x > 0) bits -= x * Math.log2(x);
  return bits;
}

export function likeliest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

// The `n` likeliest tokens as [{id, p}], likeliest first.
export function best(p, n) {
  const order = Array.from(p.keys()).sort((a, b) => p[b] - p[a] || a - b);
  return order.slice(0, n).map((id) => ({ id, p: p[id] }));
}

// The index where the running sum of `p` passes `chance`, a number in [0, 1).
export function sample(p, chance) {
  let left = chance;
  for (let i = 0; i < p.length; i++) {
    left -= p[i];
    if (left < 0) return i;
  }
  return likeliest(p);
}

// A number in [0, 1) that depends on a seed and a position alone. What comes after a changed token therefore meets
// the same chances as before, and differs only because of the change (mulberry32).
export function chanceAt(seed, position) {
  let x = (Math.imul(seed + 1, 0x9e3779b1) + Math.imul(position + 1, 0x85ebca6b)) | 0;
  x = Math.imul(x ^ (x >>> 15), x | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
