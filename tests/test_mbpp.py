"MBPP from its copies, evaluate_mbpp from its command line, and the callback in transformers' trainer and in ours."
import ast
import copy as copying
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from importlib.util import find_spec
from types import SimpleNamespace

import processes
import pytest
import torch
from transformers import pipeline

from adversarial_rl.core.errors import UsageError
from adversarial_rl.core.settings import TrainingConfig
from adversarial_rl.game.run_training import main as train_main
from adversarial_rl.grader.execution import Limits
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.grpo.code_execution import prompt_rows
from adversarial_rl.mbpp import writers
from adversarial_rl.mbpp.dataset import load_mbpp, MBPPEvalConfig
from adversarial_rl.mbpp.evaluator import as_table, main, MBPPEvaluator, read_report
from adversarial_rl.mbpp.training import create_eval_config_for_training, IntervalEvaluationCallback, problems_of
from adversarial_rl.mbpp.writers import Bare, Control, program_in
from adversarial_rl.model.players import Generator
from adversarial_rl.model.policy import load_model, Policy
from adversarial_rl.problems.curriculum import starter_problems
from adversarial_rl.problems.problem import save_problems
from adversarial_rl.record.checkpoints import checkpoints, load_checkpoint
from adversarial_rl.record.tracking import read_metrics
from adversarial_rl.selfplay.spiral import main as spiral_main

needs_openspiel = pytest.mark.skipif(not find_spec('pyspiel'), reason='open_spiel is not installed')
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


def test_every_kind_of_copy_gives_the_same_problems(tmp_path, copy):
    datasets = pytest.importorskip('datasets')
    want = load_mbpp('full', 'all', copy)
    assert [p.id for p in want[:4]] == ['mbpp/2', 'mbpp/3', 'mbpp/4', 'mbpp/11'] and len(want) == 24
    assert want[3].function_signature == 'def half_3(n):'
    assert load_mbpp('full', 'all', copy/'mbpp.jsonl') == want
    whole = datasets.Dataset.from_list(rows('full'))
    whole.save_to_disk(tmp_path/'one')
    parts = datasets.DatasetDict(test=whole.select(range(3, 24)), prompt=whole.select(range(3)))
    parts.save_to_disk(tmp_path/'many'/'full')
    assert load_mbpp('full', 'all', tmp_path/'one') == want == load_mbpp('full', 'all', tmp_path/'many')
    splits = ('prompt', 'test', 'validation', 'train', 'all')
    assert [len(load_mbpp('sanitized', split, copy)) for split in splits] == [3, 21, 0, 0, 24]
    assert load_mbpp('sanitized', 'all', copy)[0].baseline_tests[0].startswith('import math\nassert ')


@pytest.mark.parametrize('change, message', [
    (dict(code=None), "row 2 (full): field 'code' must be a str, found NoneType"),
    (dict(task_id='3'), "field 'task_id' must be a int, found str"),
    (dict(test_list=[]), "'test_list' is empty"),
    (dict(test_list=['assert f(']), "field 'test_list' is not valid Python"),
    (dict(code='def f(:'), "field 'code' is not valid Python"),
    (dict(test_list=['for i in (1, 2): assert f(i)']), 'must hold one assert statement each'),
    (dict(test_setup_code='import ((('), "field 'test_setup_code' is not valid Python"),
    (dict(code='x = 1'), 'its tests call no function'),
    (dict(task_id=2), 'task_id 2 is there twice')])
def test_a_wrong_row_is_named(copy, change, message):
    changed = rows('full')
    changed[1] |= change
    (copy/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, changed)))
    with pytest.raises(UsageError) as e: load_mbpp('full', 'all', copy)
    assert message in str(e.value) and '\n' not in str(e.value)


def test_a_missing_field_is_named(copy):
    changed = rows('full')
    del changed[4]['text']
    (copy/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, changed)))
    message = "row 5 .full.: field 'text' is missing"
    with pytest.raises(UsageError, match=message): load_mbpp('full', 'all', copy)


def command(copy, out, *flags): return ['evaluate_mbpp', '--dataset-path', copy, '--output-dir', out, *flags]
SMALL = ['--model', 'starter', '--max-new-tokens', '24', '--samples', '2', '--temperature', '1', '--rows', '6',
         '--split', 'all']


def result(folder):
    files = list(folder.glob('*.json'))
    assert len(files) == 1 and [p.name for p in folder.iterdir()] == [files[0].name]
    return json.loads(files[0].read_text())


FORMS = ['{}\n[DONE]\nYou are', 'Sure:\n\n{}\nThat is all.', 'Text\n```python\n{}\n```\nso',
         '- so:\n  ```\n{}\n  ```']


@pytest.mark.parametrize('edition', ['sanitized', 'full'])
@pytest.mark.parametrize('form', FORMS)
@pytest.mark.skipif(not REAL, reason='MBPP_DATASET_PATH is not set')
def test_every_reference_is_found_in_an_answer(edition, form):
    problems = load_mbpp(edition, 'all')
    programs = [program_in(form.format(p.reference_solution), p.function_name) for p in problems]
    outcomes = grade_many([(code, p.baseline_tests) for p, code in zip(problems, programs)],
                          Limits(wall_seconds=60, cpu_seconds=60))
    assert [p.id for p, o in zip(problems, outcomes) if not o.passed] == []


def test_results_of_other_weights_are_not_continued(tmp_path, copy, qwen, tokenizer):
    "Two models with one name, the first one killed half-way."
    evaluator = MBPPEvaluator(MBPPEvalConfig(dataset_path=str(copy), samples=1, greedy=False, temperature=1.,
                                             max_new_tokens=8, rows=4))
    want = evaluator.evaluate(Bare(qwen(2), tokenizer), 'same', show=False).results
    first = evaluator.evaluate(Bare(qwen(1), tokenizer), 'same', tmp_path, show=False, weights='1')
    file, = tmp_path.glob('*.json')
    lines = [dict(settings=first.settings), *[asdict(r) for r in first.results if r.batch < 2]]
    file.with_suffix('.jsonl').write_text(''.join(json.dumps(x) + '\n' for x in lines))
    for weights in ('2', ''):
        again = evaluator.evaluate(Bare(qwen(2), tokenizer), 'same', tmp_path, show=False, weights=weights)
        assert again.results == want
    assert len(list(tmp_path.glob('*.json'))) == 3


def test_killed_and_started_again_it_ends_the_same(tmp_path, copy):
    whole, cut = tmp_path/'whole', tmp_path/'cut'
    done = processes.run(*command(copy, whole, *SMALL))
    assert done.returncode == 0 and 'pass@2' in done.stdout, done.stderr
    assert 'MBPP sanitized, all: 24 problems; tests: 1 shown, graded on the others' in done.stdout
    kills = 0
    for lines in (4, 13):
        process = processes.Command(*command(copy, cut, *SMALL))
        def written(): return any(p.read_bytes().count(b'\n') >= lines for p in cut.glob('*.jsonl'))
        while process.poll() is None and not written(): time.sleep(.002)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 2 and processes.run(*command(copy, cut, *SMALL)).returncode == 0
    a, b = result(whole), result(cut)
    assert a['results'] == b['results'] and a['metrics'] == b['metrics'] and len(a['results']) == 24


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


def test_a_function_is_not_said_to_have_settings_that_it_never_saw(tmp_path):
    evaluator = MBPPEvaluator(MBPPEvalConfig(samples=0), starter_problems('held_out', 2))
    report = evaluator.evaluate(lambda prompt: '', folder=tmp_path, show=False)
    saved = json.loads(next(tmp_path.glob('*.json')).read_text())
    assert saved['cut_off'] is saved['settings']['temperature'] is saved['settings']['max_new_tokens'] is None
    assert read_report(next(tmp_path.glob('*.json'))) == report and 'cut off' not in as_table(report)
    controlled = evaluator.evaluate(Control('references'), show=False)
    assert controlled.cut_off == 0 and controlled.settings['max_new_tokens'] == 512


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


def test_a_model_with_a_chat_template_gets_one_turn(copy, qwen, tokenizer):
    chat = copying.deepcopy(tokenizer)
    chat.chat_template = ("{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
                          "{% if add_generation_prompt %}<assistant>{% endif %}")
    config = MBPPEvalConfig(dataset_path=str(copy), samples=0, max_new_tokens=4, num_questions=3)
    report = MBPPEvaluator(config).evaluate(Bare(qwen(), chat), show=False)
    assert report.problems == 3
    for r in report.results: assert r.prompt.startswith('<user>Write a function') and r.prompt.endswith('<assistant>')


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
    assert json.loads((tmp_path/'out'/'training_results.json').read_text())['held_out']['problems_after'] == 3
    training, held_out = problems_of(TrainingConfig(problems_file='mbpp', held_out=3))
    assert [p.id for p in training + held_out] == [f'mbpp/{i}' for i in (601, 602, 603, 604, 511, 512, 513)]
    for p, row in zip(training, splits()):
        first, *hidden = row['test_list']
        assert p.description.endswith(first) and p.baseline_tests == tuple(hidden)
    chats = prompt_rows('mbpp')(SimpleNamespace(chat_template='yes'))
    for row, p in zip(chats, training):
        assert row['tests'] == list(p.baseline_tests) and row['prompt'][0]['content'].startswith(p.description)


def test_a_copy_without_a_train_split_says_so(tmp_path, copy, capfd):
    flags = ['--problems-file', 'mbpp', '--mbpp-dataset-path', str(copy), '--generator-model', 'starter',
             '--output-dir', str(tmp_path/'out'), '--checkpoint-dir', str(tmp_path/'ck')]
    assert train_main(flags) == 2 and 'this copy has no problems of the train split' in capfd.readouterr().err


def test_a_prompt_longer_than_the_window_gets_no_answer(copy, qwen, tokenizer):
    model = qwen()
    model.config.max_position_embeddings = 90
    config = MBPPEvalConfig(dataset_path=str(copy), samples=1, max_new_tokens=64)
    report = MBPPEvaluator(config).evaluate(Bare(model, tokenizer), show=False)
    programs = [x for r in report.results for x in r.programs]
    assert len(programs) == 42 and any(x.completion == '' and x.cut_off and not x.passed for x in programs)


def test_a_slurm_job_gets_a_copy_in_its_logs(tmp_path, copy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('SLURM_JOB_ID', '77')
    assert main(['--control', 'references', '--samples', '0', '--dataset-path', str(copy)]) == 0
    a, b = next((tmp_path/'eval_results').iterdir()), next((tmp_path/'logs'/'job_77').iterdir())
    assert a.name == b.name and a.read_bytes() == b.read_bytes()
    assert json.loads(a.read_text())['metrics']['greedy']['mean'] == 1


@pytest.mark.parametrize('flags, message', [
    ([], 'give one of --model'),
    (['--model', 'starter', '--control', 'constants'], 'give one of --model'),
    (['--control', 'luck'], '--control luck: must be one of'),
    (['--control', 'constants', '--dataset-path', '/no/such/copy'], 'MBPP in /no/such/copy: no such file or folder'),
    (['--control', 'constants', '--dataset-path', 'EMPTY'], 'holds neither sanitized-mbpp.json nor a saved dataset'),
    (['--control', 'constants', '--shown-tests', '3'], 'leaves no hidden test'),
    (['--model', 'starter', '--samples', '0', '--no-greedy'], 'nothing to do'),
    (['--checkpoint', 'absent.pt'], 'no such checkpoint'),
    (['--model', 'nobody/none'], 'use the bundled one'),
    (['--control', 'constants', '--output-dir', '/proc/x'], 'cannot be written')])
def test_mistakes(tmp_path, copy, flags, message, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path/'empty').mkdir()
    flags = [str(tmp_path/'empty') if f == 'EMPTY' else f for f in flags]
    if '--dataset-path' not in flags: flags = ['--dataset-path', str(copy), *flags]
    code, err = main(flags), capfd.readouterr().err
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1, err


def run_module(argv, env): return subprocess.run([sys.executable, '-m', *argv], env=env, capture_output=True, text=True)


def offline(folder):
    "An environment without the dataset, a cache or the hub."
    env = {k: v for k, v in os.environ.items() if k != 'MBPP_DATASET_PATH'}
    return env | dict(HF_HUB_OFFLINE='1', HF_HOME=str(folder))


def test_without_dataset_and_network_one_line_says_how_to_get_it(tmp_path):
    done = run_module(['adversarial_rl.mbpp.evaluator', '--control', 'constants', '--output-dir', str(tmp_path/'o')],
                      offline(tmp_path))
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stderr.startswith('error: MBPP is not in the local cache')
    assert 'name a copy with MBPP_DATASET_PATH' in done.stderr


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


def test_training_without_the_dataset_continues_and_says_so(tmp_path):
    argv = ['adversarial_rl.game.run_training', *TRAIN, '--n-discriminator-steps', '0', '--mbpp-eval', 'true',
            '--output-dir', str(tmp_path/'o'), '--checkpoint-dir', str(tmp_path/'c')]
    done = run_module(argv, offline(tmp_path))
    assert done.returncode == 0 and 'not measured on MBPP: ' in done.stderr, done.stderr


@pytest.mark.parametrize('run', [train_main, pytest.param(spiral_main, marks=needs_openspiel)])
def test_a_device_that_is_not_there_is_said_before_the_dataset_is_looked_for(tmp_path, monkeypatch, capfd, run):
    monkeypatch.setenv('MBPP_DATASET_PATH', str(tmp_path/'none'))
    flags = ['--device', 'cuda:99', '--output-dir', str(tmp_path/'o'), '--checkpoint-dir', str(tmp_path/'c')]
    assert run([*flags, '--mbpp-eval']) == 2
    told = [line for line in capfd.readouterr().err.splitlines() if not line.startswith('for this machine')]
    assert len(told) == 1 and told[0].startswith('error: --device cuda:99: '), told


def test_overlap_is_reported(tmp_path, copy, capfd):
    save_problems(load_mbpp('sanitized', 'test', copy)[:2], tmp_path/'train.json')
    assert main(['--control', 'constants', '--samples', '0', '--dataset-path', str(copy),
                 '--output-dir', str(tmp_path/'o'), '--training-problems', str(tmp_path/'train.json')]) == 0
    out = capfd.readouterr().out
    found = re.search(r'overlap    (\d+) problems are like ones trained on', out)
    assert found and 2 <= int(found[1]) < 21 and 'greedy     0.000' in out


def test_overlap_with_the_train_split_is_reported(tmp_path, capfd):
    (tmp_path/'mbpp.jsonl').write_text('\n'.join(map(json.dumps, splits())))
    assert main(['--control', 'references', '--samples', '0', '--dataset', 'full', '--dataset-path', str(tmp_path),
                 '--output-dir', str(tmp_path/'o'), '--training-problems', 'mbpp']) == 0
    assert 'overlap    4 problems are like ones trained on' in capfd.readouterr().out


def plus_task(n, name, code, added, tests):
    "A task as evalplus publishes it."
    return dict(task_id=f'Mbpp/{n}', prompt=f'"""\nWrite {name}.\n{tests[0]}\n"""\n', entry_point=name,
                canonical_solution=code, base_input=[], plus_input=added, atol=0, contract='',
                assertion='\n'.join(tests) + '\n')


def test_mbpp_plus_through_evalplus(tmp_path):
    "A file in evalplus' form, read by evalplus itself."
    pytest.importorskip('evalplus.data.mbpp')
    common = plus_task(2, 'similar_elements', 'def similar_elements(a, b):\n    return tuple(set(a) & set(b))',
                       [[[1, 2], [2, 3]]], ['assert set(similar_elements((1, 2), (2,))) == {2}',
                                            'assert set(similar_elements((1,), (2,))) == set()'])
    half = plus_task(20, 'half', 'def half(n):\n    return n / 2', [[5], [7.5]],
                     ['assert half(4) == 2', 'assert half(2) == 1'])
    (tmp_path/'plus.jsonl').write_text('\n'.join(map(json.dumps, [common, half])))
    argv = ['adversarial_rl.mbpp.evaluator', '--control', 'references', '--dataset', 'plus', '--split', 'all',
            '--samples', '0', '--output-dir', str(tmp_path/'o')]
    done = run_module(argv, dict(os.environ, MBPP_OVERRIDE_PATH=str(tmp_path/'plus.jsonl')))
    assert done.returncode == 0 and 'MBPP plus, all: 2 problems' in done.stdout, done.stderr
    assert 'greedy     1.000' in done.stdout
    report = read_report(next((tmp_path/'o').glob('*.json')))
    tests = {r.id: r.tests for r in report.results}
    assert len(tests['mbpp/2']) == 2
    assert tests['mbpp/20'] == ['assert half(2) == 1', 'assert abs(half(5) - 2.5) <= 1.2499999999999999e-06',
                                'assert abs(half(7.5) - 3.75) <= 1.375e-06']


@pytest.mark.parametrize('line', ['@a', 'x = (', 'class A:', 'x = 1\ny = (', 'x = 1 + \\'])
def test_a_model_that_repeats_a_line_costs_little(line, monkeypatch):
    "Each line would be parsed with all lines after it, as often as there are lines."
    parsed, parse = [], ast.parse

    def counted(text, *args, **kw):
        parsed.append(len(text))
        return parse(text, *args, **kw)
    monkeypatch.setattr(ast, 'parse', counted)
    program_in(f'{line}\n' * 1000, 'f')
    assert sum(parsed) < 500_000


def test_a_pipeline_of_transformers_is_evaluated(qwen, tokenizer):
    "Its answers are the texts that it writes after each prompt."
    writer = pipeline('text-generation', model=qwen(), tokenizer=tokenizer, max_new_tokens=8, do_sample=False)
    problems = starter_problems('held_out', 2)
    report = MBPPEvaluator(MBPPEvalConfig(samples=0), problems).evaluate(writer, show=False)
    written = [writer(r.prompt, return_full_text=False)[0]['generated_text'] for r in report.results]
    assert [r.programs[0].completion for r in report.results] == written and all(written)


def test_a_prompt_that_does_not_fit_gets_no_answers_of_the_stages_and_the_others_do():
    writer = writers.Staged(Generator(Policy(*load_model('checkpoints/starter'), ['generator'])))
    short, other = starter_problems('held_out')[:2]
    long = replace(other, id='long', description='sum of the numbers, ' * 2_000)
    written = writer.write([short, long, other], 2, 0.)
    assert [len(x.answers) for x in written] == [2, 2, 2]
    assert [a.program != '' for x in written for a in x.answers] == [True, True, False, False, True, True]
    assert all(a.cut_off for a in written[1].answers)
    assert written[::2] == writer.write([short, other], 2, 0.)
