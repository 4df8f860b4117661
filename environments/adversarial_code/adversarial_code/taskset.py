"Problems whose reward is the share of tests that the program in the reply passes."
from collections.abc import Iterator

import verifiers.v1 as vf

from adversarial_rl import agrade_many, load_problems, Problem, starter_problems
from adversarial_rl.grader.answers import program_in
from adversarial_rl.grader.pool import Job
from adversarial_rl.problems.curriculum import SPLITS
from adversarial_rl.problems.stages import STAGES, user_turn


class CodeData(vf.TaskData):
    "A problem; the model sees the prompt alone."
    problem: Problem


def reply(trace: vf.Trace) -> str:
    "What the model wrote, to the last blank."
    return trace.assistant_messages[-1].content or '' if trace.assistant_messages else ''


class CodeTask(vf.Task[CodeData]):
    "One problem; the grader runs the program in processes of its own, behind the kernel's limits."
    @vf.reward
    async def tests_passed(self, trace: vf.Trace) -> float:
        "Share of the problem's tests. A failure of the grader is an error of the rollout, never a 0."
        problem = self.data.problem
        outcome, = await agrade_many([Job.of(problem, program_in(reply(trace), problem.function_name))])
        if not outcome.judged: raise RuntimeError(f'the grader gave no verdict: {outcome.message}')
        return outcome.pass_rate


class CodeConfig(vf.TasksetConfig):
    "Which problems."
    problems: str = 'training'
    """`training` or `held_out` of the bundled curriculum, or a problems file."""


class CodeTaskset(vf.Taskset[CodeTask, CodeConfig]):
    "A task for each problem."
    def load(self) -> Iterator[CodeTask]:
        "The problems in their order."
        name = self.config.problems
        for p in starter_problems(name) if name in SPLITS else load_problems(name):
            data = CodeData(id=p.id, name=p.id, prompt=user_turn(p, STAGES['code']), problem=p)
            yield CodeTask(data, self.config.task)
