"The server: `uvicorn server.app:app --port 8000`."
import argparse

import uvicorn
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_app

from adversarial_rl.core.errors import UsageError

try:
    from ..models import Submission, Verdict
    from .environment import ProgramEnvironment
except ImportError:   # Started in this folder
    from models import Submission, Verdict
    from server.environment import ProgramEnvironment

SESSIONS = 256   # At a time; programs wait for one of the grader's processes, of which there is one a core

app = create_app(ProgramEnvironment, Submission, Verdict, env_name='adversarial_openenv', max_concurrent_envs=SESSIONS)


@app.exception_handler(UsageError)
async def refused(request, error):
    "A caller's mistake, over HTTP."
    return JSONResponse(dict(detail=str(error)), 400)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--host', default='0.0.0.0')
    parser.add_argument('--port', type=int, default=8000)
    args = parser.parse_args()
    uvicorn.run(app, host=args.host, port=args.port)


if __name__ == '__main__': main()
