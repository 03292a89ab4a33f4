# Sourced by tests in minimal installations of whole systems: makes such an installation and runs
# commands in it. Needs root, debootstrap and bubblewrap; ends with status 77 without them. Sets $work,
# which is removed at the end, with every process in pids. The caller sets $system and $root.
# mirror_of debian|ubuntu: where this machine's apt gets that distribution from; nothing if nowhere.
mirror_of() {
  apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
    sed -n "s|/\$||; /\/$1\$/{p;q}"
}
debian=${KSEARCH_DEBIAN:-$(mirror_of debian)}
ubuntu=${KSEARCH_UBUNTU:-$(mirror_of ubuntu)}
ubuntu_keyring=pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb

skip() { echo "SKIPPED: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "debootstrap needs root"
for tool in debootstrap bwrap; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done

work=$(mktemp -d /tmp/ksearch-bare.XXXXXX)
chmod 755 "$work"
pids=()
# Bubblewrap does not pass signals on to what it has started, and that has become another account.
end_program() {
  local child
  child=$(ps -o pid= --ppid "$1" || true)
  # shellcheck disable=SC2086
  kill $child "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}
cleanup() {
  status=$?
  for pid in "${pids[@]}"; do end_program "$pid"; done
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
passed=0
failed=0
ok() { passed=$((passed + 1)); echo "PASS: $system: $*"; }
bad() {
  failed=$((failed + 1))
  echo "FAIL: $system: $1"
  if [ $# -gt 1 ]; then sed 's/^/    /' "$2"; fi
}
judge() {  # judge <what> <command...>
  local what=$1
  shift
  if "$@"; then ok "$what"; else bad "$what" "$work/log"; fi
}

make_root() {  # make_root <system> <folder>: 0, or not with the reason in $work/log
  local options=(--variant=minbase)
  case $1 in
    bookworm)
      [ -n "$debian" ] || { echo "set KSEARCH_DEBIAN to a mirror" >"$work/log" && return 1; }
      debootstrap "${options[@]}" "$1" "$2" "$debian" >"$work/log" 2>&1 ;;
    jammy | noble)
      [ -n "$ubuntu" ] || { echo "set KSEARCH_UBUNTU to a mirror" >"$work/log" && return 1; }
      if [ ! -d "$work/keyring" ]; then
        curl -fsS -m 60 -o "$work/keyring.deb" "$ubuntu/$ubuntu_keyring" 2>"$work/log" &&
          dpkg-deb -x "$work/keyring.deb" "$work/keyring" || return 1
      fi
      # As installed by default: python3-venv is in universe.
      options+=(--components=main,universe --keyring="$work/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg")
      # The script of all Ubuntu releases: a new one may be unknown to an old debootstrap.
      debootstrap "${options[@]}" "$1" "$2" "$ubuntu" gutsy >"$work/log" 2>&1 ;;
    *) skip "unknown system $1: bookworm, jammy or noble" ;;
  esac
}

# Runs a command as root of the system. Not with chroot: inside one no user namespace can be made. Uses
# the machine's /proc, since a sandbox inside could not mount a partly covered one again.
inside() { (inside_instead "$@"); }
inside_instead() {  # replaces this shell
  local binds=()
  if [ -n "${toolkit:-}" ]; then binds=(--ro-bind "$toolkit" /usr/local/cuda); fi
  exec bwrap --bind "$root" / --dev-bind /proc /proc --bind /sys /sys --dev /dev --perms 1777 --tmpfs /tmp \
    "${binds[@]}" --bind "$work/shared" /shared --cap-add ALL --unshare-ipc --unshare-uts \
    --hostname "$system" --die-with-parent --clearenv --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin \
    --setenv DEBIAN_FRONTEND noninteractive "$@"
}

# Puts a fresh $system into $root; on failure returns nonzero, with the reason in $work/log.
get_root() {
  local kept=${KSEARCH_ROOTS:+$KSEARCH_ROOTS/$system.tar}
  if [ -n "$kept" ] && [ -s "$kept" ]; then
    mkdir -p "$root" && tar -C "$root" -xpf "$kept"
    return
  fi
  make_root "$system" "$root" || return 1
  [ -z "$kept" ] ||
    { mkdir -p "$KSEARCH_ROOTS" && tar -C "$root" -cpf "$kept.part" . && mv "$kept.part" "$kept"; }
}

wait_until() {  # wait_until <seconds> <command...>
  local tries=$(($1 * 5))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.2
  done
}
