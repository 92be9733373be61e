#!/bin/sh
# Runs the fuzz targets under libFuzzer, on stable Rust: RUSTC_BOOTSTRAP allows cargo-fuzz the compiler flags that it needs.
# Usage: scripts/fuzz.sh [TARGET...]: all targets by default, each for FUZZ_SECONDS (600).
#        scripts/fuzz.sh minimise [TARGET...]: replaces fuzz/seeds by the inputs that the coverage of seeds and corpus needs.
# Inputs that are found go to fuzz/corpus, which is not committed, and findings to fuzz/artifacts.
set -eu
cd "$(dirname "$0")/.."
command -v cargo-fuzz >/dev/null || { echo "error: found no cargo-fuzz (cargo install cargo-fuzz)" >&2; exit 1; }
export RUSTC_BOOTSTRAP=1
seconds="${FUZZ_SECONDS:-600}"
mode=run
if [ "${1:-}" = minimise ]; then
    mode=minimise
    shift
fi
[ $# -gt 0 ] || set -- $(basename --suffix .rs --multiple fuzz/fuzz_targets/*.rs)

for target; do
    # The longest input, and how many seconds one may take before it counts as a finding.
    case "$target" in
        dot11_decode | tack_decode) options="-max_len=256 -timeout=2" ;;
        ip_packet | tcp_decode | udp_decode) options="-max_len=160 -timeout=2" ;;
        scenario) options="-max_len=2048 -timeout=20 -dict=fuzz/scenario.dict" ;;
        wifi_cell) options="-max_len=4096 -timeout=20" ;;
        *) options="-max_len=4096 -timeout=10" ;;
    esac
    corpus="fuzz/corpus/$target"
    seeds="fuzz/seeds/$target"
    mkdir -p "$corpus" "$seeds"
    if [ "$mode" = minimise ]; then
        small=$(mktemp -d)
        # shellcheck disable=SC2086
        cargo fuzz run "$target" "$small" "$seeds" "$corpus" -- $options -set_cover_merge=1
        rm -f "$seeds"/*
        cp "$small"/* "$seeds"
        rm -r "$small"
    else
        # shellcheck disable=SC2086
        cargo fuzz run "$target" "$corpus" "$seeds" -- $options -max_total_time="$seconds" -print_final_stats=1
    fi
done
