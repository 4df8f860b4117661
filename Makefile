# make train: install and run the main job on the bundled starter model.   make test: install and pass every check.
PYTHON ?= python3
# Installed only where no PyTorch is found; one that is there already is kept.
TORCH ?= torch==2.13.0
BIN := .venv/bin
export TOKENIZERS_PARALLELISM := false
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: train test seeds compare bench starter clean

train: .venv/installed
	$(BIN)/run_training --config configs/starter.yaml

test: .venv/installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -c 'from nbdev.test import nbdev_test; nbdev_test(path="nbs", n_workers=2)'
	$(BIN)/python -m pytest -q -rs -n 2 --dist loadfile --no-loadscope-reorder --durations=5 tests

# RESULTS.md's tables of three seeds (about two hours).
seeds: .venv/installed-games
	for what in run_training grpo_code_execution grpo_code_game spiral_self_play spiral_kuhn; do $(BIN)/compare_seeds --what $$what --results RESULTS.md || exit; done
	$(BIN)/compare_baselines --results RESULTS.md

# RESULTS.md's comparison of ways to train, and of the discriminator's rewards (about an hour and ten minutes; leave the machine alone meanwhile).
compare: .venv/installed
	$(BIN)/compare_training --results RESULTS.md
	$(BIN)/compare_training --what rewards --seconds 60 --marks 3 --results RESULTS.md

# RESULTS.md's tables of speed and memory (about a quarter of an hour; leave the machine alone meanwhile).
bench: .venv/installed
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q --no-deps evalplus # of its forty dependencies the check needs none that is not here
	$(BIN)/python -m adversarial_rl.lab.bench --results RESULTS.md

# The bundled models again from nothing, seed 0.
starter: .venv/installed-games
	$(BIN)/make_starter --seed 0
	$(BIN)/make_printing_starter --seed 0
	$(BIN)/make_games_starter --seed 0

.venv/installed: setup.py settings.ini
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another: make train PYTHON=python3.12")'
	@if $(PYTHON) -c 'import torch' 2>/dev/null; then share=--system-site-packages; else share=; fi; \
	  $(PYTHON) -m venv $$share .venv 2>/dev/null || { $(PYTHON) -m venv $$share --clear --without-pip .venv && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }; \
	  test -z "$$share" || $(PYTHON) -c 'import glob, sys, sysconfig; sys.prefix == sys.base_prefix or open(glob.glob(".venv/lib/python*/site-packages")[0] + "/outer.pth", "w").write(sysconfig.get_path("purelib"))'
	@$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q '$(TORCH)'
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q -e .
	@touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q -e '.[dev,tracking]'
	@touch $@

.venv/installed-games: .venv/installed
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q -e '.[games]'
	@touch $@

clean:
	rm -rf .venv build dist *.egg-info output
