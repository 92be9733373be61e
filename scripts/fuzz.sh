#!/bin/sh
# Runs the fuzz targets under libFuzzer, on stable Rust: RUSTC_BOOTSTRAP permits the compiler flags
# that cargo-fuzz requires.
# Usage: scripts/fuzz.sh [TARGET...]: all targets by default, each for FUZZ_SECONDS (600).
#        scripts/fuzz.sh minimise [TARGET...]: adds inputs of the corpus that extend the coverage
#        to fuzz/seeds. Commit only a few of them.
# No sanitizer is needed, as there is no unsafe code; overflow checks and debug assertions are on.
# New inputs are stored in fuzz/corpus, which is not committed, and findings in fuzz/artifacts.
set -eu
cd "$(dirname "$0")/.."
command -v cargo-fuzz >/dev/null || { echo "error: found no cargo-fuzz (cargo install cargo-fuzz)" >&2; exit 1; }
export RUSTC_BOOTSTRAP=1
# cargo-fuzz always builds the release profile, which is the profile of wheels.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
seconds="${FUZZ_SECONDS:-600}"
mode=run
if [ "${1:-}" = minimise ]; then
    mode=minimise
    shift
fi
[ $# -gt 0 ] || set -- $(basename --suffix .rs --multiple fuzz/fuzz_targets/*.rs)

for target; do
    # Maximum bytes of an input, and maximum seconds per input; a slower input is a finding.
    case "$target" in
        dot11_decode | quic_decode | tack_decode) options="-max_len=256 -timeout=2" ;;
        ip_packet | tcp_decode | udp_decode) options="-max_len=160 -timeout=2" ;;
        tack_tools) options="-max_len=512 -timeout=2" ;;
        scenario) options="-max_len=2048 -timeout=20 -dict=fuzz/scenario.dict" ;;
        link_trace | identity) options="-max_len=4096 -timeout=2" ;;
        capture_file) options="-max_len=4096 -timeout=10" ;;
        qlog) options="-max_len=8192 -timeout=10 -dict=fuzz/qlog.dict" ;;
        packetdrill) options="-max_len=4096 -timeout=20 -dict=fuzz/packetdrill.dict" ;;
        wifi_cell) options="-max_len=4096 -timeout=20 -len_control=0" ;;
        *) options="-max_len=4096 -timeout=10 -len_control=0" ;;
    esac
    corpus="fuzz/corpus/$target"
    seeds="fuzz/seeds/$target"
    mkdir -p "$corpus" "$seeds"
    if [ "$mode" = minimise ]; then
        # shellcheck disable=SC2086
        cargo fuzz run --sanitizer none "$target" "$seeds" "$corpus" -- $options -set_cover_merge=1
    else
        # shellcheck disable=SC2086
        cargo fuzz run --sanitizer none "$target" "$corpus" "$seeds" -- $options -max_total_time="$seconds" -print_final_stats=1
    fi
done
