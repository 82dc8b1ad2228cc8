#!/bin/sh
# Makes the reports in this folder with builds of dpscope 0.1.0, which was never
# tagged:
#
#   sh make.sh EARLY LATE
#
# EARLY is built from commit 65f30d3, whose reports have neither the finder's model
# (surrogate) nor the plane (evidence.chart.plane); LATE from ddcf59f, the
# parent of the commit that made it 0.2.0. The reports are kept as they are for good; every
# later version must go on verifying them (docs/compatibility.md). Made again, they
# differ in "timing" only. reports.txt names every report and the arguments beside
# it that verify needs. It is -quick where the search tried other pairs than that of
# later versions, so that the whole run does not replay.
set -u
early=$(realpath "$1") late=$(realpath "$2")
cd "$(dirname "$0")" || exit 2
: > reports.txt

# make NAME "ARGUMENTS OF VERIFY" COMMAND... writes NAME.json.
make() {
	name=$1 inputs=$2
	shift 2
	"$@" -format json > "$name.json" 2> /dev/null
	if [ ! -s "$name.json" ]; then
		echo "$name.json was not made" >&2
		exit 1
	fi
	echo "$name.json${inputs:+ $inputs}" >> reports.txt
}

make early-gp-ucb "" "$early" audit -mechanism laplace-mean-raw-count -epsilon 1 -finder gp-ucb -learner histogram -samples 500 -explore 400 -trials 12 -seed 11
make early-plane "" "$early" audit -mechanism noisy-histogram -samples 400 -trials 1
make early-approximate "" "$early" audit -mechanism gaussian-mean-raw-count -samples 400 -trials 1
make early-anytime "" "$early" audit -mechanism svt4 -epsilon 1 -samples 20000 -trials 1 -anytime
make early-recorded "-samples-file inputs/half.csv" "$early" audit -samples-file inputs/half.csv -epsilon 1
make gaussian-dp "" "$late" audit -mechanism gaussian-mean -guarantee gaussian-dp -mu 0.4 -samples 400 -trials 1
make module "-quick -wasm inputs/count.wasm" "$late" audit -wasm inputs/count.wasm -epsilon 1 -samples 1000 -trials 2 -seed 3
make unseeded-google "" "$late" audit -mechanism google-laplace -samples 400 -trials 1
make canaries "" "$late" canaries -d 50 -epsilon 2 -n 100 -explore 40 -k 6 -seed 1
make canaries-dp-sgd "-data inputs/examples.csv" "$late" canaries -source dp-sgd -epsilon 2 -n 20 -k 3 -param model=linear -param steps=5 -data inputs/examples.csv
make plan "" "$late" audit -plan ../0.2.0/inputs/plan-built-in.json
