#!/bin/sh
# Tells the compiler which way runs go: writes a profile for profile-guided optimisation to the file PROFILE.
# Usage: scripts/pgo.sh PROFILE; then RUSTFLAGS=-Cprofile-use=PROFILE cargo build --release
# The runs are those of `make digests`: scenarios of the studies, benchmarks and tests with all their mechanisms, so that no single one is favoured.
set -eu
profile=$1
folder=$(dirname "$profile")
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

tool="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/llvm-profdata"
if ! test -x "$tool" && command -v rustup >/dev/null; then
  rustup component add llvm-tools >&2 || true
fi
test -x "$tool" || { echo "error: found no $tool, expected Rust's component llvm-tools (rustup component add llvm-tools)" >&2; exit 1; }

counts="$folder/counts"
rm -rf "$counts"
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$counts" cargo build --release --quiet --target-dir "$folder" --package acklab-lab --example digests
"$folder/release/examples/digests" <crates/lab/examples/digests.tsv >/dev/null
"$tool" merge --output "$profile" "$counts"
rm -rf "$counts"
