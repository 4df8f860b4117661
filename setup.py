"Packaging, read from settings.ini. Data, configurations and the starter model travel inside the wheel, below `shipped`."
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

ini = ConfigParser(delimiters=['='])
ini.read('settings.ini', encoding='utf-8')
cfg = ini['DEFAULT']

name = cfg['lib_name']
shipped = {f'{name}.shipped.{d.replace("/", ".")}': d for d in ('data', 'configs', 'checkpoints/starter', 'checkpoints/starter_printing', 'checkpoints/starter_games')}

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
    package_data={package: ['*'] for package in shipped},
    install_requires=cfg['requirements'].split(),
    extras_require={extra: cfg[f'{extra}_requirements'].split() for extra in ('dev', 'bench', 'plus', 'tracking', 'server', 'games')},
    entry_points={'console_scripts': cfg['console_scripts'].split('\n'), 'nbdev': [f'{name}={name}._modidx:d']},
    zip_safe=False,
)
