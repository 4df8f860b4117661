"""The library as a graph, read from its source and never run.

A module may import its own chapter and the chapters above it in `CHAPTERS`, also where it imports inside a function.
"""
import ast
import inspect
import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = [re.sub(r'^\d+_', '', p.name) for p in sorted((ROOT / 'nbs').glob('[0-9][0-9]_*'))]


@dataclass
class Module:
    name: str            # Such as 'grader.judge'
    source: str
    tree: ast.Module

    @property
    def chapter(self): return self.name.partition('.')[0]

    def imports(self):
        "Names of this library's modules that it imports, in functions too."
        package = ['adversarial_rl', *self.name.split('.')]
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.ImportFrom): continue
            parts = package[:-node.level] if node.level else []
            parts += (node.module or '').split('.') if node.module else []
            if parts[:1] != ['adversarial_rl']: continue
            for a in node.names: yield from {'.'.join([*parts[1:], a.name]), '.'.join(parts[1:])}


def modules(root=ROOT):
    "Every exported module."
    found = []
    for path in sorted((root / 'adversarial_rl').rglob('*.py')):
        if path.name.startswith('_'): continue
        name = '.'.join(path.relative_to(root / 'adversarial_rl').with_suffix('').parts)
        found.append(Module(name, path.read_text(), ast.parse(path.read_text())))
    return found


def arrows(found):
    "Who imports whom: pairs of module names."
    known = {m.name for m in found}
    return sorted({(m.name, other) for m in found for other in m.imports() if other in known - {m.name}})


def upward(found):
    "Imports from a chapter to a later one."
    def place(name): return CHAPTERS.index(name.partition('.')[0])
    return [f'{a} imports {b}' for a, b in arrows(found) if place(a) < place(b)]


def circles(found):
    "Modules that reach themselves through imports at the top or in functions."
    near = {m.name: set() for m in found}
    for a, b in arrows(found): near[a].add(b)
    def reaches(start):
        seen, waiting = set(), list(near[start])
        while waiting:
            name = waiting.pop()
            if name in seen: continue
            seen.add(name)
            waiting += near.get(name, ())
        return seen
    return sorted(name for name in near if name in reaches(name))


def bare_expressions(module):
    "Lines at a module's top level that only compute something; its docstring may."
    return [f'{module.name}:{x.lineno}' for x in module.tree.body[1:] if isinstance(x, ast.Expr)]


def undocumented(module, loaded):
    "Public functions, classes and methods of a module without a docstring, of their own or of a method they override."
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    def missing(body, before=''):
        for x in (x for x in body if isinstance(x, kinds) and not x.name.startswith('_')):
            name = before + x.name
            proxy = any('__doc__' in ast.unparse(y) for y in x.body if isinstance(y, ast.Assign))
            if not proxy and inspect.getdoc(attrgetter(name)(loaded)) is None: yield f'{module.name}.{name}'
            if isinstance(x, ast.ClassDef): yield from missing(x.body, f'{name}.')
    return list(missing(module.tree.body))
