#!/bin/sh
# Makes the reports in this folder, one or a few of every kind:
#
#   go build -o /tmp/dpscope ./cmd/dpscope && sh core/testdata/reports/make.sh /tmp/dpscope
#
# Tests verify them, so that what is changed by accident is seen. Make them again when
# the form of reports or the statistics change on purpose, and read the difference.
# Made again by the same program, a report has the same counts, bounds and words. What
# differs: the times in "timing"; the counts in reports of mechanisms that take no seed
# (unseeded-*.json); and the number of samples at which runs were stopped
# (stopped-*.json), which depends on the moment of the signal.
#
# reports.txt names every report and the arguments beside it that verify needs.
set -u
dpscope=$(realpath "$1")
cd "$(dirname "$0")" || exit 2
: > reports.txt
mkdir -p pair

# make NAME "ARGUMENTS OF VERIFY" COMMAND... writes NAME.json.
make() {
	name=$1 inputs=$2
	shift 2
	"$dpscope" "$@" -format json > "$name.json" 2> /tmp/made.$$
	code=$?
	if [ $code = 2 ] && [ ! -s "$name.json" ]; then
		cat /tmp/made.$$ >&2
		echo "$name.json: exit code $code" >&2
		exit 1
	fi
	echo "$name.json${inputs:+ $inputs}" >> reports.txt
	rm -f /tmp/made.$$
}

# stop NAME SECONDS COMMAND... writes NAME.json of a run that SIGINT stopped.
stop() {
	name=$1 seconds=$2
	shift 2
	timeout --signal=INT "$seconds" "$dpscope" "$@" -format json > "$name.json" 2> /dev/null
	if [ ! -s "$name.json" ]; then
		echo "$name.json: stopped before the first pair; give it more than $seconds s" >&2
		exit 1
	fi
	echo "$name.json" >> reports.txt
}

audit() {
	name=$1
	shift
	make "$name" "" audit "$@"
}

# Audits whose golden reports are replayed on every platform: each kind of output, each
# relation, both stages, and a search by a model.
audit pair/outcomes -mechanism svt4 -epsilon 1 -samples 20000 -explore 4000 -trials 2 -seed 7 -fixed
audit pair/sequential -mechanism truncated-geometric -samples 1000 -trials 2 -seed 12
audit pair/histogram -mechanism laplace-mean-raw-denominator -learner histogram -samples 20000 -explore 4000 -trials 2 -seed 8 -fixed
audit pair/mixed -mechanism svt3 -param m=4 -learner logistic -samples 5000 -trials 2 -seed 9 -fixed
audit pair/gp-ucb -mechanism laplace-mean-raw-count -epsilon 1 -finder gp-ucb -learner histogram -samples 5000 -explore 4000 -trials 24 -seed 11 -fixed
audit pair/random -mechanism gaussian-mean -relation replace -finder random -samples 5000 -trials 3 -seed 10 -fixed
# Every kind of claim.
audit pure-through-renyi -mechanism laplace-mean-raw-count -epsilon 1 -through-renyi 2 -samples 400 -trials 1 -fixed
audit approximate -mechanism gaussian-mean-raw-count -samples 400 -explore 400 -trials 1 -fixed
audit renyi -mechanism gaussian-mean-raw-count-renyi -samples 400 -trials 1 -fixed
audit zcdp -mechanism laplace-mean -guarantee zcdp -samples 400 -trials 1 -fixed
audit gaussian-dp -mechanism gaussian-mean -guarantee gaussian-dp -mu 0.4 -samples 400 -trials 1 -fixed
audit profile -mechanism gaussian-mean -profile '{"points":[{"epsilon":0.5,"delta":0.1},{"epsilon":1,"delta":0.02}]}' -samples 400 -trials 1
# Until the claim is refuted.
audit until-refuted -mechanism svt5 -epsilon 1 -samples 20000 -trials 1 -until-refuted
# Pairs of a group.
audit group -mechanism laplace-mean -group 3 -samples 400 -trials 2 -fixed
# A mechanism without a seed: Google's library.
audit unseeded-google -mechanism google-laplace -samples 400 -trials 1 -fixed
# Outputs that were recorded.
make recorded "-samples-file inputs/half.csv" audit -samples-file inputs/half.csv -epsilon 1
make recorded-two-files "-samples-file inputs/mixed-first.csv -samples-file2 inputs/mixed-second.csv" \
	audit -samples-file inputs/mixed-first.csv -samples-file2 inputs/mixed-second.csv -nonfinite symbol -epsilon 1 -seed 5 -fixed
# Mechanisms of the user's.
make command "-exec 'python3 inputs/count_mechanism.py half'" audit -exec 'python3 inputs/count_mechanism.py half' -epsilon 1 -samples 2000 -explore 400 -trials 2 -learner histogram -fixed
make command-words "-exec 'python3 inputs/count_mechanism.py words'" audit -exec 'python3 inputs/count_mechanism.py words' -epsilon 1.2 -samples 1000 -trials 2 -rows 0:3 -fixed
make unseeded-command "-exec 'python3 inputs/count_mechanism.py unseeded'" audit -exec 'python3 inputs/count_mechanism.py unseeded' -epsilon 2 -samples 400 -trials 2 -fixed
make module-symbols "-wasm inputs/count-c.wasm" audit -wasm inputs/count-c.wasm -domain 0:1,18:99 -integer -kind c1=symbol -epsilon 0.5 -samples 1000 -trials 2 -seed 3 -fixed
# Canaries: fixed audits, and those that bet on every training.
make canaries "" canaries -d 50 -epsilon 2 -n 100 -explore 40 -k 6 -seed 1
make canaries-dp-sgd "" canaries -source dp-sgd -epsilon 2 -n 20 -k 4 -param model=linear -param steps=5
make canaries-until-refuted "" canaries -d 50 -epsilon 1 -n 200 -k 5 -param noise=0.1 -until-refuted
# One run.
make one-run "" one-run -epsilon 2 -m 300 -seed 1
make one-run-refuted "" one-run -epsilon 1 -m 600 -param noise=0.1
make one-run-inconclusive "" one-run -epsilon 2 -m 60
make one-run-several "" one-run -epsilon 2 -m 200 -guesses 30,60,120 -gdp-guesses 50 -design sphere
make one-run-dp-sgd "-data inputs/examples.csv" one-run -source dp-sgd -epsilon 2 -m 60 -param steps=5 -param model=linear -data inputs/examples.csv
# Scores.
make scores "-data inputs/scores.csv" scores inputs/scores.csv -epsilon 1 -relation add-remove
make scores-two-files "-data inputs/scores-in.csv -data inputs/scores-out.csv" scores inputs/scores-in.csv inputs/scores-out.csv -epsilon 3 -method paired-betting -seed 7 -guesses 10,20 -relation add-remove
make scores-matrix-replace "-data inputs/matrix-replace.csv" scores inputs/matrix-replace.csv -epsilon 2 -relation replace
make scores-matrix-add-remove "-data inputs/matrix-coins.csv" scores inputs/matrix-coins.csv -epsilon 2 -relation add-remove
# Plans.
make plan "-plan inputs/plan.json" audit -plan inputs/plan.json
make plan-built-in "" audit -plan inputs/plan-built-in.json
make plan-only "-plan inputs/plan.json" audit -plan inputs/plan.json -only module
# Runs that did not complete. Those without counts are refused, alone; in a plan the rest of them is checked.
stop stopped-exploring 1 audit -mechanism svt4 -epsilon 1 -samples 1000000 -explore 6000000 -trials 100 -fixed
stop stopped-certifying 1 audit -mechanism svt4 -epsilon 1 -samples 1000000000 -explore 400 -learner outcome-table -trials 1 -fixed
stop stopped-until-refuted .1 audit -mechanism randomised-response -samples 1000000000 -trials 1 -until-refuted
stop stopped-canaries 1 canaries -d 20000 -epsilon 2 -n 1000000 -explore 100 -k 4
stop stopped-canaries-exploring .5 canaries -d 2000 -epsilon 2 -n 1000 -explore 600000 -k 4
make failed-command "-exec 'python3 inputs/failing.py'" audit -exec 'python3 inputs/failing.py' -epsilon 1 -samples 5000 -explore 400 -trials 1 -workers 1 -learner histogram -fixed
make failed-plan "-plan inputs/plan-failing.json" audit -plan inputs/plan-failing.json
