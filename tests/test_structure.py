"The library's structure: which way imports run, what a module may do when it is imported, what stands at the top."
import ast
import importlib
import os
import re
import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import Distribution, distributions, PackageNotFoundError
from pathlib import Path

import pytest
from structure import bare_expressions, circles, Module, modules, ROOT, undocumented, upward

import adversarial_rl

INI = ConfigParser(delimiters=['='])
INI.read(ROOT / 'settings.ini', encoding='utf-8')

# Lines of each chapter's modules. Who needs more raises the number in the same commit and says why.
BUDGET = dict(
    core=1553, problems=653, grader=5320, record=1032, learn=831, model=1380, measure=817, mbpp=842,
    game=1291, grpo=796, selfplay=803, show=702, lab=627, engines=156)


def test_a_chapter_keeps_its_budget_of_lines():
    lines = {chapter: 0 for chapter in BUDGET}
    for m in modules(): lines[m.chapter] += len(m.source.splitlines())
    over = {chapter: n for chapter, n in lines.items() if n > BUDGET[chapter]}
    assert not over, f'{over}: over the budget; take lines away, or raise it and say why'


def test_no_import_runs_to_a_later_chapter():
    assert not upward(modules()) and not circles(modules())


def test_a_module_computes_nothing_that_it_throws_away():
    assert not [line for m in modules() for line in bare_expressions(m)]
    example = 'game = load_game()\ngame'
    assert bare_expressions(Module('selfplay.board_games', example, ast.parse(example))) == ['selfplay.board_games:2']


def test_one_module_parses():
    "Elsewhere a thread could parse beside another, which old Pythons do not allow."
    calls = re.compile(r'\bast\.parse\(|\bliteral_eval\(|\bsymtable\.symtable\(')
    assert [m.name for m in modules() if calls.search(m.source)] == ['core.source']


def test_everything_public_has_a_docstring():
    loaded = {m.name: importlib.import_module(f'adversarial_rl.{m.name}') for m in modules()}
    assert not [name for m in modules() for name in undocumented(m, loaded[m.name])]


def extras():
    "Names of the optional packages that training does without."
    section = INI['DEFAULT']
    def names(key): return {re.split(r'[\[<>=~; ]', x)[0].lower() for x in section[key].split()}
    keys = [k for k in section if k.endswith('_requirements') and k not in ('dev_requirements', 'train_requirements')]
    return set().union(*map(names, keys)) - names('train_requirements')


@pytest.fixture(scope='module')
def without_extras(tmp_path_factory):
    "A folder of links to every installed package but the optional ones and their metadata."
    folder, hidden = tmp_path_factory.mktemp('site'), set()
    for name in extras():
        try: files = Distribution.from_name(name).files or ()
        except PackageNotFoundError: continue
        hidden |= {f.parts[0] for f in files}
    for site in {Path(d.locate_file('')) for d in distributions()}:
        for entry in site.iterdir() if site.name == 'site-packages' else ():
            if entry.name not in hidden and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    return folder


def bare_python(site, code):
    "Run code with the links and this checkout alone on the path."
    paths = os.pathsep.join([str(ROOT), str(site)])
    return subprocess.run([sys.executable, '-S', '-c', code], env=os.environ | dict(PYTHONPATH=paths),
                          capture_output=True, text=True)


def test_every_module_imports_without_the_extras(without_extras):
    names = [f'adversarial_rl.{m.name}' for m in modules()]
    code = f'import importlib, importlib.util\nfor name in {names!r}: importlib.import_module(name)\n' \
           'print([x for x in ("wandb", "evalplus") if importlib.util.find_spec(x)])'
    done = bare_python(without_extras, code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == '[]\n'


def test_the_top_level_names_load_when_they_are_used():
    code = 'import sys, adversarial_rl; adversarial_rl.grade, adversarial_rl.load_problems, adversarial_rl.Problem; ' \
           'sys.exit("torch" in sys.modules)'
    assert subprocess.run([sys.executable, '-c', code]).returncode == 0
    for name in adversarial_rl.__all__:
        assert getattr(adversarial_rl, name) is getattr(importlib.import_module(
            f'adversarial_rl.{adversarial_rl._MODULES[name]}'), name)
    with pytest.raises(AttributeError, match='no_such_name'): adversarial_rl.no_such_name
