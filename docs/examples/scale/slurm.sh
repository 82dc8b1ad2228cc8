#!/bin/bash
# Shares as a Slurm array, on a file system that all nodes see:
#
#   dpscope audit FLAGS -search-only -partial parts/search
#   sbatch --wait --array=0-63 slurm.sh parts dpscope audit FLAGS
#   dpscope merge parts -o report.json
#
#SBATCH --cpus-per-task=2
#SBATCH --mem=2G
#SBATCH --time=01:00:00
#SBATCH --requeue
set -eu
parts=$1
shift
exec "$@" -workers "${SLURM_CPUS_PER_TASK:-1}" -after "$parts/search" -shards "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -partial "$parts/$SLURM_ARRAY_TASK_ID"
