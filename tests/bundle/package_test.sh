#!/usr/bin/env bash
# usage: package_test.sh: judges deploy/version.sh and what deploy/package.sh packs, on programs that only say
# their names: the wheel is what pip takes and gives its commands back, the Debian package has what its units
# name, a worker without CUDA support is refused, and the same input gives the same bytes. Seconds. Exit
# status 77, with the reason, where a tool is missing.
set -euo pipefail
source_root=$(cd "$(dirname "$0")/../.." && pwd)
for tool in patchelf dpkg-deb objdump cc git bwrap; do
  command -v $tool >/dev/null || { echo "SKIPPED: $tool is not installed"; exit 77; }
done
python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "SKIPPED: python3-venv is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
passed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }

# ---- the version
tree=$work/tree
mkdir -p "$tree/deploy"
cp "$source_root/deploy/version.sh" "$tree/deploy/"
echo 'project(ksearch VERSION 0.4.0 LANGUAGES C CXX)' >"$tree/CMakeLists.txt"
says() {  # says <pattern> <when>
  local version
  version=$("$tree/deploy/version.sh")
  [[ $version =~ ^$1$ ]] || fail "the version $2 is $version"
}
git_there() { git -C "$tree" -c user.name=t -c user.email=t@localhost -c init.defaultBranch=main "$@" >/dev/null; }
says '0\.4\.0' "of an unpacked archive"
git_there init
git_there add -A
git_there commit -m one
says '0\.4\.0\.dev0\+g[0-9a-f]{7}' "before any tag"
git_there tag v1.2.0
says '1\.2\.0' "of a tagged commit"
echo >>"$tree/CMakeLists.txt"
says '1\.2\.0\.post0\+g[0-9a-f]{7,}\.dirty' "of a changed tree"
git_there commit -am two
git_there tag unrelated
says '1\.2\.0\.post1\+g[0-9a-f]{7,}' "after a tag"
mkdir "$tree/inner" && cp -r "$tree/deploy" "$tree/CMakeLists.txt" "$tree/inner/"
[ "$("$tree/inner/deploy/version.sh")" = 0.4.0 ] || fail "an archive inside another project takes its version"
ok "the version comes from the tags, with a fallback"

# ---- programs
cat >"$work/program.c" <<'C'
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#ifdef KIND_with
const char used[] = "cuDriverGetVersion";
#else
const char used[] = "";
#endif
int main(int argc, char** argv) {
  printf("%s 1.2.0.post1+g0123abc%s", basename(argv[0]), argc > 1 && strlen(used) > 99 ? used : "");
  for (int i = 1; i < argc; ++i) printf(" %s", argv[i]);
  puts("");
  return argc > 1 && strcmp(argv[1], "7") == 0 ? 7 : 0;
}
C
for kind in with without; do
  mkdir -p "$work/$kind/trace_task"
  cc "-DKIND_$kind" -o "$work/$kind/ksearch" "$work/program.c"
  for name in ksearch-coordinator ksearch-autoscaler ksearch-worker ksearch-verifier ksearch-runner ksearch-model-server; do
    cp "$work/$kind/ksearch" "$work/$kind/$name"
  done
  echo "print()" >"$work/$kind/trace_task/__main__.py"
done
package() {  # package <programs> <out> [arguments]
  local programs=$1 to=$2
  shift 2
  SOURCE_DATE_EPOCH=1700000000 "$source_root/deploy/package.sh" --skip-build --without-python --programs "$programs" \
    --out "$to" "$@" 2>"$work/log"
}
if package "$work/without" "$work/refused"; then fail "a worker without CUDA support is packed"; fi
grep -q 'built without CUDA support.*--without-cuda' "$work/log" || fail "why it is refused: $(cat "$work/log")"
ls "$work"/refused/* >/dev/null 2>&1 && fail "something was packed all the same"
package "$work/without" "$work/allowed" wheel --without-cuda >/dev/null || fail "--without-cuda: $(cat "$work/log")"
ok "a worker without CUDA support is packed only when told so"

package "$work/with" "$work/first" >"$work/paths" || fail "$(cat "$work/log")"
[ "$(wc -l <"$work/paths")" = 3 ] || fail "packages: $(cat "$work/paths")"
package "$work/with" "$work/second" wheel deb >/dev/null || fail "$(cat "$work/log")"
for file in "$work"/second/*; do
  cmp "$file" "$work/first/${file##*/}" || fail "${file##*/} is not the same the second time"
done
ok "the same input gives the same bytes"

# ---- the wheel
wheel=$(grep '\.whl$' "$work/paths")
[[ ${wheel##*/} =~ ^ksearch-1\.2\.0\.post1\+g0123abc-py3-none-manylinux_2_[0-9]+_x86_64\.whl$ ]] || fail "it is called $wheel"
python3 -m venv "$work/env"
pip() { "$work/env/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install --quiet --no-index "$wheel" || fail "pip does not take the wheel"
for name in ksearch ksearch-coordinator ksearch-autoscaler ksearch-worker ksearch-model-server; do
  [ "$("$work/env/bin/$name" 'a b')" = "$name 1.2.0.post1+g0123abc a b" ] || fail "$name does not start"
done
status=0
"$work/env/bin/ksearch" 7 >/dev/null || status=$?
[ $status = 7 ] || fail "an exit code becomes $status"
programs=$("$work/env/bin/python" -c 'import ksearch_programs, os; print(os.path.dirname(ksearch_programs.__file__))')
grep -q ^bubblewrap <<<"$("$programs/bin/bwrap" --version)" || fail "bubblewrap does not start"
libraries=$(ldd "$programs/bin/bwrap")
grep -qE "$programs/(bin/../)?lib/" <<<"$libraries" ||
  fail "bubblewrap does not take the libraries beside it: $libraries"
[ -f "$programs/configs/tasks/cpu/softmax_rows_f32/definition.json" ] || fail "the tasks are not there"
[ -n "$(ls "$programs/configs/prices")" ] || fail "the prices are not there"
for package in node-d3-scale libgrpc-dev libsqlite3-dev bubblewrap; do
  [ -s "$programs/licenses/$package" ] || fail "the notice of $package is not there"
done
pip check >/dev/null || fail "pip check"
grep -qF "pip install 'ksearch[client]'" <<<"$("$work/env/bin/python" -c 'import ksearch' 2>&1 || true)" ||
  fail "the client does not say what it needs"
[ -s "${programs%_programs}/_protos.binpb" ] || fail "the client has no descriptors"
pip uninstall --quiet --yes ksearch
[ -z "$(find "$work/env" -path '*ksearch_programs*' -type f ! -name '*.pyc')" ] || fail "pip uninstall leaves files"
ok "pip installs the wheel, its commands start, and pip removes it"

# ---- the Debian package
deb=$(grep '\.deb$' "$work/paths")
[ "$(dpkg-deb -f "$deb" Version)" = 1.2.0+post1.g0123abc ] || fail "version $(dpkg-deb -f "$deb" Version)"
dpkg --compare-versions '0.4.0~dev0.g0123abc' lt 0.4.0 || fail "order of versions"
depends=$(dpkg-deb -f "$deb" Depends)
grep -qE '^libc6 \(>= 2\.[0-9]+\)$' <<<"$depends" || fail "depends on $depends"
owners=$(dpkg-deb -c "$deb" | awk '{print $2}' | sort -u)
[ "$owners" = root/root ] || fail "files of others than root: $owners"
mkdir "$work/root" && dpkg-deb -x "$deb" "$work/root"
for unit in coordinator worker; do
  file=$work/root/usr/lib/systemd/system/ksearch-$unit.service
  grep -oE '/(usr|etc)/[A-Za-z0-9_./-]*ksearch[A-Za-z0-9_./-]*' "$file" | while read -r path; do
    [ "$path" = /etc/ksearch/keys.env ] || [ -e "$work/root$path" ] || fail "$file names $path"
  done
  grep -q "/etc/ksearch/$unit.textproto" "$file" || fail "$file does not take its configuration"
done
for name in ksearch ksearch-coordinator ksearch-autoscaler ksearch-worker ksearch-model-server; do
  [ -x "$work/root/usr/lib/ksearch/bin/$(basename "$(readlink "$work/root/usr/bin/$name")")" ] || fail "/usr/bin/$name"
done
for script in postinst prerm postrm; do
  dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./$script | sh -n || fail "$script"
done
ok "the Debian package has what its units and links name"
echo "$passed passed, 0 failed"
