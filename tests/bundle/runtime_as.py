#!/usr/bin/env python3
"""An OCI runtime for `buildah run --runtime`: runc, with a container that is allowed more or less than buildah
allows it. KSEARCH_CONTAINER names how, in words:

  seccomp   no filter of system calls        (docker, podman: --security-opt seccomp=unconfined)
  proc      nothing of /proc is masked       (docker: --security-opt systempaths=unconfined, podman: unmask=ALL)
  few       only the capabilities SETUID, SETGID and CHOWN, and no new privileges
  users     a user namespace of its own      (Kubernetes: hostUsers: false)

KSEARCH_ROOT names a copy of the root folder for `users`, where other accounts of this machine can reach it.
"""
import json
import os
import sys

FEW = ["CAP_SETUID", "CAP_SETGID", "CAP_CHOWN"]


def change(config, words):
    linux, process = config["linux"], config["process"]
    if "seccomp" in words:
        linux.pop("seccomp", None)
    if "proc" in words:
        linux["maskedPaths"] = linux["readonlyPaths"] = []
    if "few" in words:
        process["capabilities"] = {kind: FEW for kind in ("bounding", "effective", "permitted")}
        process["noNewPrivileges"] = True
    if "users" in words:
        linux["namespaces"].append({"type": "user"})
        linux["uidMappings"] = linux["gidMappings"] = [{"containerID": 0, "hostID": 200000, "size": 65536}]
        config["root"] = {"path": os.environ["KSEARCH_ROOT"]}
        # Folders of other accounts cannot be shown: uses the system's own, and an empty /tmp.
        kept = ("/proc", "/dev", "/dev/pts", "/dev/shm", "/dev/mqueue")
        config["mounts"] = [mount for mount in config["mounts"] if mount["destination"] in kept]
        for mount in config["mounts"]:
            mount["options"] = [option for option in mount.get("options", []) if not option.startswith("gid=")]
        config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})


def main():
    words = os.environ.get("KSEARCH_CONTAINER", "").split()
    if "--bundle" in sys.argv:
        path = os.path.join(sys.argv[sys.argv.index("--bundle") + 1], "config.json")
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        change(config, words)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
    os.execvp("runc", ["runc"] + sys.argv[1:])


main()
