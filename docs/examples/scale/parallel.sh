#!/bin/sh
# The shares by GNU parallel, on the machines of --sshlogin too, each tried three times at
# most: sh parallel.sh FOLDER SHARES dpscope audit FLAGS
set -eu
parts=$1 shares=$2
shift 2
mkdir -p "$parts"
"$@" -search-only -partial "$parts/search"
seq 0 $((shares - 1)) | parallel --retries 3 --halt now,fail=1 -- "$@" -workers 1 -after "$parts/search" -shards "{}/$shares" -partial "$parts/{}"
exec "$1" merge "$parts" -o "$parts.json"
