#!/bin/sh
# Profiles a run: instructions by function, counted by callgrind, and so independent of the load of
# the machine.
# Usage: scripts/profile.sh [0|1|2]. The number selects the scenario of the benchmark (default: 0).
set -eu
command -v valgrind >/dev/null || { echo "error: found no valgrind, expected Debian's package valgrind" >&2; exit 1; }
only="${1:-0}"
binary=$(cargo bench --package acklab-lab --bench cost --no-run --message-format=json --quiet |
    sed -n 's/.*"executable":"\([^"]*cost-[^"]*\)".*/\1/p' | tail -n 1)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$out" "$binary" --only "$only" >/dev/null 2>&1
callgrind_annotate "$out" | sed -n '/^Ir/,$p' | grep -v '^--*$' | sed 's/ \[[^]]*\]$//' | cut -c 1-140 | head -n 30
