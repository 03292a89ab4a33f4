"""Where the coordinator is."""

import os
import pathlib


def local_socket(environment=os.environ, as_root=None):
    """The socket of the coordinator that `ksearch up` starts, whether or not it exists."""
    if as_root is None:
        as_root = os.geteuid() == 0
    state = environment.get("XDG_STATE_HOME", "")
    if state.startswith("/"):
        folder = pathlib.Path(state) / "ksearch"
    elif as_root:
        folder = pathlib.Path("/var/lib/ksearch-local")
    else:
        folder = pathlib.Path(environment.get("HOME", "/")) / ".local/state/ksearch"
    return folder / "socket"


def default_address(environment=os.environ):
    """KSEARCH_COORDINATOR, or the local coordinator if it runs, or 127.0.0.1:7400."""
    if environment.get("KSEARCH_COORDINATOR"):
        return environment["KSEARCH_COORDINATOR"]
    socket = local_socket(environment)
    return f"unix:{socket}" if socket.exists() else "127.0.0.1:7400"


def is_local(address):
    """Returns True if no other machine can listen in: a Unix socket, or loopback."""
    if address.startswith("unix:"):
        return True
    host = address.rsplit(":", 1)[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")
