#!/bin/sh
# Installs missing Debian packages as root; otherwise prints their names.
#   build  for building: a C linker, git (for the revision), venv
#   test   for tests: tshark reads captures, chromium opens reports, iperf3 and ping run on emulated
#          nodes, nft connects them to other networks
#   chaos  for `make chaos`: namespaces, losses, offloads, clocks that jump
set -eu

missing=""
need() { # need PACKAGE COMMAND…: the package is missing if the command fails
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

case "${1:-}" in
  build)
    need gcc sh -c 'command -v cc'
    need libc6-dev test -e /usr/include/stdio.h
    need git sh -c 'command -v git'
    need python3 sh -c 'command -v python3'
    need python3-venv sh -c 'python3 -c "import ensurepip, venv"'
    ;;
  test)
    need tshark sh -c 'command -v tshark'
    need chromium sh -c 'command -v chromium'
    need iperf3 sh -c 'command -v iperf3'
    need iputils-ping sh -c 'command -v ping'
    need nftables sh -c 'command -v nft'
    ;;
  chaos)
    need iproute2 sh -c 'command -v ip'
    need nftables sh -c 'command -v nft'
    need ethtool sh -c 'command -v ethtool'
    need libfaketime sh -c 'ls /usr/lib/*/faketime/libfaketimeMT.so.1'
    ;;
  *)
    echo "usage: $0 build|test|chaos" >&2
    exit 2
    ;;
esac

[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086 # a list of packages
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
elif [ "$1" != test ]; then
  echo "error: missing$missing; install them, for instance with: sudo apt-get install$missing" >&2
  exit 1
else
  echo "note: tests that need$missing are skipped" >&2
fi
