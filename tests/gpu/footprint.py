"""Measures the resources that a worker uses at this moment. KSEARCH names a program in the folder of
the worker's programs (tests/gpu/cluster.sh)."""
import os


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it ended meanwhile
        return b""


def _resident_kib(pid):
    for line in _read(f"/proc/{pid}/status").decode("ascii", "replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _job_groups():
    """Counts the control groups of jobs, recognized by name, in all hierarchies."""
    count = 0
    for folder, _, _ in os.walk("/sys/fs/cgroup"):
        count += os.path.basename(folder).startswith("job-")
    return count


def footprint():
    """Resident memory and descriptors of the worker, and of all its verifiers together; processes
    of the worker's account where that is not ours, else its descendants; control groups of jobs."""
    programs = os.path.dirname(os.environ["KSEARCH"])
    found = {"worker_mib": 0, "worker_fds": 0, "verifier_mib": 0, "verifier_fds": 0,
             "processes": 0, "job_groups": _job_groups()}
    workers, children, accounts = set(), {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        pid = int(name)
        try:
            accounts[pid] = os.stat(f"/proc/{pid}").st_uid
        except OSError:  # it ended meanwhile
            continue
        stat = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if len(stat) > 1:
            children.setdefault(int(stat[1]), []).append(pid)
        program = _read(f"/proc/{pid}/cmdline").split(b"\0")[0].decode("utf-8", "replace")
        for kind in ("worker", "verifier"):
            if program == os.path.join(programs, f"ksearch-{kind}"):
                found[f"{kind}_mib"] += _resident_kib(pid) // 1024
                found[f"{kind}_fds"] += _descriptors(pid)
                if kind == "worker":
                    workers.add(pid)
    theirs = {accounts[pid] for pid in workers} - {os.getuid()}
    if theirs:
        found["processes"] = sum(account in theirs for account in accounts.values())
    else:
        descendants = list(workers)
        for pid in descendants:  # descendants grows
            descendants += children.get(pid, [])
        found["processes"] = len(descendants)
    return found


def text(found):
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in found.items())
