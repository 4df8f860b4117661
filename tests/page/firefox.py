"""Firefox for Playwright, whose protocol is ahead of Debian's Firefox: what that one does not know counts as done.

Playwright starts this file in Firefox's place, and reads from standard error where to connect. It connects to a relay
of all messages, which turns the error `unknown command` into an empty result. Such commands set what the tests leave
as it is, such as the orientation of the screen.
"""
import asyncio
import json
import re
import signal
import sys

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import websocket_connect, WebSocketHandler

MOST = 1 << 30   # Bytes of a message


class Relay(WebSocketHandler):
    "One connection of Playwright."
    def check_origin(self, origin): return True

    async def open(self):
        self.firefox = await websocket_connect(self.settings['firefox'], max_message_size=MOST)
        self.answers = asyncio.create_task(self.pass_answers())
        self.settings['opened'].set()

    async def pass_answers(self):
        while (text := await self.firefox.read_message()) is not None:
            answer = json.loads(text)
            if answer.get('error') == 'unknown command': answer = dict(type='success', id=answer['id'], result={})
            self.write_message(answer)
        self.close()

    async def on_message(self, text):
        await self.settings['opened'].wait()
        self.firefox.write_message(text)

    def on_close(self): self.firefox.close()


def relay(firefox):
    "Serve a relay to Firefox's address; its own address."
    sockets = bind_sockets(0, '127.0.0.1')
    app = Application([('/session', Relay)], firefox=f'{firefox}/session', opened=asyncio.Event(),
                      websocket_max_message_size=MOST)
    HTTPServer(app).add_sockets(sockets)
    return f'ws://127.0.0.1:{sockets[0].getsockname()[1]}'


async def main():
    firefox = await asyncio.create_subprocess_exec('firefox-esr', *sys.argv[1:], stderr=asyncio.subprocess.PIPE)
    for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, lambda *_: firefox.terminate())
    while line := (await firefox.stderr.readline()).decode():
        line = re.sub(r'(?<=BiDi listening on )ws://\S+', lambda found: relay(found[0]), line)
        print(line, end='', file=sys.stderr, flush=True)
    sys.exit(await firefox.wait())


asyncio.run(main())
