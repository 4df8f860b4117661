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

  // The same model after training: W + B A for each layer that the adapter changes (LoRA, Hu et al. 2021, scale 1).
  with(adapter) {
    const weights = { ...this.weights };
    for (const [
      name,
      {
        data: b,
        shape: [rows, rank],
      },
    ] of Object.entries(adapter)) {
      if (!name.endsWith('.lora_B')) continue;
      const layer = `${name.slice(0, -'.lora_B'.length)}.weight`;
      const {
        data: a,
        shape: [, columns],
      } = adapter[name.replace('.lora_B', '.lora_A')];
      const data = Float32Array.from(this.weights[layer].data);
      for (let i = 0; i < rows; i++) {
        for (let k = 0; k < rank; k++) {
          const scale = b[i * rank + k];
          for (let j = 0; j < columns; j++) data[i * columns + j] += scale * a[k * columns + j];
        }
      }
      weights[layer] = { ...this.weights[layer], data };
    }
    return new Model(this.config, weights, this.tokenizer);
  }
}
