#!/usr/bin/env bash
# usage: make_deb.sh BUNDLE VERSION GLIBC OUT: makes a Debian package of an unpacked bundle with a
# coordinator: everything in /usr/lib/ksearch, the commands in /usr/bin, two systemd units, their
# configurations in /etc/ksearch. GLIBC is the C library version that the programs need, e.g. 2.35. The
# same input gives the same bytes, with SOURCE_DATE_EPOCH. Prints the package's path.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=${1:?usage: make_deb.sh BUNDLE VERSION GLIBC OUT}
# 0.1.0~dev0 before a release, 1.2.0+post3 after it, so that Debian orders the versions correctly.
version=$(echo "${2:?a version}" | sed 's/+/./g; s/\.dev/~dev/; s/\.post/+post/')
glibc=${3:?a version of the C library}
out=${4:?a folder}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root"/{DEBIAN,etc/ksearch,usr/bin,usr/lib/ksearch,usr/lib/systemd/system} \
  "$root/usr/share/doc/ksearch"
cp -r "$bundle"/{bin,lib,configs} "$root/usr/lib/ksearch/"
rm -f "$root"/usr/lib/ksearch/configs/*.textproto
for program in ksearch ksearch-coordinator ksearch-autoscaler ksearch-worker ksearch-model-server; do
  ln -s "../lib/ksearch/bin/$program" "$root/usr/bin/$program"
done

# The bundle's units, with a package's paths. The worker measures on CPUs until its configuration says
# otherwise.
cp "$bundle/configs/coordinator.textproto" "$root/etc/ksearch/coordinator.textproto"
sed 's/^# coordinator_address:/coordinator_address:/' "$bundle/configs/worker_cpu.textproto" \
  >"$root/etc/ksearch/worker.textproto"
grep -q '^coordinator_address:' "$root/etc/ksearch/worker.textproto"
cp "$bundle"/configs/{autoscaler,coordinator_*,worker_*}.textproto "$root/usr/share/doc/ksearch/"
for unit in ksearch-coordinator ksearch-worker; do
  sed -e 's# --coordinator coordinator.example:7400##' \
    -e 's#/opt/ksearch/configs/coordinator\.textproto#/etc/ksearch/coordinator.textproto#' \
    -e 's#/opt/ksearch/configs/worker_h200\.textproto#/etc/ksearch/worker.textproto#' \
    -e 's#/opt/ksearch/#/usr/lib/ksearch/#' \
    -e '/^#.*Copy to/d; /^# coordinator.s address, then/d; /^# systemctl daemon-reload/d' \
    "$bundle/systemd/$unit.service" >"$root/usr/lib/systemd/system/$unit.service"
done
if grep -l /opt/ksearch "$root"/usr/lib/systemd/system/* >&2; then
  echo "make_deb.sh: a unit names a place that the package does not have" >&2
  exit 1
fi
# postinst installs it if AppArmor supports its format.
sed -e 's#/opt/ksearch/#/usr/lib/ksearch/#' -e '/^#/d' "$bundle/apparmor/ksearch-bwrap" \
  >"$root/usr/lib/ksearch/apparmor-ksearch-bwrap"
{
  cat "$bundle/LICENSE"
  for notice in "$bundle"/licenses/*; do
    printf '\n\n==== %s, of which this package has a copy\n\n' "${notice##*/}"
    cat "$notice"
  done
} >"$root/usr/share/doc/ksearch/copyright"
gzip -9n <"$bundle/CHANGELOG.md" >"$root/usr/share/doc/ksearch/changelog.gz"
# ksearch completion prints what a shell asks for; these two load it by themselves.
mkdir -p "$root/usr/share/bash-completion/completions" "$root/usr/share/fish/vendor_completions.d"
"$bundle/bin/ksearch" completion bash >"$root/usr/share/bash-completion/completions/ksearch"
"$bundle/bin/ksearch" completion fish >"$root/usr/share/fish/vendor_completions.d/ksearch.fish"

(cd "$root" && find etc -type f | sed 's#^#/#' | LC_ALL=C sort) >"$root/DEBIAN/conffiles"
install -m 755 "$here/debian/postinst" "$here/debian/prerm" "$here/debian/postrm" "$root/DEBIAN/"
cat >"$root/DEBIAN/control" <<CONTROL
Package: ksearch
Version: $version
Architecture: amd64
Maintainer: ksearch <ksearch@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f1)
Depends: libc6 (>= $glibc)
Recommends: g++, ca-certificates
Description: searches for faster compute kernels
 A language model plans and writes candidates; workers build, check and time
 each in a sandbox. A candidate becomes the best one only after a comparison
 with the one before, on fresh inputs.
 .
 This package has the command line, the coordinator, and the worker with the
 bubblewrap that it needs. Candidates in CUDA take NVIDIA's driver and toolkit.
CONTROL
chmod -R u+w,go-w,a+rX "$root"
find "$root" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
package=$out/ksearch_${version}_amd64.deb
dpkg-deb --root-owner-group -Zzstd --build "$root" "$package" >&2
echo "$package"
