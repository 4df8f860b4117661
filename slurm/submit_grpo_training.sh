#!/bin/bash
# GRPO on a SLURM cluster, from the project's folder:
#   sbatch slurm/submit_grpo_training.sh [settings of grpo_code_execution]
# It needs the project's .venv, which `make quick` makes, or PYTHON=... before sbatch. What the run prints is in
# logs/job_JOBID/training_output.log, its results in output/grpo_JOBID.
# GPUs, partition and account are options of sbatch, for example
#   sbatch --nodes 2 --gpus-per-node 2 --time 04:00:00 slurm/submit_grpo_training.sh \
#       --config configs/grpo_code_execution.yaml
# Near the time limit the run saves a checkpoint and ends, and the job is requeued and resumes from it.
#SBATCH --job-name=grpo_code_execution
#SBATCH --ntasks-per-node=1
#SBATCH --signal=B:USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm-grpo-%j.out

set -euo pipefail
cd "${SLURM_SUBMIT_DIR:?run this with sbatch}"
module=adversarial_rl.grpo.code_execution stop=USR1 output=${GRPO_OUTPUT_DIR:-output/grpo_$SLURM_JOB_ID}
flags=("$@" --output_dir "$output")   # Last, so that it overrides the configuration file
if compgen -G "$output/checkpoint-*" > /dev/null; then flags+=(--resume); fi

# shellcheck source=slurm/job.sh
. slurm/job.sh
if [ -n "$again" ] && [ "$code" = 0 ]; then   # It says 0 once its checkpoint is saved
    echo "near the time limit; job requeued" >> "$logs/training_output.log"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
