// Runs Python beside the page, in a worker that the page can end. Programs see no JavaScript and no network: the
// module `js` is empty, and what fetches files is taken away once Python has started.

// Tells the page what arrives, of a size that the build wrote down: a server may compress and then names another.
function countFetched(total) {
  const { fetch } = self;
  let loaded = 0;
  const count = (bytes, out) => {
    self.postMessage({ loaded: (loaded += bytes.length), total });
    out.enqueue(bytes);
  };
  self.fetch = async (...asked) => {
    const response = await fetch(...asked);
    return new Response(response.body.pipeThrough(new TransformStream({ transform: count })), response);
  };
}

async function start() {
  const here = new URL('.', import.meta.url);
  const { loadPyodide } = await import(new URL('../pyodide/pyodide.mjs', here));
  countFetched(await (await fetch(new URL('../pyodide/size.json', here))).json());
  const files = Promise.all(
    ['library.zip', 'in_page.py'].map(async (name) => {
      const response = await fetch(new URL(name, here));
      return new Uint8Array(await response.arrayBuffer());
    }),
  );
  const python = await loadPyodide({ indexURL: new URL('../pyodide/', here).href, jsglobals: {} });
  const [library, module] = await files;
  python.FS.mkdirTree('/page');
  python.unpackArchive(library, 'zip', { extractDir: '/page' });
  python.FS.writeFile('/page/in_page.py', module);
  // Modules of the grader name the limits of processes; a browser has none, and nothing here sets them
  python.FS.writeFile('/page/resource.py', 'def __getattr__(name): return 0');
  python.runPython('import sys; sys.path.insert(0, "/page"); import in_page');
  for (const name of ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'importScripts']) self[name] = undefined;
  return python.globals.get('in_page') ?? python.pyimport('in_page');
}

const started = start();
started.then(
  () => self.postMessage({ ready: true }),
  (error) => self.postMessage({ ready: false, message: String(error.message ?? error) }),
);

self.onmessage = async ({ data: { number, request } }) => {
  try {
    const page = await started;
    self.postMessage({ number, answer: JSON.parse(page.answer(JSON.stringify(request))) });
  } catch (error) {
    self.postMessage({
      number,
      error: String(error.message ?? error)
        .trim()
        .split('\n')
        .pop(),
    });
  }
};
