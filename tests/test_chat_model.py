"What a chat model writes is found, whatever its style: by the players and by the evaluation on MBPP."
import ast
import copy
import json
from types import SimpleNamespace

import pytest
import torch
from chat_model import evaluated, LOST, PROGRAMS, simple, solved, SUITES, valid_share
from small import arguments as small_run

from adversarial_rl import grade
from adversarial_rl.core.commands import run_training
from adversarial_rl.core.settings import SubjectConfig
from adversarial_rl.grader.answers import parse_tests, plain_asserts, program_in
from adversarial_rl.grpo.rewards import execution_rewards
from adversarial_rl.learn.transcripts import Transcripts
from adversarial_rl.mbpp.dataset import MBPPEvalConfig
from adversarial_rl.mbpp.evaluator import _load_subject, MBPPEvaluator
from adversarial_rl.model.players import Generator, load_trained
from adversarial_rl.model.policy import load_model
from adversarial_rl.problems.problem import Problem
from adversarial_rl.record.checkpoints import newest_checkpoint

PROBLEMS = [
    Problem('mbpp/611', 'Write a function to add the numbers of a list to n.', 'def total(xs, n):',
            ('assert total([1, 2], 3) == 6', 'assert total([], -4) == -4', 'assert total([5], 0) == 5'),
            'import math\n\nSTART = 0\ndef total(xs, n):\n    """Add.\n\n    >>> total([1], 2)\n    3\n    """\n'
            '    return math.fsum(xs) + n if xs else n + START'),
    Problem('mbpp/612', 'Write a function to greet.', 'def greet(name):',
            ("assert greet('Ann') == 'Hello, Ann!'", "assert greet('') == 'Hello, !'"),
            'def greet(name):\n    return f"Hello, {name}!"'),
    Problem('mbpp/613', 'Write a function to pair values.', 'def pairs(xs, ys):',
            ("assert pairs((1, 2), ['a', 'b']) == [(1, 'a'), (2, 'b')]", 'assert pairs((), []) == []'),
            'class Pair(tuple):\n    pass\n\ndef pairs(xs, ys):\n    return [tuple(Pair(x)) for x in zip(xs, ys)]')]


def of_chat_model(text, problem):
    "The program that a generator with a chat template takes from an answer."
    policy = SimpleNamespace(tokenizer=SimpleNamespace(chat_template='a template'))
    none = torch.zeros(1, 1, dtype=torch.bool)
    written = Transcripts(none, none, none, none, none, none, [['a plan'] * 4 + [text]])
    return Generator(policy).programs(written, [problem])[0]


@pytest.mark.parametrize('style', sorted(set(PROGRAMS) - LOST))
def test_programs_of_every_style_are_found(style):
    texts = [PROGRAMS[style](p) for p in PROBLEMS]
    assert solved(PROBLEMS, [of_chat_model(text, p) for text, p in zip(texts, PROBLEMS)]) == 1
    assert evaluated(PROBLEMS, PROGRAMS[style]) == 1


@pytest.mark.parametrize('style', sorted(set(SUITES) - LOST - {'limit in the last test'}))
def test_tests_of_every_style_are_found(style):
    assert all(map(simple, PROBLEMS)) and valid_share(PROBLEMS, SUITES[style]) == 1


def test_the_whole_tests_before_the_limit_are_found():
    text = SUITES['limit in the last test'](PROBLEMS[1])
    assert parse_tests(text, 'greet') == list(PROBLEMS[1].baseline_tests[:1])


@pytest.mark.parametrize('text, found', [
    ('xs = [1]\nfor n in (1, 2):\n    xs += [n]\nassert f(xs) == 3', []),                  # It changed in the loop
    ('xs = [1]\nfor n in (1, 2):\n    xs.append(n)\n    assert f(xs) == 3\nassert f(1) == 2', ['assert f(1) == 2']),
    ('xs: list = [1]\nassert f(xs) == 3', ['assert f([1]) == 3']),
    ('a = 1\n' + ''.join(f'{x} = [{", ".join([y] * 9)}]\n' for x, y in zip('bcdefghij', 'abcdefghi'))
     + 'assert f(j) == 1', []),
    ('cases = [{"n": 1, "out": 2}]\nfor case in cases:\n    assert f(case["n"]) == case["out"]', ['assert f(1) == 2']),
    ('def test(n, out=2):\n    assert f(n) == out', []),
    ('for a in range(3):\n    assert f(a) == a', []),
    ('print(f(1))  # 2\nprint(f(2) == 3)  # Output: True\nprint(f(3))  # see above', [
        'assert f(1) == 2', 'assert (f(2) == 3) == True']),
    ('f = 3\nassert f(1) == 2', []),
    ('for ' * 300 + 'assert f(1) == 2', ['assert f(1) == 2'])])
def test_values_are_read_and_never_guessed(text, found):
    for whole in (text, f'So:\n```python\n{text}\n```'): assert parse_tests(whole, 'f') == found


@pytest.mark.parametrize('text', [
    'rows = [' + '(1, 2), ' * 5000 + ']\n' + 'for a, b in rows:\n ' * 1 + '  assert f(a) == b',
    ''.join(f'{"  " * i}for a{i} in {[0] * 50}:\n' for i in range(15)) + '  ' * 15 + 'assert f(1) == 2',
    'x = ' + '(' * 5000, 'print(' * 9000 + ')#' * 9000, '```\n' * 9000, 'x = x\nassert f(x) == ' + '-' * 9000 + '1'])
def test_a_long_text_costs_little(text):
    "Nothing here is timed: without bounds each of them takes minutes or all memory."
    assert len(parse_tests(text, 'f')) <= 8 and isinstance(plain_asserts(text), str)
    assert isinstance(program_in(text, 'f'), str)


@pytest.mark.parametrize('after', [
    'result = f(1, 2, 3)\nprint(result)', 'answers = f(input())\nfor x in answers: print(x)',
    'text = input()\nrows = text.split()\nrows.sort()', 'best = f("a")\nprint(best + 1)'])
def test_examples_that_would_end_the_program_are_left_out(after):
    program = 'LIMIT = 3\n\ndef f(n):\n    return n + LIMIT'
    assert program_in(f'```python\n{program}\n\n{after}\n```', 'f') == program


def test_what_a_definition_needs_stays():
    program = 'def f(n):\n    return n\nTABLE = f(3)\ndef g(n):\n    return TABLE'
    assert program_in(program, 'f') == program


@pytest.mark.parametrize('program', [
    'def f(n):\n    f.calls += 1\n    return n * 2\nf.calls = 0',
    'def f(n): return f.table[n]\nsetattr(f, "table", {3: 6})',
    'def f(n): return f.cache.setdefault(n, n * 2)\nf.cache = {}', 'def f(n): return n\ng = f\nf = lambda n: 2 * g(n)',
    'memo = {}\ndef f(n): return 2 * n if n < 2 else memo[n]\nfor i in range(9):\n    memo[i] = f(1) * i',
    'memo = {}\ndef f(n): return memo[n]\ndef fill():\n    print("filling")\n    memo[3] = 6\nfill()',
    'def log(x): print(x)\ndef load():\n    log("x")\n    return {3: 6}\ndata = {}\ndata.update(load())\n'
    'def f(n): return data[n]', 'import sys\ndef f(n): return sys.float_info.dig and 2 * n\nf.one = f(1)'])
def test_what_the_program_changes_at_its_top_level_stays(program):
    for extra in ('', 'print(f(1))', 'import sys\nsys.stdout.write(f(1))', 'def main(): print(f(1))\nmain()'):
        assert ast.unparse(ast.parse(program)) in ast.unparse(ast.parse(program_in(f'{program}\n{extra}', 'f')))
    assert grade(program_in(f'{program}\nprint(f("a", 0))', 'f'), ['assert f(3) == 6'], function_name='f').passed


def test_a_later_block_needs_what_an_earlier_one_computes():
    text = block('def g(n): return n + 1') + 'Then\n' + block('N = print(7) or g(0)') + block('def f(n): return n + N')
    assert grade(program_in(text, 'f'), ['assert f(1) == 2'], function_name='f').passed


GOOD, BAD = 'def f(n):\n    return n + 1\n', 'def f(n):\n    return n - 1\n'
def block(code, language='python'): return f'```{language}\n{code}```\n'


@pytest.mark.parametrize('text', [
    f'<think>\n{block(BAD)}no\n</think>\n{GOOD}', f'First:\n{block(BAD)}no\n</think>\n\n{GOOD}',
    f'<THINKING>no</THINKING>{block(GOOD)}', '<think>\n' + 'The cases again.\n' * 2000 + f'</think>\n{block(GOOD)}',
    'Some words.\n' * 3000 + block(GOOD), block(GOOD).replace('\n', '\r\n'), f'```python\n{GOOD.rstrip()}```\nbye',
    block('import math\n\x0c\n' + GOOD + '\nprint(f(1))\n'), block(f"SEP = '\u2028 \x85 \x1c'\n{GOOD}\nprint(f(1))\n"),
    block('def f(n):\n    """\n\n    ```python\n    f(1)\n    ```\n    """\n    return n + 1\n') + block('3\n', ''),
    block("def f(n):\n    '[DONE] <think>'\n    return n + 1\n"), GOOD + '[DONE]\n\nYou are an expert',
    block(GOOD + 'import unittest\nclass T(unittest.TestCase): pass\nunittest.main()\n'),
    block(GOOD + 'import sys\ndef main():\n    print(f(int(sys.argv[1])))\n    sys.exit(0)\nmain()\n'),
    block(GOOD + 'import asyncio\nasync def main():\n    print(f(int(input())))\nasyncio.run(main())\n'),
    block(GOOD + 'while True:\n    n = int(input())\n    if n: break\n'), block(f'n = int(input())\n{GOOD}'),
    block('try: import math\nexcept ImportError: raise SystemExit\ndef f(n):\n    return math.floor(n + 1)\n'),
    block('T = []\ndef fill(): T.append(1)\nfill()\ndef f(n):\n    return n + T[0]\n'),
    'class Solution:\n    def f(self, n: int)->int:\n        return n + 1\n',
    block('def f(n: Optional[int])->List[int] | int:\n    return n + 1\n')])
def test_the_program_is_what_a_model_answers(text):
    assert grade(program_in(text, 'f'), ['assert f(1) == 2'], function_name='f').passed


TAGGED = 'def f(n):\n    """Strip <think> tags."""\n    return n + 1   # No </think>\nTAG = f"<thoughts>{1}</thoughts>"'


@pytest.mark.parametrize('text', [
    block(TAGGED), f'<think>\n{block(BAD)}</think>\n{block(TAGGED)}',
    f'1. So\n{block(TAGGED)}'.replace('\n', '\n   '),
    f'<think>\n```python\n{BAD}</think>\n{block(GOOD)}', f'<think>\n```\n{BAD}</think>\nSo:\n{block(GOOD, "")}',
    f'```python\n{TAGGED}\nprint(f('])
def test_a_tag_in_a_fenced_program_is_the_programs(text):
    assert grade(program_in(text, 'f'), ['assert f(1) == 2'], function_name='f').passed
    assert program_in(f'<think>\n{text}', 'f') == '' or '</think>' in text.replace(TAGGED, '')


def test_thinking_that_does_not_end_is_no_answer():
    text = f'<think>\nA try:\n{block(GOOD)}{block("assert f(1) == 2")}But what about'
    assert program_in(text, 'f') == '' and parse_tests(text, 'f') == []
    assert execution_rewards(None, [text], function=['']) == [-1]


def test_tests_after_long_thinking_are_found():
    text = '<think>\n' + 'assert f(0) == 0?\n' * 450 + f'</think>\n{block("assert f(1) == 2")}'
    assert parse_tests(text, 'f') == ['assert f(1) == 2']


@pytest.mark.parametrize('text, program', [
    (block("raise ValueError('x')\n") + '\nOutput:\n```\n6\n```', "raise ValueError('x')"),
    (block('print(2)\n', '') + block('Name: 2\n', '') + block('Traceback:\n', 'text'), 'print(2)'),
    (block("doc = '''\n```\ncode\n```\n'''\nprint(len(doc))\n"), "doc = '''\n```\ncode\n```\n'''\nprint(len(doc))")])
def test_a_block_of_output_is_not_the_program(text, program): assert program_in(text) == program


def test_a_missing_import_is_the_programs_mistake():
    assert not grade(program_in('def f(n):\n    return math.floor(n + 1)', 'f'), ['assert f(1) == 2']).passed


TEMPLATE = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>"
            "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}")


@pytest.fixture
def thinker(qwen, tokenizer, tmp_path):
    "The folder of a toy model that thinks, unless its template is told not to."
    folder, own = tmp_path/'thinker', copy.deepcopy(tokenizer)
    own.chat_template = TEMPLATE
    qwen().save_pretrained(folder)
    own.save_pretrained(folder)
    return folder


def prompt_of(player): return player.policy.tokenizer.decode(player.pieces(PROBLEMS[0])[0])


def test_an_option_of_the_chat_template_holds_in_training_inference_and_evaluation(thinker, tmp_path, capfd):
    "Given once, it is kept in the checkpoint; inference and the evaluation ask in the same way, unless told otherwise."
    flags = small_run(tmp_path, '--stages', 'code', '--generator-model', str(thinker), '--discriminator-model',
                      str(thinker), '--max-new-tokens', '8')
    assert run_training([*flags, '--chat-template-options.enable_thinking', 'false']) == 0
    saved = newest_checkpoint(tmp_path/'ck').path
    assert '<think></think>' in prompt_of(load_trained(saved, 'cpu')['generator'])
    other = load_trained(saved, 'cpu', chat_template_options=dict(enable_thinking=True))
    assert '<think></think>' not in prompt_of(other['generator'])
    subject = SubjectConfig(model=str(thinker), device='cpu', chat_template_options=dict(enable_thinking='false'))
    bare, name, _ = _load_subject(subject, 8)
    writer = MBPPEvaluator(MBPPEvalConfig(samples=0), PROBLEMS).writer(bare)
    assert '<think></think>' in writer.tokens(PROBLEMS[0])[0] and name.endswith('enable_thinking=false')


@pytest.mark.parametrize('model, option', [('starter', 'enable_thinking'), ('{thinker}', 'enable_thinkin')])
def test_an_option_that_the_template_does_not_have_is_one_line(model, option, thinker, tmp_path, capfd):
    flags = small_run(tmp_path, f'--chat-template-options.{option}', 'false')
    name = model.format(thinker=thinker)
    assert run_training([*flags, '--generator-model', name, '--discriminator-model', name]) == 2
    said = f'--chat-template-options.{option}: the chat template of this model does not have it'
    assert said in capfd.readouterr().err


@pytest.mark.parametrize('absent', ['pad', 'eos'])
def test_a_tokenizer_without_a_pad_or_an_end_token(absent, thinker, tmp_path, capfd):
    "The end token pads; without one there is one line."
    path = thinker/'tokenizer_config.json'
    settings = json.loads(path.read_text())
    for name in ('pad', 'eos') if absent == 'eos' else ('pad',): settings.pop(f'{name}_token', None)
    path.write_text(json.dumps(settings))
    (thinker/'special_tokens_map.json').unlink(missing_ok=True)
    if absent == 'pad':
        tokenizer = load_model(str(thinker))[1]
        assert tokenizer.pad_token == tokenizer.eos_token
        return
    flags = small_run(tmp_path, '--generator-model', str(thinker), '--discriminator-model', str(thinker))
    err = (run_training(flags), capfd.readouterr().err)
    assert err[0] == 2 and f'model folder {thinker}: its tokenizer has no end token' in err[1]
    assert 'Traceback' not in err[1]
