#!/usr/bin/env bash
# Audits the same mechanisms with dpscope and, one after the other on one machine, with
# DP-Sniper, StatDP, DP-Auditorium, the sequential test of González et al. and jax_privacy.
#
#   bench/side-by-side/run.sh [FOLDER] > docs/results/side-by-side.txt
#
# FOLDER keeps what is fetched of the others, PYTHON names another Python, RUNS how often all is repeated. Needs Go, git, curl and
#   apt-get install --no-install-recommends python3-torch python3-sklearn python3-numba python3-tqdm python3-absl python3-attr
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=${1:-$work/peers}
mkdir -p "$folder"

checkout() { # OWNER/NAME COMMIT
	local at=$folder/${1#*/}
	[[ -d $at ]] || git clone --quiet "https://github.com/$1" "$at"
	git -C "$at" checkout --quiet "$2"
}
checkout eth-sri/dp-sniper ee087b2584ca97d1064154db5dd2bda0bb5a8ceb
checkout cmla-psu/statdp d1f1e8fafa1fe15342dc9502654ec241585b9919
checkout google/differential-privacy b5b0286e313b64a692abfc8c528d54ef47d960a0
checkout google-deepmind/jax_privacy 8967688c26d46f3b74bfdfe61ef1f984b887abab
sequential=cacca8e6a84be4962b81919eb2e2e2e8d7bb74d0
commit() { git -C "$folder/$1" rev-parse --short=10 HEAD; }
notebook=dp_sequential_test/numerical_experiments.ipynb
[[ -f $folder/$notebook ]] || curl --fail --silent --show-error --create-dirs -o "$folder/$notebook" \
	"https://raw.githubusercontent.com/google-research/google-research/$sequential/$notebook"
go build -o "$work/dpscope" ./cmd/dpscope

export PEERS=$folder WORK=$work OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1 PYTHONWARNINGS=ignore
runs=${RUNS:-5} python=${PYTHON:-/usr/bin/python3}

cat <<END
\$ bench/side-by-side/run.sh

$("$python" --version), $("$python" -c 'import numba, numpy, scipy, torch; print(*("%s %s" % (m.__name__, m.__version__) for m in (numpy, scipy, torch, numba)), sep=", ")'), $(go version | cut -d' ' -f3), dpscope at commit $(git rev-parse --short=10 HEAD)
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(env -u OMP_NUM_THREADS nproc) processors; processes that ran or waited on average in the minute before: $(cut -d' ' -f1 /proc/loadavg)

All: error 0.05, one process, one thread, $runs runs, each a process of its own (seeds 1 to $runs; DP-Sniper and StatDP take none).
The mean is dpscope's own for dpscope, and one function in NumPy for all others. 1 pair: it is told; else it is searched.
n           outputs a side that the bound rests on, at most; of scores, all canaries
to verdict  outputs drawn until the claim is refuted, both sides, all pairs and the search included: median of the runs that refute it
drawn       outputs of the whole run
seconds     to the verdict, of dpscope to the end, with the start of the process; "no start": without; means
bound       lower bound on epsilon: mean (least to greatest)

dpscope: -samples n. It stops earlier where its bound no longer climbs; -fixed explores before.
DP-Sniper ($(commit dp-sniper)): as its experiments run it (events of probability 0.01 and more; svt4 by logistic regression, the mean by a
  network), but n outputs a step, 10 700 000 there, and n for the bound, 200 000 000 there. It runs without its log for TensorBoard.
StatDP ($(commit statdp)): its iSVT3 is svt4. n outputs a side select the event, 100 000 there, and n test it, 500 000 there. The bound is the
  largest epsilon at which its test of these counts has p <= 0.05. With 1 000 outputs its selector ends with an error on svt4.
DP-Auditorium ($(commit differential-privacy)): its runner, its SVT4, a told pair. It bounds delta; the bound here is the largest epsilon at which it rejects
  delta = 0 on the same outputs, with 0.05 for each of the two directions of its runner. Histogram: the 11 outputs of svt4, else 10 bins
  over 5 median distances (of 20 other outputs a side) to both sides of 0. MMD: Gaussian kernel as wide as that distance; at epsilon = 1 its
  threshold, e - 1, is above all values it can take. Not run: the hockey-stick and Rényi testers need TensorFlow and the generators of
  pairs Vizier, which Debian does not package; docs/results/tables-auditorium.txt has what its paper prints for all four
  (svt4 at epsilon = 1, 50 000 outputs a side: hockey-stick in 10 of 10 runs, Rényi and MMD in none).
Sequential test (González et al., arXiv 2509.07055; google-research ${sequential:0:10}): the classes of its notebook, a told pair, the kernel's width (that
  distance) and the bound (the largest epsilon rejected on the same outputs) as in its empirical_epsilon. Equal outputs at the very start
  are left out, where it divides zero by zero. Its time grows with the square of n, so n ends at 5 000.
jax_privacy ($(commit jax_privacy)): epsilon_one_run, epsilon_one_run_fdp and epsilon_clopper_pearson, by default (Bonferroni) and by Split, of the same
  scores; docs/results/scores.txt says what each assumes.

END
"$python" bench/side-by-side/peers.py "$runs"
echo "The same average at the end: $(cut -d' ' -f1 /proc/loadavg)"
