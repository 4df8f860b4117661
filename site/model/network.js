// The forward pass of a small Llama or Qwen2, one token at a time, with a cache of keys and values. Sums are made in
// 64 bits and stored in 32, so logits agree with PyTorch's to about 1e-5.

// y = W x (+ b), with W stored row by row.
function multiply(weight, x, y, bias) {
  const width = x.length;
  const rows = y.length;
  for (let i = 0, at = 0; i < rows; i++, at += width) {
    let a = 0,
      b = 0,
      c = 0,
      d = 0; // Four sums at a time keep the processor busy
    let j = 0;
    for (; j + 3 < width; j += 4) {
      a += weight[at + j] * x[j];
      b += weight[at + j + 1] * x[j + 1];
      c += weight[at + j + 2] * x[j + 2];
      d += weight[at + j + 3] * x[j + 3];
    }
    for (; j < width; j++) a += weight[at + j] * x[j];
    y[i] = a + b + c + d + (bias ? bias[i] : 0);
  }
  return y;
}

// Root-mean-square normalisation (Zhang and Sennrich 2019).
function normalise(x, weight, epsilon, y) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * x[i];
  const scale = 1 / Math.sqrt(sum / x.length + epsilon);
  for (let i = 0; i < x.length; i++) y[i] = x[i] * scale * weight[i];
  return y;
}

const silu = (x) => x / (1 + Math.exp(-x));

export class Network {
  constructor(config, weights) {
    if (config.hidden_act !== 'silu') throw new Error(`the model uses ${config.hidden_act}, this page only silu`);
    this.heads = config.num_attention_heads;
    this.keyHeads = config.num_key_value_heads ?? this.heads;
    this.hidden = config.hidden_size;
    this.size = config.head_dim ?? this.hidden / this.heads; // Of a head
    this.epsilon = config.rms_norm_eps;
    this.vocabulary = config.vocab_size;
    this.longest = config.max_position_embeddings;
    this.tensor = (name) => weights[name]?.data;
    this.embedding = this.tensor('model.embed_tokens.weight');
    this.output = this.tensor('lm_head.weight') ?? this.embedding;
    this.norm = this.tensor('model.norm.weight');
    this.layers = Array.from({ length: config.num_hidden_layers }, (_, i) => this.layer(`model.layers.${i}.`, config));
    this.prepareRotation(config.rope_parameters?.rope_theta ?? config.rope_theta ?? 10000);
    this.makeRoom(config);
    this.rewind(0);
  }

  layer(prefix, config) {
    const linear = (name) => ({
      weight: this.tensor(`${prefix}${name}.weight`),
      bias: this.tensor(`${prefix}${name}.bias`),
    });
    const cache = () => new Float32Array(config.max_position_embeddings * this.keyHeads * this.size);
    return {
      before: this.tensor(`${prefix}input_layernorm.weight`),
      between: this.tensor(`${prefix}post_attention_layernorm.weight`),
      query: linear('self_attn.q_proj'),
      key: linear('self_attn.k_proj'),
      value: linear('self_attn.v_proj'),
      out: linear('self_attn.o_proj'),
      gate: linear('mlp.gate_proj'),
      up: linear('mlp.up_proj'),
      down: linear('mlp.down_proj'),
      keys: cache(),
      values: cache(),
    };
  }

  // Cosines and sines of rotary positions (Su et al. 2021): a pair of numbers turns by `position / theta^(2i/size)`.
  prepareRotation(theta) {
    const half = this.size / 2;
    this.cosine = new Float32Array(this.longest * half);
    this.sine = new Float32Array(this.longest * half);
    for (let position = 0; position < this.longest; position++) {
      for (let i = 0; i < half; i++) {
        const angle = Math.fround(position * Math.fround(1 / theta ** ((2 * i) / this.size)));
        this.cosine[position * half + i] = Math.cos(angle);
        this.sine[position * half + i] = Math.sin(angle);
      }
    }
  }

  // Arrays that every token uses again.
  makeRoom(config) {
    this.x = new Float32Array(this.hidden);
    this.normed = new Float32Array(this.hidden);
    this.change = new Float32Array(this.hidden);
    this.q = new Float32Array(this.heads * this.size);
    this.mixed = new Float32Array(this.heads * this.size);
    this.scores = new Float64Array(this.longest);
    this.gated = new Float32Array(config.intermediate_size);
    this.raised = new Float32Array(config.intermediate_size);
    this.logits = new Float32Array(this.vocabulary);
  }

  // Forget all tokens from position `length` on, so that reading goes on from there.
  rewind(length) {
    this.length = length;
  }

  rotate(vector, heads, position) {
    const half = this.size / 2;
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < half; i++) {
        const c = this.cosine[position * half + i];
        const s = this.sine[position * half + i];
        const a = vector[head * this.size + i];
        const b = vector[head * this.size + half + i];
        vector[head * this.size + i] = a * c - b * s;
        vector[head * this.size + half + i] = b * c + a * s;
      }
    }
  }

  // Reads tokens; returns the logits after the last one, in an array that the next call overwrites.
  read(ids) {
    ids.forEach((id, i) => this.step(id, i === ids.length - 1));
    return this.logits;
  }

  step(id, wantLogits = true) {
    if (this.length >= this.longest)
      throw new Error(`the text is longer than the ${this.longest} tokens that the model reads`);
    const position = this.length++;
    this.x.set(this.embedding.subarray(id * this.hidden, (id + 1) * this.hidden));
    for (const layer of this.layers) {
      this.attend(layer, position);
      this.transform(layer);
    }
    if (wantLogits) multiply(this.output, normalise(this.x, this.norm, this.epsilon, this.normed), this.logits);
    return this.logits;
  }

  // x += attention of this token to itself and all before it
  attend(layer, position) {
    const width = this.keyHeads * this.size;
    const own = [position * width, (position + 1) * width];
    const h = normalise(this.x, layer.before, this.epsilon, this.normed);
    multiply(layer.query.weight, h, this.q, layer.query.bias);
    const key = multiply(layer.key.weight, h, layer.keys.subarray(...own), layer.key.bias);
    multiply(layer.value.weight, h, layer.values.subarray(...own), layer.value.bias);
    this.rotate(this.q, this.heads, position);
    this.rotate(key, this.keyHeads, position);
    for (let head = 0; head < this.heads; head++) this.attendHead(layer, head, width);
    multiply(layer.out.weight, this.mixed, this.change, layer.out.bias);
    for (let i = 0; i < this.hidden; i++) this.x[i] += this.change[i];
  }

  attendHead(layer, head, width) {
    const { size, scores, q, mixed } = this;
    const from = head * size;
    const column = Math.floor((head * this.keyHeads) / this.heads) * size; // Several heads may share keys
    let highest = -Infinity;
    for (let t = 0; t < this.length; t++) {
      let sum = 0;
      for (let i = 0; i < size; i++) sum += q[from + i] * layer.keys[t * width + column + i];
      scores[t] = sum / Math.sqrt(size);
      if (scores[t] > highest) highest = scores[t];
    }
    let total = 0;
    for (let t = 0; t < this.length; t++) total += scores[t] = Math.exp(scores[t] - highest);
    mixed.fill(0, from, from + size);
    for (let t = 0; t < this.length; t++) {
      const share = scores[t] / total;
      for (let i = 0; i < size; i++) mixed[from + i] += share * layer.values[t * width + column + i];
    }
  }

  // x += down(silu(gate(x)) * up(x))
  transform(layer) {
    const h = normalise(this.x, layer.between, this.epsilon, this.normed);
    multiply(layer.gate.weight, h, this.gated, layer.gate.bias);
    multiply(layer.up.weight, h, this.raised, layer.up.bias);
    for (let i = 0; i < this.gated.length; i++) this.gated[i] = silu(this.gated[i]) * this.raised[i];
    multiply(layer.down.weight, this.gated, this.change, layer.down.bias);
    for (let i = 0; i < this.hidden; i++) this.x[i] += this.change[i];
  }
}
