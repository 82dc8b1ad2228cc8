#!/bin/sh
# Makes the reports in this folder with the release of dpscope that it is named for:
#
#   sh make.sh /path/to/dpscope
#
# They are kept as they are for good; every later version must go on verifying
# them (docs/compatibility.md). Run this only to see how they were made. Made again
# by the same release, a report has the same counts, bounds and words. What differs:
# the times in "timing"; the counts in reports of mechanisms that take no seed
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
# relation.
audit pair/outcomes -mechanism svt4 -epsilon 1 -samples 20000 -explore 4000 -trials 2 -seed 7
audit pair/histogram -mechanism laplace-mean-raw-denominator -learner histogram -samples 20000 -explore 4000 -trials 2 -seed 8
audit pair/mixed -mechanism svt3 -param m=4 -learner logistic -samples 5000 -trials 2 -seed 9
audit pair/random -mechanism gaussian-mean -relation replace -finder random -samples 5000 -trials 3 -seed 10
# What the page shows first.
audit page -mechanism svt4 -epsilon 1
# Every kind of claim.
audit pure-through-renyi -mechanism laplace-mean-raw-count -epsilon 1 -through-renyi 2 -samples 400 -trials 1
audit approximate -mechanism gaussian-mean-raw-count -samples 400 -explore 400 -trials 1
audit renyi -mechanism gaussian-mean-raw-count-renyi -samples 400 -trials 1
audit zcdp -mechanism laplace-mean -guarantee zcdp -samples 400 -trials 1
audit gaussian-dp -mechanism gaussian-mean -guarantee gaussian-dp -mu 0.4 -samples 400 -trials 1
# Bounds that hold at any time.
audit anytime-refuted -mechanism svt4 -epsilon 1 -samples 20000 -trials 1 -anytime
audit anytime-completed -mechanism svt1 -epsilon 1 -samples 1000 -trials 1 -anytime
audit anytime-renyi -mechanism gaussian-mean-renyi -samples 1000 -trials 1 -anytime
# A pair that was given, and learners.
audit pair-given -mechanism laplace-mean -samples 500 -pair '{"first":{"columns":1,"values":[1]},"second":{"columns":1,"values":[1,0]}}'
audit portfolio-plane -mechanism noisy-histogram -samples 400 -trials 1
audit network -mechanism svt5 -epsilon 1 -learner mlp -samples 500 -trials 1
# A mechanism without a seed: Google's library.
audit unseeded-google -mechanism google-laplace -samples 400 -trials 1
# Outputs that were recorded.
make recorded "-samples-file inputs/half.csv" audit -samples-file inputs/half.csv -epsilon 1
make recorded-anytime "-samples-file inputs/half.csv" audit -samples-file inputs/half.csv -guarantee zcdp -rho 0.5 -anytime
# Mechanisms of the user's.
make command "-exec 'python3 inputs/count_mechanism.py half'" audit -exec 'python3 inputs/count_mechanism.py half' -epsilon 1 -samples 2000 -explore 400 -trials 2 -learner histogram
make command-words "-exec 'python3 inputs/count_mechanism.py words'" audit -exec 'python3 inputs/count_mechanism.py words' -epsilon 1.2 -samples 1000 -trials 2 -rows 0:3
make unseeded-command "-exec 'python3 inputs/count_mechanism.py unseeded'" audit -exec 'python3 inputs/count_mechanism.py unseeded' -epsilon 2 -samples 400 -trials 2
make module "-wasm inputs/count.wasm" audit -wasm inputs/count.wasm -epsilon 1 -samples 1000 -trials 2 -seed 3
make module-symbols "-wasm inputs/count-c.wasm" audit -wasm inputs/count-c.wasm -domain 0:1,18:99 -integer -kind c1=symbol -epsilon 0.5 -samples 1000 -trials 2 -seed 3
# Canaries.
make canaries "" canaries -d 50 -epsilon 2 -n 100 -explore 40 -k 6 -seed 1
make canaries-replace "" canaries -d 50 -epsilon 1 -n 200 -k 5 -param noise=0.1 -relation replace
make canaries-intervals "" canaries -d 50 -epsilon 2 -n 120 -explore 40 -k 5 -m 7 -quantile .1 -interval wilson-2 -design orthogonal -param calibration=analytic
make canaries-vectors "-data inputs/vectors.csv" canaries -epsilon 2 -n 100 -explore 40 -k 3 -design tail-singular -tail 4 -data inputs/vectors.csv
make canaries-dp-sgd "" canaries -source dp-sgd -epsilon 2 -n 20 -k 4 -param model=linear -param steps=5
make canaries-dp-sgd-file "-data inputs/examples.csv" canaries -source dp-sgd -epsilon 2 -n 20 -k 3 -param model=linear -param steps=5 -data inputs/examples.csv
# One run.
make one-run "" one-run -epsilon 2 -m 300 -seed 1
make one-run-refuted "" one-run -epsilon 1 -m 600 -param noise=0.1
make one-run-pure "" one-run -epsilon 9 -delta 0 -m 200
make one-run-inconclusive "" one-run -epsilon 2 -m 60
make one-run-chosen "" one-run -epsilon 2 -m 400 -sides chosen
make one-run-in "" one-run -epsilon 2 -m 200 -sides in -guesses 40
make one-run-several "" one-run -epsilon 2 -m 200 -guesses 30,60,120 -gdp-guesses 50 -design sphere
make one-run-dp-sgd "-data inputs/examples.csv" one-run -source dp-sgd -epsilon 2 -m 60 -param steps=5 -param model=linear -data inputs/examples.csv
# Scores.
make scores "-data inputs/scores.csv" scores inputs/scores.csv -epsilon 1 -relation add-remove
make scores-replace "-data inputs/scores.csv" scores inputs/scores.csv -epsilon 1 -relation replace -method exact
make scores-gaussian "-data inputs/scores.csv" scores inputs/scores.csv -epsilon 1 -relation add-remove -method one-run-gdp -sides out
make scores-two-files "-data inputs/scores-in.csv -data inputs/scores-out.csv" scores inputs/scores-in.csv inputs/scores-out.csv -epsilon 3 -method paired-betting -seed 7 -guesses 10,20 -relation add-remove
make scores-matrix-replace "-data inputs/matrix-replace.csv" scores inputs/matrix-replace.csv -epsilon 2 -relation replace
make scores-matrix-add-remove "-data inputs/matrix-coins.csv" scores inputs/matrix-coins.csv -epsilon 2 -relation add-remove
make scores-matrix-refused "-data inputs/matrix-replace.csv" scores inputs/matrix-replace.csv -epsilon 2 -relation add-remove
# Plans.
make plan "-plan inputs/plan.json" audit -plan inputs/plan.json
make plan-built-in "" audit -plan inputs/plan-built-in.json
make plan-only "-plan inputs/plan.json" audit -plan inputs/plan.json -only module
# Runs that did not complete. Those without counts are refused, alone; in a plan the rest of them is checked.
stop stopped-exploring 1 audit -mechanism svt4 -epsilon 1 -samples 1000000 -explore 1000000 -trials 100
stop stopped-certifying .7 audit -mechanism svt4 -epsilon 1 -samples 1000000000 -explore 400 -learner outcome-table -trials 1
stop stopped-anytime .5 audit -mechanism svt1 -epsilon 1 -samples 1000000000 -explore 400 -learner outcome-table -trials 1 -anytime
stop stopped-canaries 1 canaries -d 20000 -epsilon 2 -n 60000 -explore 100 -k 4
stop stopped-canaries-exploring .5 canaries -d 2000 -epsilon 2 -n 1000 -explore 600000 -k 4
make failed-command "-exec 'python3 inputs/failing.py'" audit -exec 'python3 inputs/failing.py' -epsilon 1 -samples 5000 -explore 400 -trials 1 -workers 1 -learner histogram
make failed-plan "-plan inputs/plan-failing.json" audit -plan inputs/plan-failing.json
stop stopped-plan 1 audit -plan inputs/plan-long.json
