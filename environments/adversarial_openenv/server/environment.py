"One problem an episode; programs run in adversarial_rl's grader, which needs no container of its own."
import random
from uuid import uuid4

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import State
from openenv.core.rubrics import Rubric

from adversarial_rl import agrade_many, grade_many, Outcome, starter_problems
from adversarial_rl.core.errors import UsageError
from adversarial_rl.grader.answers import program_in
from adversarial_rl.grader.pool import Job
from adversarial_rl.problems.curriculum import SPLITS
from adversarial_rl.problems.stages import STAGES, user_turn

try:
    from ..models import Submission, Verdict
except ImportError:   # Started in this folder
    from models import Submission, Verdict


class TestsPassed(Rubric):
    "Share of the tests that a program passes; None where the grader failed."
    def forward(self, action: Submission, observation: Verdict) -> float | None:
        return observation.passed / observation.total if observation.total else None


class ProgramEnvironment(Environment[Submission, Verdict, State]):
    "An agent submits programs until one passes all tests, or until it has none left. The last one counts."
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__(rubric=TestsPassed())
        self._state, self._problem, self._left = State(episode_id=str(uuid4()), step_count=0), None, 0

    @property
    def state(self) -> State: return self._state

    def reset(self, seed: int | None = None, episode_id: str | None = None, split: str = 'training',
              index: int | None = None, attempts: int = 1) -> Verdict:
        "A problem of a split: the one named, or one drawn with the seed; raises `UsageError` if there is none."
        problems = starter_problems(split)
        if index is not None and not 0 <= index < len(problems):
            raise UsageError(f'index {index}: {split} has the problems 0 to {len(problems) - 1}')
        if attempts < 1: raise UsageError(f'attempts {attempts}: must be at least one')
        index = random.Random(seed).randrange(len(problems)) if index is None else index
        self._reset_rubric()
        self._problem, self._left = problems[index], attempts
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return Verdict(prompt=user_turn(self._problem, STAGES['code']), attempts_left=attempts)

    def _job(self, action: Submission) -> Job:
        if self._problem is None and action.tests:
            if not action.function: return Job(action.code, tuple(action.tests))
            program = program_in(action.code, action.function)
            return Job(program, tuple(action.tests), entry_points=(action.function,))
        if self._problem is None: raise UsageError('no episode: call reset, or send tests with the program')
        if action.tests: raise UsageError('the problem of the episode has its own tests')
        if not self._left: raise UsageError('the episode is over: call reset')
        return Job.of(self._problem, program_in(action.code, self._problem.function_name))

    def _told(self, action: Submission, o: Outcome) -> Verdict:
        "A failure of the grader has no reward and costs no attempt."
        if not o.judged: return Verdict(kind=o.kind, attempts_left=self._left, metadata=dict(error=o.message))
        self._left = max(0, self._left - 1)
        self._state.step_count += 1
        told = Verdict(kind=o.kind, passed=sum(o.per_test), total=len(o.per_test), attempts_left=self._left,
                       done=o.passed or not self._left)
        if told.done: self._left = told.attempts_left = 0
        told.reward = self._apply_rubric(action, told)
        return told

    def step(self, action: Submission, timeout_s: float | None = None) -> Verdict:
        "Grade a program."
        return self._told(action, grade_many([self._job(action)])[0])

    async def step_async(self, action: Submission, timeout_s: float | None = None) -> Verdict:
        "Grade a program while other sessions go on."
        return self._told(action, (await agrade_many([self._job(action)]))[0])

    def list_splits(self) -> list[str]: return list(SPLITS)

    def num_tasks(self, split: str) -> int: return len(starter_problems(split))

    def get_task(self, split: str, index: int) -> dict:
        problem = starter_problems(split)[index]
        return dict(id=problem.id, index=index, prompt=user_turn(problem, STAGES['code']))

    def list_tasks(self, split: str) -> list[dict]:
        return [self.get_task(split, index) for index in range(self.num_tasks(split))]
