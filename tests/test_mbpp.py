"MBPP from its copies, evaluate_mbpp from its command line, and the callback in transformers' trainer and in ours."
import copy as copying
import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import processes
import pytest
import torch
from small import arguments

from adversarial_rl.core.commands import run_training as train_main
from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import TrainingConfig
from adversarial_rl.grpo.code_execution import prompt_rows
from adversarial_rl.mbpp import dataset
from adversarial_rl.mbpp.dataset import load_mbpp, MBPPEvalConfig
from adversarial_rl.mbpp.evaluator import main, MBPPEvaluator, PartialResults
from adversarial_rl.mbpp.training import create_eval_config_for_training, IntervalEvaluationCallback, problems_of
from adversarial_rl.mbpp.writers import Bare, Control
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint
from adversarial_rl.record.tracking import read_metrics

REAL = os.environ.get('MBPP_DATASET_PATH')
NAMES = ['double', 'square', 'negate', 'half', 'succ', 'pred', 'triple', 'cube']
BODIES = ['2 * n', 'n * n', '-n', 'n // 2', 'n + 1', 'n - 1', '3 * n', 'n ** 3']


def rows(edition='sanitized', n=24):
    "A small MBPP in the published form."
    out = []
    for i in range(n):
        name, body, k = f'{NAMES[i % 8]}_{i}', BODIES[i % 8], 1 + i // 8
        values = {x: k * eval(body, dict(n=x)) for x in (3, 10, -4)}
        tests = [f'assert {name}({x}) == {value}' for x, value in values.items()]
        common = dict(task_id=[2, 3, 4][i] if i < 3 else 8 + i, test_list=tests,
                      code=f'def {name}(n):\r\n\treturn {k} * ({body})')
        text = f'Write a function to return {k} times {body}.'
        full = dict(text=text, test_setup_code='', challenge_test_list=[])
        sanitized = dict(prompt=text, test_imports=['import math'], source_file='x')
        out.append(common | (full if edition == 'full' else sanitized))
    return out


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path/'mbpp'
    folder.mkdir()
    (folder/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, rows('full'))))
    (folder/'sanitized-mbpp.json').write_text(json.dumps(rows()))
    return folder


def test_a_folder_and_a_file_give_the_same_problems(copy):
    want = load_mbpp('full', 'all', copy)
    assert [p.id for p in want[:4]] == ['mbpp/2', 'mbpp/3', 'mbpp/4', 'mbpp/11'] and len(want) == 24
    assert want[3].function_signature == 'def half_3(n):'
    assert load_mbpp('full', 'all', copy/'mbpp.jsonl') == want
    splits = ('prompt', 'test', 'validation', 'train', 'all')
    assert [len(load_mbpp('sanitized', split, copy)) for split in splits] == [3, 21, 0, 0, 24]
    assert load_mbpp('sanitized', 'all', copy)[0].baseline_tests[0].startswith('import math\nassert ')


@pytest.mark.parametrize('change, message', [
    (dict(text=None), 'row 2 (full): is no row of the full edition'),
    (dict(test_list=[]), 'is no row of the full edition'), (dict(code='def f(:'), 'is not valid Python'),
    (dict(test_setup_code='import ((('), 'is not valid Python'), (dict(code='x = 1'), 'its tests call no function')])
def test_a_wrong_row_is_named(copy, change, message):
    changed = rows('full')
    changed[1] |= change
    (copy/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, changed)))
    with pytest.raises(UsageError) as e: load_mbpp('full', 'all', copy)
    assert message in str(e.value) and '\n' not in str(e.value)


def command(copy, out, *flags): return ['evaluate_mbpp', '--dataset-path', copy, '--output-dir', out, *flags]
SMALL = ['--model', 'starter', '--max-new-tokens', '24', '--samples', '2', '--temperature', '1', '--rows', '6',
         '--split', 'all']


def result(folder):
    files = list(folder.glob('*.json'))
    assert len(files) == 1 and all('.samples.' in p.name for p in folder.glob('*.jsonl'))
    return json.loads(files[0].read_text())


def test_killed_and_started_again_it_ends_the_same(tmp_path, copy):
    whole, cut = tmp_path/'whole', tmp_path/'cut'
    done = processes.run(*command(copy, whole, *SMALL))
    assert done.returncode == 0 and 'pass@2' in done.stdout, done.stderr
    assert 'MBPP sanitized, all: 24 problems, graded on hidden tests' in done.stdout
    file, = whole.glob('*.json')
    for lines in (2, 5):   # The first line holds the settings, each other one a batch
        killed = processes.run(*command(copy, cut, *SMALL), dies_at=(file.with_suffix('.jsonl').name, lines))
        assert killed.returncode == -signal.SIGKILL
    assert processes.run(*command(copy, cut, *SMALL)).returncode == 0
    a, b = result(whole), result(cut)
    assert a['results'] == b['results'] and a['metrics'] == b['metrics'] and len(a['results']) == 24


@pytest.mark.parametrize('weights', ['2', ''])
def test_results_of_other_weights_are_not_continued(tmp_path, copy, qwen, tokenizer, weights):
    "Two models with one name, the first one killed half-way; without a checksum nothing is known of the weights."
    evaluator = MBPPEvaluator(MBPPEvalConfig(dataset_path=str(copy), samples=0, max_new_tokens=8, rows=4))
    first = evaluator.evaluate(Bare(qwen(1), tokenizer), folder=tmp_path, show=False, weights='1' if weights else '')
    file, = tmp_path.glob('*.json')
    PartialResults(file.with_suffix('.jsonl'), first.settings | dict(weights='1')).append(first.results[:4])
    second = Bare(qwen(2), tokenizer)
    again = evaluator.evaluate(second, folder=tmp_path, show=False, weights=weights)
    assert again.results == evaluator.evaluate(second, show=False).results


def test_two_evaluations_do_not_share_a_file(tmp_path):
    evaluator, refusals = MBPPEvaluator(MBPPEvalConfig(samples=0), starter_problems('held_out', 2)), []
    def meanwhile(prompt):
        if not refusals:
            refusals.append('not refused')
            try: evaluator.evaluate(meanwhile, folder=tmp_path, show=False)
            except UsageError as e: refusals[0] = str(e)
        return ''
    evaluator.evaluate(meanwhile, folder=tmp_path, show=False)
    assert 'in use by another run' in refusals[0] and [p.suffix for p in tmp_path.iterdir()] == ['.json']


def test_prompts_show_neither_hidden_tests_nor_the_solution(tmp_path, copy):
    config = MBPPEvalConfig(dataset_path=str(copy), split='all', samples=0, max_new_tokens=4)
    report = MBPPEvaluator(config).evaluate(Bare(*load_model('starter')), show=False)
    problems = {p.id: p for p in load_mbpp('sanitized', 'all', copy)}
    for r in report.results:
        p = problems[r.id]
        first, *hidden = [t.split('\n')[-1] for t in p.baseline_tests]
        body = p.reference_solution.split('\n')[1].strip()
        assert first in r.prompt and not any(t in r.prompt for t in hidden)
        assert body not in r.prompt.rsplit('[BEGIN]', 2)[-2] and f'def {p.function_name}' not in r.prompt
        assert r.tests == list(p.baseline_tests[1:])
        assert r.prompt.count('[DONE]') == (2 if r.id in ('mbpp/2', 'mbpp/3', 'mbpp/4') else 3)


def test_a_generator_that_chats_is_shown_what_a_prompted_model_is(copy, qwen, tokenizer):
    "The first test stands in its prompt and the others do not; a model that continues text sees the words alone."
    chat = copying.deepcopy(tokenizer)
    chat.chat_template = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
    config = MBPPEvalConfig(dataset_path=str(copy), samples=0, num_questions=3)
    for own, shown in ((chat, True), (tokenizer, False)):
        evaluator = MBPPEvaluator(config)
        generator = Generator(Policy(qwen(), own, ['generator'], rank=4), max_new_tokens=4)
        report = evaluator.evaluate(generator, show=False)
        for r in report.results:
            p, = (p for p in evaluator.problems if p.id == r.id)
            first, *hidden = [t.split('\n')[-1] for t in p.baseline_tests]
            assert (first in r.prompt) is shown and not any(t in r.prompt for t in hidden)
            assert r.tests == list(p.baseline_tests[1:])
        read = [own.decode(ids[0]) for ids in generator._pieces.values()]
        assert len(read) == 3 and all(('assert ' in text) is shown for text in read)


def splits(n=4):
    "A small MBPP with problems of the train, validation and test splits."
    return [row | dict(task_id=first + i) for first in (601, 511, 11) for i, row in enumerate(rows('full', n))]


def test_training_on_mbpp(tmp_path, monkeypatch):
    "Its train split, with the first test in the words and the others to grade with; held out is the validation split."
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, splits())))
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path/'mbpp.jsonl'))
    flags = f"""--generator-model starter --discriminator-model starter --device cpu --problems-file mbpp
        --stages code --max-new-tokens 24 --stages-together --n-discriminator-steps 0 --n-generator-steps 1
        --k-alternating-steps 0 --problems-per-step 2 --group-size 2 --opponents 1 --held-out 3 --no-mbpp-eval
        --output-dir {tmp_path/'out'} --checkpoint-dir {tmp_path/'ck'}"""
    assert train_main(flags.split()) == 0
    assert json.loads((tmp_path/'out'/'training_results.json').read_text())['held_out']['problems'] == 3
    training, held_out = problems_of(TrainingConfig(problems_file='mbpp', held_out=3))
    assert [p.id for p in training + held_out] == [f'mbpp/{i}' for i in (601, 602, 603, 604, 511, 512, 513)]
    for p, row in zip(training, splits()):
        first, *hidden = row['test_list']
        assert p.description.endswith(first) and p.baseline_tests == tuple(hidden)
    chats = prompt_rows('mbpp')(SimpleNamespace(chat_template='yes'))
    for row, p in zip(chats, training):
        assert row['tests'] == list(p.baseline_tests) and row['prompt'][0]['content'].startswith(p.description)


def test_a_slurm_job_gets_a_copy_in_its_logs(tmp_path, copy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('SLURM_JOB_ID', '77')
    assert main(['--model', 'references', '--samples', '0', '--dataset-path', str(copy)]) == 0
    a, b = next((tmp_path/'eval_results').iterdir()), next((tmp_path/'logs'/'job_77').iterdir())
    assert a.name == b.name and a.read_bytes() == b.read_bytes()
    assert json.loads(a.read_text())['metrics']['greedy']['mean'] == 1


@pytest.mark.parametrize('flags, message', [
    ([], 'give one of --model'),
    (['--model', 'starter', '--checkpoint', 'x.pt'], 'give one of --model'),
    (['--model', 'constants', '--dataset-path', '/no/such/copy'], 'MBPP in /no/such/copy: no such file or folder'),
    (['--model', 'constants', '--shown-tests', '3'], 'leaves no hidden test'),
    (['--model', 'starter', '--samples', '0', '--no-greedy'], 'nothing to do'),
    (['--checkpoint', 'absent.pt'], 'no such checkpoint'),
    (['--model', 'constants', '--modules', 'no_such_package'], 'no_such_package is not installed here'),
    (['--model', 'nobody/none'], 'use the bundled one'),
    (['--model', 'constants', '--output-dir', '/proc/x'], 'cannot be written')])
def test_mistakes(tmp_path, copy, flags, message, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if '--dataset-path' not in flags: flags = ['--dataset-path', str(copy), *flags]
    code, err = main(flags), capfd.readouterr().err
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1, err


def test_without_dataset_and_network_one_line_says_how_to_get_it(tmp_path):
    command = [sys.executable, '-m', 'adversarial_rl.mbpp.evaluator', '--model', 'constants', '--output-dir', 'o']
    env = {k: v for k, v in os.environ.items() if k != 'MBPP_DATASET_PATH'} | dict(HF_HOME=str(tmp_path))
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stderr.startswith('error: MBPP is not in the local cache')
    assert 'name a copy with MBPP_DATASET_PATH' in done.stderr


@pytest.mark.parametrize('problems, code', [('mbpp', 2), ('starter', 0)])
def test_without_the_dataset_one_line_says_so_whether_problems_or_evaluations_need_it(problems, code, tmp_path, capfd,
                                                                                     monkeypatch):
    def absent(edition): raise UsageError('MBPP is not here')
    monkeypatch.setattr(dataset, '_from_hub', absent)
    monkeypatch.delenv('MBPP_DATASET_PATH', raising=False)
    flags = arguments(tmp_path, '--mbpp-eval', '--stages-together', '--problems-file', problems)
    assert train_main(flags) == code
    assert capfd.readouterr().err.count('MBPP is not here') == 1


def test_evalplus_reads_the_samples(tmp_path, copy, capfd):
    "One line a program; after a choice of problems there is no file, since evalplus wants all of them."
    flags = ['--model', 'references', '--dataset-path', str(copy), '--output-dir', str(tmp_path/'o')]
    assert main([*flags, '--samples', '0']) == 0 and 'evalplus.evaluate' not in capfd.readouterr().out
    assert main([*flags, '--samples', '2', '--no-greedy', '--split', 'all']) == 0
    path, = (tmp_path/'o').glob('*.samples.jsonl')
    assert f'evalplus.evaluate --dataset mbpp --samples {path}' in capfd.readouterr().out
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(samples) == 48 and {tuple(x) for x in samples} == {('task_id', 'solution')}
    problem = load_mbpp('sanitized', 'all', copy)[0]
    assert samples[0] == dict(task_id='Mbpp/2', solution=problem.reference_solution)


@pytest.mark.skipif(not REAL, reason='MBPP_DATASET_PATH is not set')
@pytest.mark.parametrize('edition, n', [('sanitized', 427), ('full', 967)])
def test_the_real_mbpp_passes_references_and_fails_constants(edition, n):
    evaluator = MBPPEvaluator(MBPPEvalConfig(dataset=edition, split='all', samples=0))
    reports = [evaluator.evaluate(Control(kind), show=False) for kind in ('references', 'constants')]
    assert [(r.problems, r.metrics['greedy'].mean) for r in reports] == [(n, 1.), (n, 0.)]
    assert len(evaluator.left_out) == {427: 0, 967: 7}[n]


def phases(rows): return [(r['mbpp_eval/phase'], r['mbpp_eval/step']) for r in rows if 'mbpp_eval/pass_rate' in r]


def test_the_callback_in_transformers_trainer(tmp_path, copy, qwen, tokenizer):
    "Rows before, at every second step, and after; the losses are those of a training without it."
    from transformers import Trainer, TrainingArguments
    ids = torch.randint(5, 200, (16, 12), generator=torch.Generator().manual_seed(0)).tolist()
    data = [dict(input_ids=x, labels=x, attention_mask=[1] * 12) for x in ids]
    def losses(*callbacks, through_log=False):
        args = TrainingArguments(str(tmp_path/'hf'), max_steps=4, per_device_train_batch_size=2, logging_steps=1,
                                 report_to=[], use_cpu=True, seed=0, save_strategy='no', disable_tqdm=True)
        trainer = Trainer(qwen(), args, train_dataset=data, processing_class=tokenizer, callbacks=list(callbacks))
        for c in callbacks: c.write = trainer.log if through_log else None
        trainer.train()
        history = trainer.state.log_history
        return [r['loss'] for r in history if 'loss' in r], [r for r in history if 'mbpp_eval/pass_rate' in r]
    evaluator = MBPPEvaluator(create_eval_config_for_training(dataset_path=str(copy), max_new_tokens=8))
    plain, none = losses()
    watched, found = losses(IntervalEvaluationCallback(evaluator, 2, folder=tmp_path/'eval_results'))
    assert plain == watched and not none and {r['mbpp_eval/problems'] for r in found} == {5}
    assert phases(found) == [('before', 0), ('during', 2), ('during', 4), ('after', 4)]
    assert len(list((tmp_path/'eval_results').glob('mbpp_*.json'))) == 3
    again, logged = losses(IntervalEvaluationCallback(evaluator, 2), through_log=True)
    assert again == plain and [r['mbpp_eval/phase'] for r in logged] == ['before', 'during', 'during', 'after']


TRAIN = ['--config', 'configs/starter.yaml', '--problems-per-step', '3', '--group-size', '3', '--held-out', '4',
         '--max-new-tokens', '32', '--n-discriminator-steps', '1', '--n-generator-steps', '1',
         '--k-alternating-steps', '0', '--together-steps', '0']


def test_training_measures_itself_and_stays_the_same(tmp_path, copy, capfd):
    def run(name, *flags):
        return train_main([*TRAIN, '--output-dir', str(tmp_path/name), '--checkpoint-dir', str(tmp_path/f'ck_{name}'),
                           *flags])
    def weights(name): return load_checkpoint(checkpoints(tmp_path/f'ck_{name}')[0])[0]['players']
    evaluate = ['--mbpp-eval', 'true', '--mbpp-eval-interval-steps', '4', '--mbpp-eval-num-questions', '5',
                '--mbpp-dataset-path', str(copy)]
    assert run('plain') == run('watched', *evaluate) == 0
    out, watched = capfd.readouterr().out, weights('watched')
    assert all(torch.equal(v, watched[p][k]) for p, x in weights('plain').items() for k, v in x.items())
    rows = read_metrics(tmp_path/'watched'/'metrics.jsonl')
    assert phases(rows) == [('before', 0), ('during', 4), ('during', 8), ('after', 10)]
    assert 'MBPP: before (step 0) 0 of 5' in out
    assert len(list((tmp_path/'watched'/'eval_results').glob('*.json'))) == 4
    assert run('watched', *evaluate, '--mbpp-eval-num-questions', '9', '--resume') == 2
    assert 'was made with mbpp_eval_num_questions 5, not 9' in capfd.readouterr().err
