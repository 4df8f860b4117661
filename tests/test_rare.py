"Problems with a rare branch, testers that read them, and runs that travel with the project."
import json
import shutil
from pathlib import Path

import pytest

from adversarial_rl.core.files import resource
from adversarial_rl.grader.grading import grade_many
from adversarial_rl.lab.__main__ import load_notebook, main
from adversarial_rl.measure.held_out import Visible
from adversarial_rl.measure.testers import make_cases

NOTEBOOK = Path(__file__).parents[1]/'nbs'/'experiments'/'08_rare.ipynb'
rare = load_notebook(NOTEBOOK, 'one')
ORDINARY, rare_problems, meets_guard = rare.ORDINARY, rare.rare_problems, rare.meets_guard


def test_the_reference_passes_and_the_visible_tests_miss_the_branch():
    problems = rare_problems('held_out', 60)
    without = [p.reference_solution.split('return ')[0] + 'return ' + p.reference_solution.split(' else ')[1]
               for p in problems]
    right = grade_many([(p.reference_solution, p.baseline_tests) for p in problems])
    blind = grade_many([(code, p.baseline_tests) for code, p in zip(without, problems)])
    assert all(o.passed for o in right)
    assert [o.per_test.count(False) for o in blind] == [1] * len(problems)
    assert all(not o.per_test[ORDINARY] for o in blind)


def test_only_a_source_that_adds_meets_a_guard_of_sums():
    problems = rare_problems('held_out', guards='sums')
    def met(source): return sum(any(meets_guard(p, p.call(args)) for args in source(p, 4)) for p in problems)
    shares = {name: met(source) / len(problems) for name, source in rare.SOURCES.items()}
    assert shares.pop('evaluated') > .5
    assert {k: f'{x:.1%}' for k, x in shares.items()} == {   # As RESULTS.md says
        'random': '1.6%', 'quoted': '1.3%', 'mined': '1.0%', 'boundary': '0.0%'}


def test_wrong_mutants_pass_the_visible_tests():
    problems = rare_problems('held_out', 10)
    every = make_cases(problems, [[]] * 10)
    rare = make_cases(problems, [[]] * 10, visible=Visible(ORDINARY))
    for c, d in zip(every, rare):
        assert {w.source for w in d.wrong} < {w.source for w in c.wrong}
        passed = grade_many([(w.source, c.problem.baseline_tests[:ORDINARY]) for w in d.wrong])
        assert d.wrong and all(o.passed for o in passed)


def compare(folder, *flags):
    "The command with the bundled model in place of one that it would make."
    if not folder.exists(): shutil.copytree(resource('checkpoints/starter'), folder/'starter_30')
    return [str(NOTEBOOK), '--only', 'learning', 'tester', 'mined', '--seconds', '1', '--problems', '8',
            '--starter-steps', '30', '--seeds', '0', '--output-dir', str(folder), *flags]


def test_runs_travel_with_the_project(tmp_path, capfd):
    "A second folder makes no run that the file has; with another setting it makes them all."
    kept, document = tmp_path/'kept.jsonl', tmp_path/'RESULTS.md'
    document.write_text('<!-- rare: x -->\n<!-- end of rare -->\n')
    assert main(compare(tmp_path/'first', '--kept', str(kept), '--results', str(document))) == 0
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row['condition'] for row in rows] == [c for c in rare.CONDITIONS if c in ('mined', 'learning', 'tester')]
    first = capfd.readouterr().out.split('figure in')[0]
    assert 'learning discriminator, frozen generator' in first and first.strip() in document.read_text()
    assert main(compare(tmp_path/'second', '--kept', str(kept), '--finished-only')) == 0
    assert capfd.readouterr().out.split('figure in')[0] == first
    assert not list((tmp_path/'second').glob('*/*/log.txt')) and len(kept.read_text().splitlines()) == 3
    assert main(compare(tmp_path/'third', '--kept', str(kept), '--finished-only', '--split', 'validation')) == 2
    assert 'no run with these settings is finished' in capfd.readouterr().err


@pytest.mark.parametrize('text', ['{"condition": "mined"', '[1]\n', '{}\n', '\x00'])
def test_a_damaged_file_of_runs_is_one_line(tmp_path, capfd, text):
    (tmp_path/'kept.jsonl').write_text(text)
    assert main(compare(tmp_path/'o', '--kept', str(tmp_path/'kept.jsonl'), '--finished-only')) == 2
    said = capfd.readouterr().err.strip()
    assert 'kept.jsonl: not a file of kept runs' in said and '\n' not in said
