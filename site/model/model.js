// A bundled model: its network and its tokenizer, and copies of it with the adapter of a training step.
import { Network } from './network.js';
import { Tokenizer } from './tokenizer.js';
import { readSafetensors } from './weights.js';

export class Model {
  constructor(config, weights, tokenizer) {
    Object.assign(this, {
      config,
      weights,
      tokenizer,
      network: new Network(config, weights),
      end: config.eos_token_id,
    });
  }

  // `read` takes a path and gives an ArrayBuffer: `fetch` in a page, the file system in tests.
  static async load(folder, read) {
    const names = ['config.json', 'model.safetensors', 'tokenizer.json'];
    const [config, weights, tokenizer] = await Promise.all(names.map((name) => read(`${folder}/${name}`)));
    const json = (buffer) => JSON.parse(new TextDecoder().decode(buffer));
    return new Model(json(config), readSafetensors(weights), new Tokenizer(json(tokenizer)));
  }

  // The same model after training, with an adapter's change of each layer that it names.
  with(adapter) {
    const weights = { ...this.weights };
    for (const name of Object.keys(adapter).filter((name) => name.endsWith('.lora_B'))) {
      const layer = name.replace('.lora_B', '.weight');
      weights[layer] = adapted(weights[layer], adapter[name.replace('.lora_B', '.lora_A')], adapter[name]);
    }
    return new Model(this.config, weights, this.tokenizer);
  }
}

// W + B A (LoRA, Hu et al. 2021, scale 1), with B of shape (rows, rank) and A of shape (rank, columns).
function adapted(weight, { data: a, shape }, { data: b }) {
  const [rank, columns] = shape;
  const data = Float32Array.from(weight.data);
  for (let i = 0; i * columns < data.length; i++) {
    for (let k = 0; k < rank; k++) {
      for (let j = 0; j < columns; j++) data[i * columns + j] += b[i * rank + k] * a[k * columns + j];
    }
  }
  return { ...weight, data };
}
