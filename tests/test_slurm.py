"The batch scripts with commands in place of Slurm's: a signal before the time limit, a requeue, and resuming."
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adversarial_rl.record.tracking import read_metrics

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT/'slurm'
SHELLCHECK = shutil.which('shellcheck', path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.skipif(not SHELLCHECK, reason='needs shellcheck')
def test_the_scripts_are_sound():
    done = subprocess.run([SHELLCHECK, '-x', *map(str, SCRIPTS.glob('*.sh'))], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def job(tmp_path):
    "The environment of a job in a folder that looks like the project's."
    (tmp_path/'slurm').symlink_to(SCRIPTS)
    (tmp_path/'bin').mkdir()
    commands = dict(srun='echo $$ > step\nexport SLURM_NTASKS=1\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"',
                    scancel='kill -s "${1#--signal=}" "$(cat step)"', scontrol='[ "$1" = show ] || echo "$@"')
    for name, text in commands.items():
        (tmp_path/'bin'/name).write_text(f'#!/bin/bash\n{text}\n')
        (tmp_path/'bin'/name).chmod(0o755)
    return dict(PATH=f'{tmp_path}/bin:{os.environ["PATH"]}', SLURM_SUBMIT_DIR=str(tmp_path), SLURM_JOB_ID='1',
                SLURM_JOB_NODELIST='here', SLURM_NNODES='1')


@pytest.mark.parametrize('script', ['submit_training.sh', 'submit_grpo_training.sh'])
def test_a_job_without_an_environment_says_so(job, script):
    "In Slurm's own file, which users read first."
    done = subprocess.run(['bash', SCRIPTS/script], capture_output=True, text=True, env=job)
    assert done.returncode == 2 and done.stderr.startswith('error: no .venv/bin/python'), done.stderr


GRPO = ['--config', str(ROOT/'configs'/'grpo_code_execution_starter.yaml'), '--evaluation.enabled', 'false',
        '--wandb.enabled', 'false', '--training_args.per_device_train_batch_size', '16', '--device', 'cpu',
        '--training_args.max_steps', '12', '--training_args.save_steps', '1000']


def test_near_its_time_limit_it_saves_requeues_and_resumes(job, tmp_path):
    env = os.environ | job | dict(PYTHON=sys.executable, PYTHONPATH=str(ROOT), OMP_NUM_THREADS='1')
    metrics, output = tmp_path/'output'/'grpo_1'/'metrics.jsonl', []
    for limited in True, False:
        process = subprocess.Popen(['bash', SCRIPTS/'submit_grpo_training.sh', *GRPO], env=env, cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE)
        while limited and process.poll() is None and not (metrics.exists() and len(read_metrics(metrics)) >= 2):
            time.sleep(.1)
        if limited: process.send_signal(signal.SIGUSR1)
        output.append(process.communicate()[0])
        assert process.returncode == 0, (tmp_path/'logs'/'job_1'/'training_output.log').read_text()
    assert output == ['requeue 1\n', '']
    assert [r['step'] for r in read_metrics(metrics)] == list(range(1, 13))
