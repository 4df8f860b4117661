// A slider over the steps of a self-play run, and the model at the step that it shows.
import { el } from './dom.js';

export class StepSlider {
  // `figure(step)` says in words how good the model is at a step.
  constructor(steps, modelAt, figure, onchange) {
    Object.assign(this, { steps, modelAt, figure });
    this.text = el('output');
    this.input = el('input', {
      type: 'range',
      min: 0,
      max: steps.length - 1,
      value: 0,
      disabled: steps.length < 2,
      oninput: () => (this.show(), onchange()),
    });
    this.button = el('button', { type: 'button', onclick: () => this.train() }, 'Train it');
    this.box = el('div', {}, el('label', {}, 'Training ', this.text, this.input), this.button);
    this.show();
  }

  // Moves the slider to the end, a step at a time.
  train() {
    if (this.input.value === this.input.max) return;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.input.value = still ? this.input.max : Number(this.input.value) + 1;
    this.input.dispatchEvent(new Event('input'));
    setTimeout(() => this.train(), 700);
  }

  get step() {
    return this.steps[this.input.value];
  }

  model() {
    return this.modelAt(this.step);
  }

  show() {
    const { step } = this.step;
    this.text.textContent = `${step} steps: ${this.figure(this.step)}`;
    this.input.setAttribute('aria-valuetext', this.text.textContent);
    this.button.disabled = this.input.value === this.input.max;
  }
}
