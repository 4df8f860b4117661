#!/bin/bash
# GRPO on a SLURM cluster: sbatch slurm/submit_grpo_training.sh [settings of grpo_code_execution]
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
logs=logs/job_$SLURM_JOB_ID output=${GRPO_OUTPUT_DIR:-output/grpo_$SLURM_JOB_ID}
mkdir -p "$logs"

# Compute nodes are often offline: models come from ./model_cache or the local cache; HF_HUB_OFFLINE= (empty) goes online.
# W&B is as everywhere: disabled without WANDB_API_KEY, and offline where its server cannot be reached.
export HF_HUB_OFFLINE=${HF_HUB_OFFLINE-1} PYTHON=${PYTHON:-.venv/bin/python}
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MAIN_ADDRESS=$first MAIN_PORT=$((20000 + SLURM_JOB_ID % 20000)) PER_NODE=${SLURM_GPUS_ON_NODE:-1}

flags=("$@" --output_dir "$output")   # Last, so that it overrides the configuration file
if compgen -G "$output/checkpoint-*" > /dev/null; then flags+=(--resume); fi

# shellcheck disable=SC2016 # The node expands these, not this script
srun --kill-on-bad-exit=1 bash -c '
    module=adversarial_rl.grpo.code_execution
    if [ "$SLURM_NNODES" = 1 ] && [ "$PER_NODE" = 1 ]; then exec "$PYTHON" -m $module "$@"; fi
    exec "$PYTHON" -m accelerate.commands.launch --num_machines "$SLURM_NNODES" \
        --num_processes $((SLURM_NNODES * PER_NODE)) --machine_rank "$SLURM_NODEID" \
        --main_process_ip "$MAIN_ADDRESS" --main_process_port "$MAIN_PORT" \
        --mixed_precision no --dynamo_backend no -m $module "$@"
' grpo "${flags[@]}" >> "$logs/training_output.log" 2>&1 &
run=$!

again=
trap 'again=1; scancel --signal=USR1 "$SLURM_JOB_ID.0"' USR1
trap 'scancel --signal=TERM "$SLURM_JOB_ID.0"' TERM
code=0
while kill -0 "$run" 2> /dev/null; do code=0; wait "$run" || code=$?; done   # `wait` returns early on a trapped signal
if [ -n "$again" ] && [ "$code" = 0 ]; then
    echo "near the time limit; job requeued" >> "$logs/training_output.log"
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
