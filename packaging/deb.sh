#!/bin/sh
# Makes a Debian package from a wheel: packaging/deb.sh WHEEL [FOLDER]
# Libraries of acklab are installed from the package index into /usr/lib/acklab, because Debian does
# not have all of them.
set -eu
wheel=$1
folder=${2:-out/packages}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# Of the Python that will run it: compiled libraries are for one version.
python=${PYTHON:-/usr/bin/python3}
minor=$("$python" -c 'import sys; print(sys.version_info.minor)')
version=$(basename "$wheel" | cut -d- -f2)
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

mkdir -p "$root/DEBIAN" "$root/usr/lib/acklab" "$root/usr/bin" "$root/lib/systemd/system" "$root/etc/default" "$folder"
"$python" -m pip install --quiet --disable-pip-version-check --no-compile --target "$root/usr/lib/acklab" "$wheel"
rm -rf "$root/usr/lib/acklab/bin"
install -m 755 "$here/acklab" "$root/usr/bin/acklab"
install -m 644 "$here/acklab-inline.service" "$root/lib/systemd/system/acklab-inline.service"
install -m 644 "$here/acklab-inline.default" "$root/etc/default/acklab-inline"
echo /etc/default/acklab-inline > "$root/DEBIAN/conffiles"
cat > "$root/DEBIAN/control" <<CONTROL
Package: acklab
Version: $version
Architecture: $architecture
Maintainer: acklab developers <acklab@localhost>
Depends: python3 (>= 3.$minor), python3 (<< 3.$((minor + 1))), iproute2
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Section: net
Priority: optional
Description: laboratory for the acknowledgements of transport protocols
 Simulates, emulates and deploys transports whose receivers thin ACKs, and puts
 ACK filters and other boxes of a path between two interfaces (acklab inline).
 The service acklab-inline is not enabled by itself: /etc/default/acklab-inline
 names the interfaces.
CONTROL
dpkg-deb --root-owner-group --build -Zxz "$root" "$folder/acklab_${version}_${architecture}.deb"
