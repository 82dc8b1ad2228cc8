#!/usr/bin/env bash
# Builds, serves and tests dpscope. Works from any folder; needs Go, and for
# the tests Chromium and Node, which it installs where it can.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
	cat <<'END'
Usage: ./build.sh COMMAND

  build           make the site in dist/, with sizes; fails over budget
  zip             build, and pack the site into dpscope-site.zip, which runs from
                  any folder of any static server
  serve [flags]   build, then serve it on 127.0.0.1 (flags: see dpscope serve -h)
  test            all tests: formatting, vet, Go, WebAssembly in Node, browser
  fuzz [SECONDS]  run every fuzz test, this long each (default 600)
  help            this text
END
}

say() { printf '\n== %s\n' "$*"; }

die() {
	printf 'build.sh: %s\n' "$*" >&2
	exit 1
}

need_go() {
	command -v go >/dev/null || die "no go command found; install Go 1.26 or later from https://go.dev/dl/"
}

build() {
	need_go
	go run ./site/build -out dist "$@"
}

# What a test of the site needs from the system: commands, and the Debian
# packages that bring them.
need_system() {
	local packages=()
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
		packages+=(chromium)
	command -v node >/dev/null || packages+=(nodejs)
	((${#packages[@]})) || return 0
	local missing="the tests need ${packages[*]}, which cannot be installed here"
	command -v apt-get >/dev/null || die "$missing (no apt-get); install it by hand"
	local root=()
	if [[ $(id -u) != 0 ]]; then
		command -v sudo >/dev/null || die "$missing (neither root nor sudo); install it by hand"
		root=(sudo)
	fi
	say "installing ${packages[*]}"
	"${root[@]}" apt-get update
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

# Runs every fuzz test of the module for so many seconds, with further flags of
# internal/fuzzgear, which fails when one hardly tried anything.
run_fuzz() {
	need_go
	[[ $1 =~ ^[1-9][0-9]*$ ]] || die "fuzz takes a whole number of seconds, not $1"
	go run ./internal/fuzzgear -time "${1}s" "${@:2}"
}

run_tests() {
	need_go
	need_system

	say "gofmt"
	local unformatted
	unformatted=$(gofmt -l .)
	[[ -z $unformatted ]] || die "not formatted: ${unformatted//$'\n'/ }; run gofmt -w on them"

	local pure=(./audit/... ./stream/... ./mechanisms ./mechanisms/recorded/... ./mechanisms/google ./finders ./estimators ./bounds/... ./accounting ./core/...)
	say "go vet, for the host and for the browser"
	go vet ./...
	GOOS=js GOARCH=wasm go vet "${pure[@]}" ./wasm/...
	GOOS=js GOARCH=wasm go vet -tags coreall ./wasm/...
	GOOS=js GOARCH=wasm go vet -tags coreall,google ./wasm/... 

	say "build"
	build

	local packages
	mapfile -t packages < <(go list ./... | grep -v '/e2e$')
	say "tests"
	go test -timeout 20m "${packages[@]}"

	say "browser tests; beside them the core's tests as WebAssembly in Node, and fuzzing"
	local log beside failed=0
	log=$(mktemp)
	trap 'kill 0' INT TERM # a job in the background hears no Ctrl-C
	(
		# The runtime has room for 12 KB of environment, so it gets what it needs.
		renice -n 10 "$BASHPID" >/dev/null # the browser's tests wait for pictures and answers
		GOOS=js GOARCH=wasm go test -timeout 30m \
			-exec "env -i PATH=$PATH HOME=$HOME $(go env GOROOT)/lib/wasm/go_js_wasm_exec" "${pure[@]}" 
		run_fuzz 10 -parallel 1 -fresh
	) >"$log" 2>&1 &
	beside=$!
	DPSCOPE_DIST=$PWD/dist go test -count=1 -timeout 30m ./e2e || failed=1
	wait "$beside" || failed=1
	say "WebAssembly in Node, and fuzzing"
	cat "$log"
	rm -f "$log"
	((failed == 0)) || die "tests failed"

	say "all tests passed"
}

case "${1:-help}" in
build)
	shift
	(($# == 0)) || die "build takes no arguments"
	build
	;;
zip)
	shift
	(($# == 0)) || die "zip takes no arguments"
	build -zip dpscope-site.zip
	;;
serve)
	shift
	build -plain
	go build -o bin/dpscope ./cmd/dpscope
	exec bin/dpscope serve "$@"
	;;
test)
	shift
	(($# == 0)) || die "test takes no arguments"
	run_tests
	;;
fuzz)
	shift
	(($# <= 1)) || die "fuzz takes one argument at most, the seconds"
	run_fuzz "${1:-600}"
	;;
help | -h | --help)
	usage
	;;
*)
	usage >&2
	die "no such command: $1"
	;;
esac
