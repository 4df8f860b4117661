"The environments in environments/adversarial_code, played by verifiers itself: its command, its client, its episodes."
import asyncio
import json
import subprocess
import sys
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
import verifiers.v1 as vf

from adversarial_rl import grade_many, Problem, starter_problems
from adversarial_rl.game.round import discriminator_rewards, generator_rewards, play_round, RoundPlan
from adversarial_rl.grader import pool
from adversarial_rl.grader.answers import program_in

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from bundled_server import Bundled, serving  # noqa: E402

BIN = Path(sys.executable).parent


class Script:
    "A model whose answers are given: (seat, description of the problem) -> texts, taken in order."
    def __init__(self, texts): self.texts = {key: list(row) for key, row in texts.items()}

    def reply(self, request):
        return self.texts[request['model'], request['messages'][-1]['content'].splitlines()[0]].pop(0)


def play(environment, model, n, at_once=8, **settings):
    "The episodes of the first `n` problems, by verifiers' own runner and client."
    taskset = dict(id='adversarial-code', problems='held_out')
    config = vf.resolve_env_config(dict(id=environment, taskset=taskset, **settings))
    env = vf.load_environment(config)

    async def run():
        with serving(model) as url:
            context = vf.ModelContext('generator', vf.EvalClientConfig(base_url=url), vf.SamplingConfig())
            async with env.serving():
                slots = [slot for task in env.taskset.take(n) for slot in env.slots(task)]
                limit = asyncio.Semaphore(at_once)
                return await asyncio.gather(*(env.run_slot(slot, context, limit) for slot in slots))
    return asyncio.run(run())


GAME = dict(discriminator=dict(model='discriminator'))


def command(model, folder, *flags):
    "What verifiers' evaluation command leaves on the disk."
    with serving(model) as url:
        words = [BIN/'vf-eval', 'adversarial-code', '--client.base-url', url, '-m', 'generator', '-n', '2',
                 '--sampling.temperature', '1', '--no-rich', '--no-push', '-o', folder, '--run.name', 'run', *flags]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in (folder/'run'/'traces.jsonl').read_text().splitlines()]


@pytest.fixture(scope='module')
def bundled(): return Bundled()


def test_its_command_plays_one_seat(bundled, tmp_path):
    "The bundled model writes programs, and each trace has the reward that the grader gives its reply."
    assert version('adversarial-code') == '0.1.0'
    traces = [e['traces'][0] for e in command(bundled, tmp_path, '-r', '2')]
    problems = [Problem(**t['task']['data']['problem']) for t in traces]
    programs = [program_in(t['nodes'][-1]['message']['content'], p.function_name) for t, p in zip(traces, problems)]
    expected = [o.pass_rate for o in grade_many(pool.Job.of(p, x) for p, x in zip(problems, programs))]
    assert [t['rewards']['tests_passed']['score'] for t in traces] == expected
    assert len(traces) == 4


def test_its_command_plays_two_seats(bundled, tmp_path):
    episodes = command(bundled, tmp_path, '--env.id', 'adversarial-game', '--env.discriminator.model', 'discriminator')
    assert [e['ok'] for e in episodes] == [True] * 2
    for e in episodes:
        assert [t['agent']['name'] for t in e['traces']] == ['generator'] * 2 + ['discriminator'] * 2
        assert all(list(t['rewards']) == ['game'] and t['agent']['trainable'] for t in e['traces'])


@pytest.fixture(scope='module')
def played(bundled):
    "A round of our own on 25 problems: the reply of each of 200 transcripts, and its reward."
    generator, discriminator = bundled.players['generator'], bundled.players['discriminator']
    problems, replies, rewards = starter_problems('held_out', 25), defaultdict(list), defaultdict(list)
    played = play_round(generator, discriminator, problems, RoundPlan(n_programs=4, n_suites=4, temperature=1.3),
                        rng=torch.Generator().manual_seed(0))
    for name, transcripts, row in (('generator', played.generator_transcripts, generator_rewards(played)),
                                   ('discriminator', played.discriminator_transcripts, discriminator_rewards(played))):
        for i, (texts, reward) in enumerate(zip(transcripts.texts, row.tolist())):
            replies[name, problems[i // 4].description].append(texts[-1])
            rewards[name, problems[i // 4].id].append(reward)
    return replies, rewards


def test_two_seats_earn_the_rewards_of_our_own_round(played):
    replies, expected = played
    episodes = play('adversarial-game', Script(replies), 25, **GAME, programs=4, suites=4)
    assert not [e.errors for e in episodes if not e.ok]
    found = defaultdict(list)
    for e in episodes:
        for t in e.traces: found[t.agent.name, e.task.data.id].append(t.rewards['game'].score)
    assert sum(map(len, found.values())) == 200
    assert {k: (found[k], expected[k]) for k in expected if found[k] != expected[k]} == {}
    values = {name: {x for (seat, _), row in found.items() if seat == name for x in row} for name, _ in found}
    assert min(map(len, values.values())) > 2   # No seat earns the same all the time


@pytest.mark.parametrize('environment', ['', 'adversarial-game'])
def test_a_failure_of_the_grader_is_no_reward(environment, played, monkeypatch):
    "The episode failed; a reward of 0 would teach something false."
    def failed(self, jobs, progress=None): return [pool.Report(error='no more processes')] * len(jobs)
    monkeypatch.setattr(pool.Sandbox, 'map', failed)
    episode, = play(environment, Script(played[0]), 1, **(GAME if environment else {}))
    assert not episode.ok and 'no verdict' in str([episode.errors, [t.errors for t in episode.traces]])
    assert not any(t.reward for t in episode.traces)
