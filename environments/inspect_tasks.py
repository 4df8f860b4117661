"Tasks for Inspect: `inspect eval environments/inspect_tasks.py@curriculum --model openai/MODEL`."
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from adversarial_rl import load_problems, starter_problems
from adversarial_rl.engines.inspect import passes_tests, sample_fields


@task
def curriculum(split='held_out'):
    "The bundled problems."
    samples = [Sample(**sample_fields(p)) for p in starter_problems(split)]
    return Task(dataset=MemoryDataset(samples), scorer=passes_tests())


@task
def problems_file(path):
    "Problems of your own: `-T path=problems.json`."
    return Task(dataset=MemoryDataset([Sample(**sample_fields(p)) for p in load_problems(path)]), scorer=passes_tests())
