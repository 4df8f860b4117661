"""The bundled model behind an OpenAI-compatible server.

It knows the problems of the bundled curriculum and finds them in the last message. The model `discriminator` writes
tests, any other name writes a program; the reply is all that the player wrote.
"""
import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from adversarial_rl import load_trained, starter_problems  # noqa: E402
from adversarial_rl.core.files import resource  # noqa: E402


class Bundled:
    "Both players, one request at a time."
    def __init__(self):
        self.players = load_trained(resource('checkpoints/starter'), device='cpu', max_new_tokens=96)
        problems = [p for split in ('training', 'held_out') for p in starter_problems(split)]
        self.problems = {p.description: p for p in problems}
        self.turn = threading.Lock()

    def reply(self, request):
        "What the model that the request names writes about the problem in its last message."
        text = request['messages'][-1]['content']
        text = text if isinstance(text, str) else text[-1]['text']
        problem = self.problems[text.splitlines()[0]]
        name = 'discriminator' if request['model'] == 'discriminator' else 'generator'
        with self.turn:
            texts, = self.players[name].write([problem], 1, request.get('temperature') or 0., request.get('seed')).texts
        return '\n'.join(texts)


def handler(model):
    "The class that answers requests."
    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def log_message(self, *_): pass

        def send(self, content, status=200):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            names = 'generator', 'discriminator'
            self.send(dict(object='list', data=[dict(id=name, object='model') for name in names]))

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            try: message = dict(role='assistant', content=model.reply(request))
            except LookupError as e: return self.send(dict(error=dict(message=f'no answer to {e}')), 400)
            self.send(dict(id='1', object='chat.completion', created=0, model=request['model'],
                           choices=[dict(index=0, message=message, finish_reason='stop')],
                           usage=dict(prompt_tokens=1, completion_tokens=1, total_tokens=2)))
    return Handler


class Server(ThreadingHTTPServer):
    request_queue_size = 128   # Five by default, and clients beyond them are refused on a busy machine


@contextmanager
def serving(model, port=0):
    "The address of a server of this model, such as `Bundled()`."
    server = Server(('127.0.0.1', port), handler(model))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try: yield f'http://127.0.0.1:{server.server_port}/v1'
    finally:
        server.shutdown()
        server.server_close()

