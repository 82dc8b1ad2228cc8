#!/bin/sh
# An audit in shares, one after the other: sh loop.sh FOLDER SHARES dpscope audit FLAGS
# Run it again after a failure: shares that are there are not drawn again.
set -eu
parts=$1 shares=$2
shift 2
mkdir -p "$parts"
test -e "$parts/search" || "$@" -search-only -partial "$parts/search"
i=0
while test "$i" -lt "$shares"; do
  test -e "$parts/$i" || "$@" -after "$parts/search" -shards "$i/$shares" -partial "$parts/$i"
  i=$((i + 1))
done
exec "$1" merge "$parts" -o "$parts.json"
