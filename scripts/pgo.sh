#!/bin/sh
# Counts branches of runs for profile-guided optimisation: writes the counts of scripts/pgo_runs.py
# to the file PROFILE.
# Usage: scripts/pgo.sh PYTHON PROFILE; then RUSTFLAGS=-Cprofile-use=PROFILE cargo build --release
# PYTHON is an interpreter with the packages of requirements.txt.
set -eu
python=$1
profile=$2
folder=$(dirname "$profile")
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

tool="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata"
if ! test -x "$tool" && command -v rustup >/dev/null; then
  rustup component add llvm-tools >&2 || true
fi
test -x "$tool" || { echo "error: found no $tool, expected Rust's component llvm-tools (rustup component add llvm-tools); PGO=no does without" >&2; exit 1; }

counts="$folder/counts"
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$counts" cargo build --release --quiet --target-dir "$folder" --package acklab-py
# A separate copy of the package, so that the core in the environment is not replaced.
rm -rf "$counts" "$folder/package"
mkdir "$folder/package"
cp -r python/acklab "$folder/package/"
cp "$folder/release/lib_core.so" "$folder/package/acklab/_core.abi3.so"
PYTHONPATH="$folder/package" "$python" scripts/pgo_runs.py
"$tool" merge --output "$profile" "$counts"
rm -rf "$counts" "$folder/package"
