"One round on one problem: the generator's programs meet the discriminator's tests, and each seat earns its reward."
import asyncio
import math
from collections.abc import Sequence
from typing import Literal

import verifiers.v1 as vf
from adversarial_code.env import SEAT
from adversarial_code.taskset import CodeData, reply
from pydantic import Field

from adversarial_rl import parse_tests, Problem
from adversarial_rl.game.round import discriminator_rewards, generator_rewards, grade_programs, ProblemRound, Round
from adversarial_rl.grader.answers import program_in
from adversarial_rl.grader.suites import judge_suites
from adversarial_rl.problems.stages import STAGES, TEST_STAGE, user_turn


class GameConfig(vf.EnvConfig):
    "Who plays, and how often."
    generator: vf.AgentConfig = SEAT
    discriminator: vf.AgentConfig = SEAT
    programs: int = Field(2, ge=1)
    """Programs for each problem."""
    suites: int = Field(2, ge=1)
    """Suites of tests for each problem."""
    tests: int = Field(4, ge=1)
    """Tests of a suite, at most."""
    trained: list[Literal['generator', 'discriminator']] = ['generator', 'discriminator']
    """Seats whose tokens are trained on; the game's schedule trains one of them at a time."""


def game_rewards(problem: Problem, programs: Sequence[str], suites: Sequence[str],
                 most_tests: int = 4) -> dict[str, list[float]]:
    "Rewards of the generator's replies and of the discriminator's, as in `run_training`; NaN where the grader failed."
    name = problem.function_name
    tests = [parse_tests(text, name, most_tests) for text in suites]
    game = ProblemRound(problem, [program_in(text, name) for text in programs], judge_suites([problem], [tests])[0])
    grade_programs([game])
    played = Round([game], None, None)
    return dict(generator=generator_rewards(played).tolist(), discriminator=discriminator_rewards(played).tolist())


class GameEnv(vf.Env[GameConfig]):
    "Both seats see the problem alone, and both can be trained."
    async def setup(self, agents: vf.Agents) -> None:
        "Which seats are trained."
        for name in ('generator', 'discriminator'): getattr(agents, name).trainable = name in self.config.trained

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        "All replies, independent of each other; the task's own reward plays no part."
        problem = task.data.problem
        asked = {agents.generator: (STAGES['code'], self.config.programs),
                 agents.discriminator: (TEST_STAGE, self.config.suites)}
        async with asyncio.TaskGroup() as group:
            for agent, (stage, n) in asked.items():
                prompt = user_turn(problem, stage, self.config.tests)
                seat = vf.Task[CodeData](task.data.model_copy(update=dict(prompt=prompt)))
                for _ in range(n): group.create_task(agent.run(seat))

    async def finalize(self, task: vf.Task, episode: vf.Episode) -> None:
        "The rewards of the round; an episode that the grader could not judge fails, and is played again."
        seats = {name: [t for t in episode.traces if t.agent.name == name] for name in ('generator', 'discriminator')}
        if failed := [t for t in episode.traces if not t.ok]: raise RuntimeError(f'no reply: {failed[0].last_error}')
        texts = [[reply(t) for t in traces] for traces in seats.values()]
        rewards = await asyncio.to_thread(game_rewards, task.data.problem, *texts, self.config.tests)
        for name, traces in seats.items():
            if any(map(math.isnan, rewards[name])): raise RuntimeError('the grader gave no verdict')
            for trace, reward in zip(traces, rewards[name]): trace.record_reward('game', reward)
