// Turns text into token ids and back, from a tokenizer.json as the `tokenizers` library writes it: byte-level BPE
// behind optional splits. It covers what the bundled models use, and refuses other kinds rather than guess.

// GPT-2's words: contractions, letters, digits, other signs, white space.
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

// Byte-level BPE writes each byte as a visible character: printable ones as themselves, the others from 256 on.
const BYTE_TO_CHAR = [];
const CHAR_TO_BYTE = new Map();
for (let byte = 0, shift = 0; byte < 256; byte++) {
  const visible = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const char = String.fromCodePoint(visible ? byte : 256 + shift++);
  BYTE_TO_CHAR.push(char);
  CHAR_TO_BYTE.set(char, byte);
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const toVisible = (text) => Array.from(new TextEncoder().encode(text), (byte) => BYTE_TO_CHAR[byte]).join('');

// The parts of a text that match, and those between, in order.
function isolate(text, pattern) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) parts.push(text.slice(from, found.index));
    if (found[0]) parts.push(found[0]);
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

// A function that splits a text, from one entry of the file's `pre_tokenizer`.
function splitter(entry) {
  if (entry.type === 'ByteLevel' && !entry.add_prefix_space) {
    return entry.use_regex ? (text) => text.match(WORDS) ?? [] : (text) => [text];
  }
  if (entry.type === 'Split' && entry.behavior === 'Isolated' && !entry.invert) {
    const pattern = new RegExp(entry.pattern.Regex.replaceAll('\\d', '\\p{Nd}'), 'gu');
    return (text) => isolate(text, pattern);
  }
  throw new Error(`the tokenizer splits text in a way that this page does not know: ${JSON.stringify(entry)}`);
}

export class Tokenizer {
  constructor(file) {
    if (file.normalizer || file.model.type !== 'BPE') throw new Error('the tokenizer is not a plain byte-level BPE');
    this.ids = new Map(Object.entries(file.model.vocab));
    this.ranks = new Map(file.model.merges.map((pair, rank) => [[].concat(pair).join(' '), rank]));
    this.added = new Map(file.added_tokens.map((token) => [token.content, token.id]));
    this.texts = []; // Id -> visible characters
    for (const [text, id] of this.ids) this.texts[id] = text;
    this.addedTexts = new Map(file.added_tokens.map((token) => [token.id, token.content]));
    const longestFirst = [...this.added.keys()].sort((a, b) => b.length - a.length);
    this.addedPattern = new RegExp(longestFirst.map(escaped).join('|'), 'gu');
    const entries = file.pre_tokenizer.type === 'Sequence' ? file.pre_tokenizer.pretokenizers : [file.pre_tokenizer];
    this.splitters = entries.map(splitter);
    this.words = new Map(); // Word -> ids, as words repeat
  }

  get size() {
    return Math.max(this.texts.length, ...[...this.addedTexts.keys()].map((id) => id + 1));
  }

  encode(text) {
    return isolate(text, this.addedPattern).flatMap((part) => {
      if (this.added.has(part)) return [this.added.get(part)];
      const words = this.splitters.reduce((parts, split) => parts.flatMap(split), [part]);
      return words.flatMap((word) => this.encodeWord(word));
    });
  }

  // Merges the best pair of neighbours until none is left. Characters without an id are dropped.
  encodeWord(word) {
    if (this.words.has(word)) return this.words.get(word);
    const pieces = Array.from(toVisible(word));
    for (;;) {
      let best = Infinity;
      for (let i = 0; i + 1 < pieces.length; i++) {
        best = Math.min(best, this.ranks.get(`${pieces[i]} ${pieces[i + 1]}`) ?? Infinity);
      }
      if (best === Infinity) break;
      for (let i = 0; i + 1 < pieces.length; i++) {
        if (this.ranks.get(`${pieces[i]} ${pieces[i + 1]}`) === best) pieces.splice(i, 2, pieces[i] + pieces[i + 1]);
      }
    }
    const ids = pieces.map((piece) => this.ids.get(piece)).filter((id) => id !== undefined);
    this.words.set(word, ids);
    return ids;
  }

  // The text of ids, without the special tokens that end and pad.
  decode(ids) {
    let text = '';
    let bytes = [];
    const flush = () => {
      text += new TextDecoder().decode(Uint8Array.from(bytes));
      bytes = [];
    };
    for (const id of ids) {
      if (this.addedTexts.has(id)) {
        flush();
        if (!this.isSpecial(id)) text += this.addedTexts.get(id);
      } else for (const char of this.texts[id] ?? '') bytes.push(CHAR_TO_BYTE.get(char));
    }
    flush();
    return text;
  }

  isSpecial(id) {
    return /^<\w+>$/.test(this.addedTexts.get(id) ?? '');
  }
}
