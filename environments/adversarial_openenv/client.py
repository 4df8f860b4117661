"The client, with a session of its own on the server for as long as it is connected."
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import State

from .models import Submission, Verdict


class ProgramClient(EnvClient[Submission, Verdict, State]):
    "`with ProgramClient(base_url='http://127.0.0.1:8000').sync() as env: env.reset(split='held_out', index=0)`"
    def _step_payload(self, action: Submission) -> dict: return action.model_dump()

    def _parse_result(self, payload: dict) -> StepResult[Verdict]:
        told = dict(reward=payload.get('reward'), done=payload.get('done', False))
        return StepResult(observation=Verdict(**payload.get('observation', {}) | told), **told)

    def _parse_state(self, payload: dict) -> State: return State(**payload)
