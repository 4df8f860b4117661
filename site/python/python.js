// The page's side of the worker: questions with a time limit. A program that takes longer is stopped by ending the
// worker; the next question starts another.

const SECONDS = 5;

export class TimeLimit extends Error {}

export class Python {
  constructor() {
    this.waiting = new Map(); // Number of a question -> {resolve, reject, timer}
    this.asked = 0;
    this.onload = () => {}; // Called with the bytes that have arrived, and how many there are
    this.start();
  }

  start() {
    this.worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => {
        if ('ready' in data) data.ready ? resolve() : reject(new Error(data.message));
        else if ('loaded' in data) this.onload(data.loaded, data.total);
        else this.settle(data);
      };
      this.worker.onerror = (event) => reject(new Error(event.message || 'the worker did not start'));
    });
    this.ready.catch(() => {}); // Each question reports it
  }

  settle({ number, answer, error }) {
    const { resolve, reject, timer } = this.waiting.get(number) ?? {};
    if (!resolve) return;
    clearTimeout(timer);
    this.waiting.delete(number);
    error === undefined ? resolve(answer) : reject(new Error(error));
  }

  // What a function of in_page.py returns; raises TimeLimit.
  async ask(call, ...args) {
    await this.ready;
    const number = this.asked++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.restart(), SECONDS * 1000);
      this.waiting.set(number, { resolve, reject, timer });
      this.worker.postMessage({ number, request: { call, with: args } });
    });
  }

  // Ends the worker, and every question that it had not answered.
  restart() {
    this.worker.terminate();
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(new TimeLimit(`stopped after ${SECONDS} seconds`));
    }
    this.waiting.clear();
    this.start();
  }

  problem(description) {
    return this.ask('problem', description);
  }

  read(code, tests, name) {
    return this.ask('read', code, tests, name);
  }

  ownTest(text, name, reference) {
    return this.ask('own_test', text, name, reference);
  }

  // {state, answer} of one program on one test; a program that does not end has the state 'timeout'.
  async run(program, test) {
    try {
      return await this.ask('run', program, test);
    } catch (error) {
      if (error instanceof TimeLimit) return { state: 'timeout', answer: error.message };
      throw error;
    }
  }
}
