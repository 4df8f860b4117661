// The problems that the bundled model knows, composed from the tables of the library's problems.curriculum, which the
// build writes into curriculum.json. A test compares every description and reference with the library's.

const FIRST = ['even', 'odd', 'vowels', 'others']; // Their phrases come before the noun

function describe(family, [a, b, c]) {
  if (!family.items) return `If ${a.phrase} return ${b.phrase}, else ${c.phrase}.`;
  const words = FIRST.includes(a.name) ? [a.phrase, family.noun] : [family.noun, a.phrase];
  return `${['Return the', c.phrase, 'of', b.phrase, 'the', ...words].filter(Boolean).join(' ')}.`;
}

function solve(family, [a, b, c]) {
  if (!family.items) return `${family.signature}\n    return ${b.code} if ${a.code} else ${c.code}`;
  const condition = a.code === 'True' ? '' : ` if ${a.code}`;
  return `${family.signature}\n    ys = [${b.code} for x in ${family.items}${condition}]\n    return ${c.code}`;
}

// Counting what was changed, or two equal branches: the curriculum leaves these out.
const idle = (family, [, b, c]) => (family.items ? c.name === 'count' && b.name !== 'same' : b.code === c.code);

export class Curriculum {
  constructor({ families, splits }) {
    this.families = families;
    this.splitOf = new Map(Object.entries(splits).flatMap(([split, keys]) => keys.map((key) => [key, split])));
    this.known = new Map(); // Description -> problem
    for (const family of families) {
      const [first, second, third] = family.slots;
      for (const a of first) for (const b of second) for (const c of third) this.add(family, [a, b, c]);
    }
    this.heldOut = [...this.known.values()].filter((problem) => problem.split === 'held_out');
  }

  add(family, ops) {
    if (idle(family, ops)) return;
    const key = `${family.name}:${ops.map((op) => op.name).join('-')}`;
    const problem = {
      description: describe(family, ops),
      signature: family.signature,
      reference: solve(family, ops),
      family: family.name,
      ops,
      split: this.splitOf.get(key) ?? 'training',
    };
    this.known.set(problem.description, problem);
  }

  // The problem of three operations, by their places in the family's slots; undefined for one that is left out.
  compose(name, places) {
    const family = this.families.find((x) => x.name === name);
    return this.known.get(
      describe(
        family,
        places.map((place, slot) => family.slots[slot][place]),
      ),
    );
  }

  // The problem that shares most words with a text, rare words counting more; undefined where they share none.
  nearest(text) {
    const asked = wordsOf(text);
    const all = [...this.known.values()].map((problem) => ({ problem, words: wordsOf(problem.description) }));
    const count = new Map();
    for (const { words } of all) for (const word of words) count.set(word, (count.get(word) ?? 0) + 1);
    const weight = (words) => words.reduce((sum, word) => sum + Math.log(all.length / count.get(word)), 0);
    let [nearest, most] = [undefined, 0];
    for (const { problem, words } of all) {
      const shared = weight([...words].filter((word) => asked.has(word)));
      const score = shared / (weight([...words]) + weight([...asked].filter((word) => count.has(word))));
      if (score > most) [nearest, most] = [problem, score];
    }
    return nearest;
  }

  any(chance) {
    return this.heldOut[Math.floor(chance * this.heldOut.length)];
  }

  // The problem that a text states. Another text gets the signature that its words suggest, and no reference.
  of(text) {
    const description = text.trim().replace(/\s+/g, ' ');
    return (
      this.known.get(description) ??
      this.known.get(`${description}.`) ?? { description, signature: guess(description), reference: '', split: '' }
    );
  }
}

const wordsOf = (text) =>
  new Set((text.toLowerCase().match(/[a-z]+|\d+/g) ?? []).map((word) => word.replace(/s$/, '')));

function guess(text) {
  if (/\bif\b.*\b[ab]\b/i.test(text)) return 'def f(a, b):';
  if (/up to n\b/.test(text)) return 'def f(n):';
  return /\bletters?\b|\bof s\b/.test(text) ? 'def f(s):' : 'def f(xs):';
}
