// Reads what the build wrote, makes the parts of the page, and shows the one that the address names.
import { Model } from './model/model.js';
import { readSafetensors } from './model/weights.js';
import { Curriculum } from './play/curriculum.js';
import { Python } from './python/python.js';
import { showCheats } from './views/cheats.js';
import { find } from './views/dom.js';
import { KuhnPoker } from './views/kuhn_poker.js';
import { showReal } from './views/real.js';
import { RoundView } from './views/round.js';
import { TicTacToe } from './views/tic_tac_toe.js';

async function read(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} is not here (${response.status}); make page writes it`);
  return response.arrayBuffer();
}

const json = async (path) => JSON.parse(new TextDecoder().decode(await read(path)));

// A function that gives the model at a step of training, from one adapter file a step; step 0 has none.
function atSteps(base) {
  const made = new Map();
  return (file) => {
    if (!file) return base;
    if (!made.has(file))
      made.set(
        file,
        read(`recorded/${file}`).then((buffer) => base.with(readSafetensors(buffer))),
      );
    return made.get(file);
  };
}

async function makeRound(recorded) {
  const [base, curriculum] = await Promise.all([Model.load('models/starter', read), json('data/curriculum.json')]);
  const at = atSteps(base);
  const players = async (step) => {
    const [generator, discriminator] = await Promise.all([at(step.generator), at(step.discriminator)]);
    return { generator, discriminator };
  };
  return new RoundView(new Curriculum(curriculum), recorded.game, players, new Python());
}

async function makeBoards(recorded) {
  const at = atSteps(await Model.load('models/starter_games', read));
  const modelAt = async (step) => at(step.learner);
  return [
    new TicTacToe(find('#tic-tac-toe'), recorded.tic_tac_toe, modelAt),
    new KuhnPoker(find('#kuhn-poker'), recorded.kuhn_poker, modelAt),
  ];
}

const recorded = json('recorded/training.json');
const PARTS = {
  // Each part is made when it is first shown
  round: async () => makeRound(await recorded),
  boards: async () => makeBoards(await recorded),
  cheats: async () => showCheats(find('#gallery'), await json('recorded/cheats.json')),
  real: async () => {
    showReal(find('#rounds'), await json('recorded/rounds.json'));
    showReal(find('#trained'), await json('recorded/trained.json'), ['Before', 'After']);
  },
};
const made = new Map();
let current = 'round';

async function show() {
  const [asked, query] = location.hash.slice(1).split('?');
  const name = (current = Object.hasOwn(PARTS, asked) ? asked : current);
  const opens = name === 'round' && (query !== undefined || !made.has(name));
  find('#trouble').hidden = true;
  for (const part of Object.keys(PARTS)) {
    find(`#${part}`).hidden = part !== name;
    const link = find(`nav a[href="#${part}"]`);
    part === name ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
  }
  window.scrollTo(0, 0);
  if (!made.has(name)) made.set(name, PARTS[name]());
  try {
    const shown = await made.get(name);
    if (opens) shown.open(query);
    document.body.dataset.ready = name;
  } catch (error) {
    made.delete(name);
    find('#trouble').textContent = error.message;
    find('#trouble').hidden = false;
  }
}

window.addEventListener('hashchange', show);
show();
