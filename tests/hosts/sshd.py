# SPDX-License-Identifier: BSD-3-Clause
"""A real sshd on the test hosts, with keys of its own, and the agent that logs in there: from the
login node, and from host to host."""
import os
import shutil
import subprocess
from pathlib import Path

NEEDED = ("sshd", "ssh", "ssh-keygen")


def missing():
    """Why there can be no sshd here, or an empty string."""
    if os.getuid() != 0:
        return "sshd needs root"
    path = os.environ["PATH"] + ":/usr/sbin"
    absent = [name for name in NEEDED if shutil.which(name, path=path) is None]
    return f"{', '.join(absent)} not installed (Debian: openssh-server)" if absent else ""


def start(on, hosts, folder):
    """`on(host, line)` runs a line of shell on a host; all see `folder`. Returns --rsh text."""
    for name in ("user", "host"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"],
                       check=True)
    Path(folder, "config").write_text("\n".join([
        "Host *", f"IdentityFile {folder}/user", "IdentitiesOnly yes", "User root",
        "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "LogLevel ERROR",
        "BatchMode yes", "ConnectTimeout 4",
        # The login node has not the hosts' table of names.
        *(f"Host {host}\nHostName 10.77.0.{host[1:]}" for host in hosts)]) + "\n")
    for host in hosts:
        done = on(host, f"mkdir -p /run/sshd && /usr/sbin/sshd -f /dev/null -E {folder}/log.{host}"
                        f" -o HostKey={folder}/host -o AuthorizedKeysFile={folder}/user.pub"
                        " -o StrictModes=no -o UsePAM=no -o PermitRootLogin=yes -o PidFile=none")
        if done.returncode != 0:
            raise RuntimeError(f"sshd on {host}: {done.stderr}")
    return f"ssh -F {folder}/config"
