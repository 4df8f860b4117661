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
      value: steps.length - 1,
      disabled: steps.length < 2,
      oninput: () => (this.show(), onchange()),
    });
    this.box = el('label', {}, 'Training ', this.text, this.input);
    this.show();
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
  }
}
