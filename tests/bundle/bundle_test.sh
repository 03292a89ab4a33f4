#!/usr/bin/env bash
# usage: bundle_test.sh ARCHIVE: tests a worker bundle as on a bare machine. In a root folder with
# only the C library, a shell and the archive's content, the programs start, bubblewrap finds its
# libraries, and the worker's self-test says what is missing.
set -euo pipefail
archive=$(realpath "${1:?usage: bundle_test.sh ARCHIVE}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fail() { echo "FAILED: $*" >&2; exit 1; }
passed=0
ok() { passed=$((passed + 1)); echo "ok: $*"; }

[ "$(stat -c %s "$archive")" -le $((40 << 20)) ] || fail "the archive is over 40 MiB"
ok "at most 40 MiB"

root=$work/root
mkdir -p "$root"/{opt,tmp,proc,dev,etc,usr/bin,usr/lib/x86_64-linux-gnu,usr/lib64}
ln -s usr/bin usr/lib usr/lib64 "$root"
mkdir -p "$work/bundle"
tar -C "$work/bundle" -xzf "$archive"
mv "$work"/bundle/* "$root/opt/ksearch"
bin=$root/opt/ksearch/bin

grep -qE '^CUDA support: (yes|no)$' "$root/opt/ksearch/CONTENTS.txt" || fail "CONTENTS.txt does not speak of CUDA"
ok "says whether it can use GPUs: $(grep '^CUDA' "$root/opt/ksearch/CONTENTS.txt")"

for program in ksearch-worker ksearch-verifier ksearch-runner; do
  others=$(ldd "$bin/$program" | grep -vE 'linux-vdso|libc\.so\.6|libm\.so\.6|ld-linux' || true)
  [ -z "$others" ] || fail "$program needs $others"
  newest=$(objdump -T "$bin/$program" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
  [ "$(printf '%s\nGLIBC_2.35\n' "$newest" | sort -V | tail -1)" = GLIBC_2.35 ] ||
    fail "$program needs $newest"
done
ok "the C library is all that the programs need, 2.35 (Ubuntu 22.04) will do"
if grep -rlE '/(home|root|work)/[a-z]' "$root"/opt/ksearch/{configs,systemd,apparmor}; then
  fail "these name folders of the building machine"
fi

# The C library, and of programs a shell and the few that every Linux has.
libraries=/lib/x86_64-linux-gnu
cp -L $libraries/{libc.so.6,libm.so.6} "$root$libraries/"
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
cp -L /bin/dash "$root/bin/sh"
for tool in prlimit cat true; do
  cp -L "/usr/bin/$tool" "$root/usr/bin/$tool"
  ldd "$root/usr/bin/$tool" | awk '$2 == "=>" {print $3}' | while read -r path; do
    [ -e "$root$libraries/${path##*/}" ] || cp -L "$path" "$root$libraries/"
  done
done
# Uses the machine's /proc: one that bubblewrap covers in part could not be mounted again inside.
inside() {
  bwrap --unshare-user --unshare-ipc --uid 1000 --gid 1000 --clearenv \
    --setenv PATH /usr/bin --bind "$root" / --dev-bind /proc /proc --dev /dev --tmpfs /tmp "$@"
}
grep -q '^ksearch-worker [0-9]' <<<"$(inside /opt/ksearch/bin/ksearch-worker --version)" ||
  fail "ksearch-worker does not start"
ok "the worker starts"
grep -q '^bubblewrap 0\.' <<<"$(inside /opt/ksearch/bin/bwrap --version)" || fail "bwrap does not start"
inside /opt/ksearch/bin/bwrap --unshare-all --unshare-user --disable-userns --ro-bind / / --proc /proc \
  cat /proc/self/uid_map >/dev/null || fail "bwrap makes no sandbox"
ok "its bubblewrap makes a sandbox"
for program in verifier runner; do
  status=0
  inside "/opt/ksearch/bin/ksearch-$program" --no-such 2>"$work/log" || status=$?
  # The programs themselves refuse the argument; a loader error would end with 127.
  case $status in
    1 | 2) ;;
    *) cat "$work/log" >&2; fail "ksearch-$program ended with $status" ;;
  esac
done
ok "verifier and runner start"

status=0
inside /opt/ksearch/bin/ksearch-worker --selftest --state-dir /tmp/state >"$work/selftest" 2>&1 ||
  status=$?
cat "$work/selftest"
[ "$status" = 3 ] || fail "the self-test ended with $status; without a compiler it must be 3"
grep -q '^OK  *sandbox' "$work/selftest" || fail "the self-test could not use the sandbox"
grep -q '^FAIL  *compiler' "$work/selftest" || fail "the self-test does not miss the compiler"
ok "the self-test names what is missing"
echo "$passed passed, 0 failed"
