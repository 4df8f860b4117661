#!/bin/bash
# The two-player training on a SLURM cluster, from the project's folder:
#   sbatch slurm/submit_training.sh [settings of run_training]
# It needs the project's .venv, which `make quick` makes, or PYTHON=... before sbatch. What the run prints is in
# logs/job_JOBID/training_output.log, its results in output/training_JOBID.
# GPUs, partition and account are options of sbatch, for example
#   sbatch --nodes 2 --gpus-per-node 2 --time 04:00:00 slurm/submit_training.sh --config configs/a100.yaml
# Near the time limit the run finishes its step, saves and ends, and the job is requeued and resumes from it.
#SBATCH --job-name=run_training
#SBATCH --ntasks-per-node=1
#SBATCH --signal=B:USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm-training-%j.out

set -euo pipefail
cd "${SLURM_SUBMIT_DIR:?run this with sbatch}"
module=adversarial_rl.game.trainer stop=TERM output=${TRAINING_OUTPUT_DIR:-output/training_$SLURM_JOB_ID}
flags=("$@" --output-dir "$output" --checkpoint-dir "$output/checkpoints")
if compgen -G "$output/checkpoints/checkpoint_*.json" > /dev/null; then flags+=(--resume); fi

# shellcheck source=slurm/job.sh
. slurm/job.sh
if [ -n "$again" ] && [ "$code" != 0 ]; then   # A run that was stopped says so, one that is finished says 0
    echo "near the time limit; job requeued" >> "$logs/training_output.log"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
