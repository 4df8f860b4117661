// The form: a problem typed, drawn from the held-out ones, or composed; the step of training; the temperature.
import { el, find } from './dom.js';

const SPLITS = {
  held_out: 'held out: never seen in training',
  warm_start: 'seen before training',
  training: 'seen in training',
  '': 'not in the curriculum',
};

export class ProblemForm {
  constructor(curriculum, steps, onchange) {
    Object.assign(this, { curriculum, steps, onchange, input: find('#description'), seed: 1 });
    find('#problem').addEventListener('submit', (event) => {
      event.preventDefault();
      this.changed();
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing) (event.preventDefault(), this.changed());
    });
    this.input.addEventListener('input', () => this.fit());
    window.addEventListener('resize', () => this.fit());
    find('#nearest button').addEventListener('click', () => this.set(curriculum.nearest(this.input.value)));
    find('#another').addEventListener('click', () => this.set(curriculum.any(Math.random())));
    find('#again').addEventListener('click', () => this.changed((this.seed += 1)));
    this.slider('#step', () => this.showStep());
    this.slider('#temperature', () => this.showTemperature());
    find('#step').max = steps.length - 1;
    find('#step').disabled = steps.length < 2;
    this.makeComposer();
  }

  get problem() {
    return this.curriculum.of(this.input.value);
  }
  get step() {
    return this.steps[find('#step').value];
  }
  get temperature() {
    return Number(find('#temperature').value);
  }

  slider(selector, show) {
    find(selector).addEventListener('input', () => {
      show();
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.changed(), 120);
    });
  }

  set(problem) {
    this.input.value = problem.description;
    if (find('#compose').open) this.showComposition(problem);
    this.changed();
  }

  // A round from an address.
  open({ problem, step, seed, temperature }) {
    this.seed = seed;
    find('#step').value = this.steps.findIndex((row) => row.step === step);
    find('#temperature').value = temperature;
    this.showStep();
    this.showTemperature();
    this.set({ description: problem });
  }

  // The field is as high as its text.
  fit() {
    this.input.style.height = 'auto';
    this.input.style.height = `${this.input.scrollHeight + 2}px`;
  }

  changed() {
    const { split, description } = this.problem;
    const nearest = split || !description ? null : this.curriculum.nearest(description);
    this.fit();
    find('#split').textContent = SPLITS[split];
    find('#nearest').hidden = !nearest;
    if (nearest) find('#nearest button').textContent = nearest.description;
    this.onchange(this);
  }

  showStep() {
    const { step, solved } = this.step;
    const share = solved === undefined ? '' : `: solves ${Math.round(100 * solved)}% of held-out problems`;
    find('#step-text').textContent = `${step} steps${share}`;
    find('#step').setAttribute('aria-valuetext', find('#step-text').textContent);
  }

  showTemperature() {
    const t = this.temperature;
    find('#temperature-text').textContent = t === 0 ? '0: always the likeliest word' : t.toFixed(1);
    find('#again').hidden = t === 0;
  }

  makeComposer() {
    const { families } = this.curriculum;
    this.family = el(
      'select',
      { onchange: () => this.fillSlots([0, 0, 0]) },
      ...families.map((family) => el('option', { value: family.name }, family.noun || 'two numbers a and b')),
    );
    this.slots = [0, 1, 2].map(() => el('select', { onchange: () => this.compose() }));
    const labels = ['About', 'Which', 'Changed how', 'Combined how'];
    find('#slots').append(...[this.family, ...this.slots].map((select, i) => el('label', {}, labels[i], select)));
    find('#compose').addEventListener('toggle', () => {
      if (find('#compose').open) this.showComposition(this.problem);
    });
  }

  showComposition({ family, ops }) {
    if (!ops) return this.fillSlots([0, 0, 0], false);
    this.family.value = family;
    const { slots } = this.curriculum.families.find((x) => x.name === family);
    return this.fillSlots(
      ops.map((op, k) => slots[k].indexOf(op)),
      false,
    );
  }

  fillSlots(places, compose = true) {
    const { slots, items } = this.curriculum.families.find((x) => x.name === this.family.value);
    const labels = items ? ['Which', 'Changed how', 'Combined how'] : ['If', 'Then', 'Else'];
    this.slots.forEach((select, k) => {
      select.replaceChildren(
        ...slots[k].map((op, i) => el('option', { value: i }, op.phrase || (k ? 'as they are' : 'all'))),
      );
      select.value = places[k];
      select.parentElement.firstChild.textContent = labels[k];
    });
    if (compose) this.compose();
  }

  // Some compositions are left out of the curriculum, such as counting what was changed; the words stay then.
  compose() {
    const problem = this.curriculum.compose(
      this.family.value,
      this.slots.map((select) => Number(select.value)),
    );
    if (problem) this.set(problem);
  }
}
