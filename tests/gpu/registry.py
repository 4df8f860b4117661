"What a check is given, what it writes down, and the list of all."
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


class Skip(Exception):
    "Raised by a check that cannot run here, with the reason."


@dataclass
class Findings:
    "What one check measured, and which of its conditions do not hold."
    figures: dict = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def note(self, **figures):
        "Write figures down; numbers with four digits."
        self.figures |= {name: rounded(x) for name, x in figures.items()}

    def require(self, holds, otherwise:str):
        "Fail with this text, and go on, unless a condition holds."
        if not holds: self.failures.append(otherwise)


def rounded(x):
    if isinstance(x, float): return float(f'{x:.4g}')
    if isinstance(x, dict): return {str(k): rounded(v) for k, v in x.items()}
    return [rounded(v) for v in x] if isinstance(x, (list, tuple)) else x


@dataclass(frozen=True)
class Place:
    "Where checks run."
    device: str
    real: str       # A model in place of random weights; '' for those
    folder: Path    # For files that are not kept

    @property
    def tiny(self)->bool:
        "Whether models and work are of toy size."
        return self.device == 'cpu'

    def shape(self, size:str)->str:
        "The size of `SHAPES` that a check of this size takes here."
        return 'tiny' if self.tiny else size

    def gigabytes(self)->float:
        "Of the GPU."
        import torch
        return torch.cuda.get_device_properties(self.device).total_memory / 1e9

    def needs(self, gigabytes:float):
        "Skip where the GPU has less memory."
        if not self.tiny and self.gigabytes() < gigabytes:
            raise Skip(f'needs a GPU with {gigabytes:g} GB, this one has {self.gigabytes():.1f}')

    def cap(self, gigabytes:float):
        "From now on this process has only so much of the GPU's memory."
        import torch
        if self.tiny: return
        share = min(1., gigabytes / self.gigabytes())
        torch.cuda.set_per_process_memory_fraction(share, torch.device(self.device).index)   # None: the current one


@dataclass(frozen=True)
class Check:
    "One check; `limit` is in seconds."
    name: str
    run: Callable[[Place, Findings], None]
    limit: int


CHECKS: dict[int, Check] = {}


def check(number:int, name:str, seconds:int):
    "Register a function as a check that takes about so many seconds on an H100; a T4 may take several times as long."
    def register(run):
        CHECKS[number] = Check(name, run, 120 + 4 * seconds)
        return run
    return register
