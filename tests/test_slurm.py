"The batch scripts on a real Slurm of one node: they run, get a signal before the time limit, requeue, and resume."
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from structure import ROOT

from adversarial_rl.record.tracking import read_metrics

NEEDED = ('slurmctld', 'slurmd', 'sbatch', 'munged')
real = pytest.mark.skipif(any(not shutil.which(x) for x in NEEDED) or os.geteuid() != 0,
                          reason='needs slurm-wlm and munge, and root')
SCRIPTS = ROOT/'slurm'
SHELLCHECK = shutil.which('shellcheck', path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def until(true, seconds, what):
    end = time.time() + seconds
    while time.time() < end:
        if found := true(): return found
        time.sleep(.5)
    pytest.fail(f'{what} did not happen in {seconds} s')


@pytest.mark.skipif(not SHELLCHECK, reason='needs shellcheck')
def test_the_scripts_are_sound():
    done = subprocess.run([SHELLCHECK, '-x', *map(str, SCRIPTS.glob('*.sh'))], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('script', ['submit_training.sh', 'submit_grpo_training.sh'])
def test_a_job_without_an_environment_says_so(tmp_path, script):
    "In Slurm's own file, which users read first."
    (tmp_path/'slurm').symlink_to(SCRIPTS)
    env = dict(PATH=os.environ['PATH'], SLURM_SUBMIT_DIR=str(tmp_path), SLURM_JOB_ID='1', SLURM_JOB_NODELIST='here')
    done = subprocess.run(['bash', SCRIPTS/script], capture_output=True, text=True, env=env)
    assert done.returncode == 2 and done.stderr.startswith('error: no .venv/bin/python'), done.stderr


@pytest.fixture(scope='module')
def slurm(tmp_path_factory):
    folder, host = tmp_path_factory.mktemp('slurm'), socket.gethostname().split('.')[0]
    folder.chmod(0o755)
    for d in ('state', 'spool', 'munge'): (folder/d).mkdir(mode=0o755)
    key = folder/'munge'/'key'
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    conf = folder/'slurm.conf'
    conf.write_text(f'''ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
KillWait=60
OverTimeLimit=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
''')
    env = os.environ | dict(SLURM_CONF=str(conf))
    (folder/'munge').chmod(0o755)
    munge = ['munged', '--foreground', '--force', f'--key-file={key}', f'--pid-file={folder}/munge/pid']
    munge += [f'--{name}={folder}/munge/{name.removesuffix("-file")}' for name in ('socket', 'log-file', 'seed-file')]
    daemons = [subprocess.Popen(munge, stderr=subprocess.DEVNULL)]
    until(lambda: (folder/'munge'/'socket').exists(), 20, 'munge')
    for name in ('slurmctld', 'slurmd'):
        daemons.append(subprocess.Popen([name, '-D'], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    def idle():
        return 'idle' in subprocess.run(['sinfo', '-h', '-o', '%T'], env=env, capture_output=True, text=True).stdout
    try:
        until(idle, 60, 'an idle node')
        yield env
    finally:
        for p in reversed(daemons): p.terminate()
        for p in daemons: p.wait(30)


GRPO = ['--config', str(ROOT/'configs'/'grpo_code_execution_starter.yaml'), '--evaluation.enabled', 'false',
        '--wandb.enabled', 'false', '--training_args.per_device_train_batch_size', '16', '--device', 'cpu']


def submit(env, folder, script, *flags):
    "Submit a script from a folder that looks like the project's."
    if not (folder/'slurm').exists(): (folder/'slurm').symlink_to(SCRIPTS)
    env = env | dict(PYTHON=sys.executable, PYTHONPATH=str(ROOT), GRPO_OUTPUT_DIR=str(folder/'out'),
                     OMP_NUM_THREADS='1')
    command = ['sbatch', '--parsable', f'slurm/{script}', *flags]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def requeue(env, folder, job, steps):
    "Send what Slurm would send before the time limit, once there are so many steps; wait until the job runs again."
    metrics = folder/'out'/'metrics.jsonl'
    until(lambda: metrics.exists() and len(read_metrics(metrics)) >= steps, 240, 'enough steps')
    assert subprocess.run(['scancel', '--batch', '--signal=USR1', job], env=env).returncode == 0
    log = folder/'logs'/f'job_{job}'/'training_output.log'
    until(lambda: 'requeued' in log.read_text(), 120, 'the requeue')
    until(lambda: 'JobState=PENDING' in state(env, job), 60, 'the job in the queue')
    # Slurm would wait two minutes; if the job starts in the second it ended in, its credential counts as revoked
    time.sleep(5)
    subprocess.run(['scontrol', 'update', f'JobId={job}', 'StartTime=now'], env=env)
    until(lambda: 'JobState=COMPLETED' in state(env, job), 400, 'the end of the second run')
    assert 'Restarts=1' in state(env, job)
    return log.read_text(), [r['step'] for r in read_metrics(metrics)]


def state(env, job):
    return subprocess.run(['scontrol', 'show', 'job', job], env=env, capture_output=True, text=True).stdout


@real
def test_near_its_time_limit_it_saves_requeues_and_resumes(slurm, tmp_path):
    job = submit(slurm, tmp_path, 'submit_grpo_training.sh', *GRPO, '--training_args.max_steps', '12',
                 '--training_args.save_steps', '1000')
    log, steps = requeue(slurm, tmp_path, job, 2)
    assert 'SIGUSR1' in log and steps == list(range(1, 13))
