#!/usr/bin/env bash
# Builds, serves and tests dpscope. Works from any folder; needs Go, and for
# the tests Chromium, Node and npm, which it installs where it can.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
	cat <<'END'
Usage: ./build.sh COMMAND

  build           make the site in dist/, with sizes; fails over budget
  zip             build, and pack the site into dpscope-site.zip, which runs from
                  any folder of any static server
  wheel           write the Python package as wheels into dist/wheels, one for each
                  platform with its binary inside
  edge            build, and write the Worker of a host of reports into
                  host/edge/build, for npx wrangler deploy in host/edge/
  serve [-addr A] build uncompressed and serve on 127.0.0.1; the page is there first,
                  and says that the core is being built until it is
  test            what every change must pass: formatting, vet, staticcheck, Go, the
                  same bits as WebAssembly in Node, browser; minutes on two cores
  test-all        all of that at full size: long studies of error and power, every
                  test in Node too, the site's sizes, Firefox and WebKit, fuzzing;
                  about an hour
  fuzz [SECONDS]  run every fuzz test, this long each (default 600)
  help            this text
END
}

stages=() # what was said, and when
say() {
	printf '\n== %s\n' "$*"
	stages+=("$SECONDS $*")
}

# Prints how long each stage took.
say_stages() {
	local i next
	for i in "${!stages[@]}"; do
		next=${stages[i + 1]:-$SECONDS}
		printf '%5d s  %s\n' "$((${next%% *} - ${stages[i]%% *}))" "${stages[i]#* }"
	done
}

die() {
	printf 'build.sh: %s\n' "$*" >&2
	exit 1
}

need_go() {
	command -v go >/dev/null || die "no go command found; install Go 1.26 or later from https://go.dev/dl/"
}

# Compiles the program that builds the site, and says every eight seconds that it
# still does.
compile_builder() {
	need_go
	local begun=$SECONDS next=8 builder
	printf 'Compiling the program that builds the site…\n'
	go build -o bin/site ./site/build &
	builder=$!
	while kill -0 "$builder" 2>/dev/null; do
		sleep 0.2
		if ((SECONDS - begun >= next)); then
			printf 'Compiling the program that builds the site: %d s so far\n' "$((SECONDS - begun))"
			next=$((SECONDS - begun + 8))
		fi
	done
	wait "$builder"
}

build() {
	code_packages
	compile_builder
	bin/site -out dist "$@"
}

# Makes the Worker in host/edge/build, beside first: the library's tool deletes its target.
edge() {
	need_go
	[[ -f dist/build-info.json ]] || build
	local at=host/edge new=host/edge/build.new
	rm -rf "$new" "$at/site"
	go tool workers-assets-gen -mode=go -o "$new"
	GOOS=js GOARCH=wasm go build -trimpath -ldflags='-s -w' -o "$new/app.wasm" ./host/edge
	printf 'export default "%.12s";\n' "$(sha256sum "$new/app.wasm")" >"$new/version.mjs"
	rm -rf "$at/build"
	mv "$new" "$at/build"
	mkdir "$at/site"
	tar -C dist --exclude='*.br' --exclude='*.gz' -cf - . | tar -C "$at/site" -xf -
	cp "$at/_headers" "$at/site/_headers"
	printf 'The Worker: %d bytes of gzip. Deploy it: cd host/edge && npm ci --ignore-scripts && npx wrangler deploy\n' "$(gzip -9 -c "$at/build/app.wasm" | wc -c)"
}

# Installs the packages of npm that the lock file of a folder pins, where they are not there.
packages_of() {
	local lock=$1/package-lock.json there=$1/node_modules/.installed
	cmp -s "$lock" "$there" && return
	printf 'Installing packages of npm in %s…\n' "$1"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000 --loglevel=error >/dev/null) || return
	cp "$lock" "$there"
}

# Installs the editor of "Your code" and what runs Python there. Where it cannot, the site
# is built without them.
code_packages() {
	local without='the site is built without the editor and without Python: "Your code" has a text field and JavaScript'
	if ! command -v npm >/dev/null; then
		printf 'npm is missing, so %s.\n' "$without"
	elif ! packages_of site/code; then
		rm -rf site/code/node_modules # half of them would be refused
		printf 'npm could not install packages, so %s.\n' "$without"
	else
		numpy_wheel
	fi
}

# Fetches numpy as Pyodide's list pins it, once. Where it cannot, Python runs without numpy.
numpy_wheel() {
	(cd site/code && node --input-type=module) <<'EOF'
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
const read = (name) => JSON.parse(readFileSync(`node_modules/pyodide/${name}`)), { file_name, sha256 } = read("pyodide-lock.json").packages.numpy;
const to = `node_modules/.wheels/${file_name}`, from = `https://cdn.jsdelivr.net/pyodide/v${read("package.json").version}/full/${file_name}`;
if (!existsSync(to)) try {
  const answer = await fetch(from, { signal: AbortSignal.timeout(60000) }), wheel = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
  if (createHash("sha256").update(wheel).digest("hex") !== sha256) throw new Error("its SHA-256 is not that of pyodide-lock.json");
  mkdirSync("node_modules/.wheels", { recursive: true });
  writeFileSync(to, wheel);
} catch (error) {
  console.log(`numpy could not be fetched, so Python runs without it: ${from}: ${error.cause?.message ?? error.message}.`);
}
EOF
}

# What a test of the site needs from the system: commands, and the Debian
# packages that bring them.
need_system() {
	local packages=()
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
		packages+=(chromium)
	command -v node >/dev/null || packages+=(nodejs)
	command -v npm >/dev/null || packages+=(npm) # installs the compiler that checks types, site/types, and the editor, site/code
	if [[ -n ${DPSCOPE_TEST_ALL:-} ]]; then # what makes pages with the element in them, and other browsers
		command -v firefox-esr >/dev/null || packages+=(firefox-esr)
		command -v WebKitWebDriver >/dev/null || packages+=(webkit2gtk-driver)
		command -v Xvfb >/dev/null || packages+=(xvfb) # WebKitGTK draws on a screen
		command -v sphinx-build >/dev/null || packages+=(python3-sphinx)
		command -v mkdocs >/dev/null || packages+=(mkdocs)
		/usr/bin/python3 -c 'import ensurepip, pip, numpy, pytest, hypothesis, mypy' 2>/dev/null || # the Python package and its tests
			packages+=(python3-venv python3-pip python3-numpy python3-pytest python3-hypothesis mypy)
		/usr/bin/python3 -c 'import notebook, ipykernel, ipywidgets' 2>/dev/null || # the instrument in a notebook
			packages+=(jupyter-notebook python3-ipywidgets)
	fi
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
	if apt-cache show chromium-headless-shell >/dev/null 2>&1; then # takes less time and space
		packages=("${packages[@]/%chromium/chromium-headless-shell}")
	fi
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

# Runs every fuzz test of the module for so many seconds, with further flags of go test.
# One that hardly tries anything fails; an input that reaches new code is minimised by one
# try, and not for up to a minute. Each input of dptest is an audit, which has a false alarm,
# and no parser.
run_fuzz() {
	need_go
	[[ $1 =~ ^[1-9][0-9]*$ ]] || die "fuzz takes a whole number of seconds, not $1"
	local package name said tried failed=()
	for package in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs dirname | sort -u | grep -v '^./dptest$'); do
		for name in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
			say "$name of $package, $1 s"
			said=$(go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "${1}s" -fuzzminimizetime 1x "${@:2}" 2>&1) || failed+=("$name of $package")
			printf '%s\n' "$said"
			tried=$(sed -n 's/.*, execs: \([0-9]*\) .*/\1/p' <<<"$said" | tail -n 1)
			((${tried:-0} >= 1000)) || failed+=("$name of $package, which tried ${tried:-0} inputs of at least 1000")
		done
	done
	((${#failed[@]} == 0)) || die "fuzz tests failed: $(printf '%s; ' "${failed[@]}")"
}

# What decides counts, and what follows from them: it runs in the browser too.
pure=(./audit/... ./mechanisms ./mechanisms/recorded/... ./mechanisms/google ./mechanisms/source ./estimators ./bounds/... ./core/...)

check_sources() {
	say "go vet, for the host and for the browser"
	go vet ./...
	GOOS=js GOARCH=wasm go vet "${pure[@]}" ./wasm/... ./host/edge

	say "staticcheck"
	GOBIN=$PWD/bin go install "honnef.co/go/tools/cmd/staticcheck@$staticcheck"
	bin/staticcheck ./...
	GOOS=js GOARCH=wasm bin/staticcheck ./wasm/... ./host/edge
}

# A tool of the tests and no dependency of the module, whose users would inherit it.
staticcheck=v0.8.2

# Runs tests of packages as WebAssembly in Node. The runtime has room for 12 KB of
# environment, so it gets what it needs.
in_node() {
	GOOS=js GOARCH=wasm go test -timeout 60m \
		-exec "env -i PATH=$PATH HOME=$HOME ${DPSCOPE_TEST_ALL:+DPSCOPE_TEST_ALL=1} $(go env GOROOT)/lib/wasm/go_js_wasm_exec" "$@"
}

# In Node, what says that the same bits come out there: the packages that have such
# tests, and of those packages these tests only.
same_bits() {
	local packages
	mapfile -t packages < <(grep -rl --include='*_test.go' '^func TestSameBits' . | xargs dirname | sort -u)
	in_node -run '^TestSameBits' "${packages[@]}"
}

go_tests() {
	local packages
	mapfile -t packages < <(go list ./... | grep -v '/site/e2e$')
	DPSCOPE_TYPES=1 go test -json -timeout 60m "${packages[@]}" | bin/timings
}

# Tests of the size that DPSCOPE_TEST_ALL chooses (see internal/testsize).
run_tests() {
	need_go
	need_system
	packages_of site/code && packages_of site/types || die "the tests need these packages of npm"
	say "sizes"
	local large
	large=$(git ls-files -z 2>/dev/null | xargs -0 -r stat -c '%s %n' 2>/dev/null | awk '$1 > 200000 { print $2 }')
	[[ -z $large ]] || die "too large for source: ${large//$'\n'/ }; what a build makes does not belong in git"
	say "gofmt"
	local unformatted
	unformatted=$(gofmt -l .)
	[[ -z $unformatted ]] || die "not formatted: ${unformatted//$'\n'/ }; run gofmt -w on them"

	local log beside failed=0 flags=() node=all_beside
	site=dist # not local: the trap needs it
	if [[ -z ${DPSCOPE_TEST_ALL:-} ]]; then
		node=same_bits
		flags=(-plain)
		site=$(mktemp -d) # dist/ is kept for what is built to be published
		trap 'rm -rf "$site"' EXIT
	fi
	say "build"
	go run ./site/build -out "$site" "${flags[@]}"

	if [[ -n ${DPSCOPE_TEST_ALL:-} ]]; then
		say "the Worker at the edge"
		(cd host/edge && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
		edge
		say "audits on Apache Beam"
		(cd beam && export GOWORK=off && go vet . && go test -count=1 .)
	fi

	say "tests"
	go build -o bin/timings ./internal/timings
	go_tests

	say "browser tests, and beside them go vet, staticcheck and WebAssembly in Node"
	log=$(mktemp)
	trap 'kill 0' INT TERM # a job in the background hears no Ctrl-C
	(
		renice -n 10 "$BASHPID" >/dev/null # the browser's tests wait for pictures and answers
		check_sources
		say "WebAssembly in Node"
		"$node"
	) >"$log" 2>&1 &
	beside=$!
	DPSCOPE_DIST=$(realpath "$site") go test -json -count=1 -timeout 60m ./site/e2e | bin/timings || failed=1
	wait "$beside" || failed=1
	cat "$log"
	rm -f "$log"
	((failed == 0)) || die "tests failed"

	say "all tests passed, in $SECONDS s"
	say_stages
}

# What only the long run has time for beside the browser.
all_beside() {
	in_node "${pure[@]}"
	local corpus # of its own, as a short run would only try again what earlier ones found
	corpus=$(mktemp -d)
	run_fuzz 60 -parallel 1 -args -test.fuzzcachedir="$corpus"
	rm -rf "$corpus"
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
wheel)
	shift
	compile_builder
	bin/site -plain -out dist/wheel-site # for notebooks; a wheel compresses it
	go run ./python/wheel -site dist/wheel-site "$@"
	;;
edge)
	shift
	(($# == 0)) || die "edge takes no arguments"
	edge
	;;
serve)
	shift
	code_packages
	compile_builder
	exec bin/site -serve -out dist "$@"
	;;
test)
	shift
	(($# == 0)) || die "test takes no arguments"
	DPSCOPE_TEST_ALL='' run_tests
	;;
test-all)
	shift
	(($# == 0)) || die "test-all takes no arguments"
	export DPSCOPE_TEST_ALL=1
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
