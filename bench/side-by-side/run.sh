#!/usr/bin/env bash
# Audits the sparse vector technique "svt4" at a claim of epsilon = 1 with DP-Sniper
# (Bichsel et al. 2021, PyTorch) and with dpscope, one after the other on one machine.
#
#   bench/side-by-side/run.sh [FOLDER] > docs/results/side-by-side.txt
#
# FOLDER keeps the checkout of DP-Sniper; without one it is cloned anew. Needs Go, git,
# and a Python with torch and scikit-learn: on Debian
#   apt-get install --no-install-recommends python3-torch python3-sklearn
# PYTHON names another one, SNIPER_SOURCE another place to clone from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

commit=ee087b2584ca97d1064154db5dd2bda0bb5a8ceb
source=${SNIPER_SOURCE:-https://github.com/eth-sri/dp-sniper}
python=${PYTHON:-/usr/bin/python3}
processes=2
runs=${RUNS:-3}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sniper=${1:-$work/dp-sniper}
[[ -d $sniper ]] || git clone --quiet "$source" "$sniper"
git -C "$sniper" checkout --quiet "$commit"
go build -o "$work/dpscope" ./cmd/dpscope

# timed NAME COMMAND... prints what the command says of its result, and the seconds from
# its start to its end.
timed() {
	local name=$1 begun=$EPOCHREALTIME
	shift
	"$@" >"$work/out" 2>"$work/err" || [[ $? == 1 ]] || {
		cat "$work/err" >&2
		exit 1
	}
	local ms=$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000)) said
	mapfile -t said < <(grep -v '^\[WARNING\]' "$work/out")
	printf '%-34s%4d.%02d s  %s\n' "$name" $((ms / 1000)) $((ms % 1000 / 10)) "${said[0]}"
	((${more:-0} == 0)) || printf '%43s%s\n' '' "${said[1]}" '' "${said[2]}"
}

# One thread a process: with the default of PyTorch, all processors in each of the two
# processes, DP-Sniper took four times as long.
dp_sniper() {
	OMP_NUM_THREADS=1 PYTHONPATH=$sniper more=1 timed "DP-Sniper, $1" "$python" bench/side-by-side/sniper.py "$work/logs" "$processes" "$2" "$2"
}

dpscope() {
	timed "$1" "$work/dpscope" audit -workers "$processes" -mechanism svt4 -param threshold=1 -epsilon 1 -seed "${@:2}"
}

cat <<END
\$ bench/side-by-side/run.sh

svt4 of ten queries at epsilon 1 (threshold 1, one answer above it), bounds with 95 % confidence,
$processes processes on $(nproc) processors; seconds are of the whole process, its start included.
DP-Sniper at commit ${commit:0:10} as its own experiments run it (logistic regression, 16 pairs,
events of probability 0.01 and more), but for epsilon (0.1 there), the confidence (0.9) and the
numbers of outputs (10 700 000 a step and 200 000 000 for the bound there), which are the same
for both here. Its bound counts fresh outputs of its best pair, as ours does. It takes no seed;
dpscope has seeds 1 to $runs.

$("$python" --version), torch $("$python" -c 'import torch; print(torch.__version__)'), NumPy $("$python" -c 'import numpy; print(numpy.__version__)'), $(go version | cut -d' ' -f3), dpscope at commit $(git rev-parse --short=10 HEAD)
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); processes that ran or waited on average in the minute before: $(cut -d' ' -f1 /proc/loadavg)

END
for ((i = 1; i <= runs; i++)); do
	dpscope "dpscope audit -until-refuted" "$i" -until-refuted
	dpscope "dpscope audit" "$i"
	dpscope "dpscope audit -fixed, 100 000" "$i" -fixed
	dpscope "dpscope audit -fixed, 1 000 000" "$i" -fixed -samples 1000000
	dp_sniper "100 000" 100000
	dp_sniper "1 000 000" 1000000
done
echo
echo "The same average at the end: $(cut -d' ' -f1 /proc/loadavg)"
