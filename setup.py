"""Packaging, read from settings.ini; data, configurations and the bundled models travel below `shipped`."""
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

ini = ConfigParser(delimiters=['='])
ini.read('settings.ini', encoding='utf-8')
cfg = ini['DEFAULT']

name = cfg['lib_name']
folders = ('data', 'configs', 'checkpoints/starter', 'checkpoints/starter_printing', 'checkpoints/starter_games')
shipped = {f'{name}.shipped.{folder.replace("/", ".")}': folder for folder in folders}
extras = ('train', 'dev', 'bench', 'plus', 'tracking', 'server', 'verifiers', 'lm_eval', 'inspect', 'openenv')

setup(
    name=name,
    version=cfg['version'],
    description=cfg['description'],
    long_description=Path('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author=cfg['author'],
    author_email=cfg['author_email'],
    license='MIT',
    keywords=cfg['keywords'],
    python_requires='>=' + cfg['min_python'],
    packages=[*find_packages(include=[f'{name}*']), *shipped],
    package_dir=shipped,
    package_data={name: ['py.typed'], **{package: ['*'] for package in shipped}},
    install_requires=cfg['requirements'].split(),
    extras_require={extra.replace('_', '-'): cfg[f'{extra}_requirements'].split() for extra in extras},
    entry_points={
        'console_scripts': cfg['console_scripts'].split('\n'),
        'nbdev': [f'{name}={name}._modidx:d'],
    },
    zip_safe=False,
)
