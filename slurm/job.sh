# shellcheck shell=bash disable=SC2034,SC2154
# What the batch scripts here have in common; they set `module`, `flags`, and `stop`, the signal that makes the
# training save and end, and read `again`, `code` and `logs`. Each GPU has a process, and without GPUs each task of a
# node (`--ntasks-per-node`). Slurm starts and signals all of them itself: a launcher would kill them after 30 seconds.

logs=logs/job_$SLURM_JOB_ID
mkdir -p "$logs"

# Compute nodes are often offline: models come from ./model_cache or the local cache; HF_HUB_OFFLINE= (empty) goes online.
# W&B is as everywhere: disabled without WANDB_API_KEY, and offline where its server cannot be reached.
export HF_HUB_OFFLINE=${HF_HUB_OFFLINE-1} PYTHON=${PYTHON:-.venv/bin/python} MODULE=${module:?}
command -v "$PYTHON" > /dev/null || { echo "error: no $PYTHON here; \`make quick\` makes .venv, or set PYTHON" >&2; exit 2; }
here=${SLURM_GPUS_ON_NODE:-${SLURM_NTASKS_PER_NODE:-1}}
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))

# shellcheck disable=SC2016 # The node expands these, not this script
srun --kill-on-bad-exit=1 --overcommit --cpu-bind=none --ntasks=$((SLURM_NNODES * here)) --ntasks-per-node="$here" bash -c '
    if [ "$SLURM_NTASKS" != 1 ]; then export WORLD_SIZE=$SLURM_NTASKS RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; fi
    exec "$PYTHON" -m "$MODULE" "$@"
' training "${flags[@]:?}" >> "$logs/training_output.log" 2>&1 &
run=$!

again=
trap 'again=1; scancel --signal="${stop:?}" "$SLURM_JOB_ID.0"' USR1
trap 'scancel --signal=TERM "$SLURM_JOB_ID.0"' TERM
code=0
while kill -0 "$run" 2> /dev/null; do code=0; wait "$run" || code=$?; done   # `wait` returns early on a trapped signal
