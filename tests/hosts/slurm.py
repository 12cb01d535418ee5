# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of its own in the test hosts: its configuration in a folder, munged and slurmd on each
host, slurmctld on the first. It ends with the hosts."""
import os
import shutil
import time
from pathlib import Path

NEEDED = ("slurmctld", "slurmd", "srun", "salloc", "sinfo", "munged")
CPUS = 4


def missing():
    """Why there can be no Slurm here, or an empty string."""
    if os.getuid() != 0:
        return "Slurm's daemons need root"
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    absent = [name for name in NEEDED if shutil.which(name, path=path) is None]
    return f"{', '.join(absent)} not installed (Debian: slurmctld slurmd munge)" if absent else ""


class Slurm:
    """`on(host, line)` runs a line of shell on a host; `folder` is seen by all hosts."""

    def __init__(self, on, hosts, folder):
        self.on, self.hosts, self.folder = on, hosts, Path(folder)
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        for name in ("state", "spool", "log"):
            (self.folder / name).mkdir()
        self.write_configuration()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        for host in hosts:
            self.check(on(host, self.munged(host)))
        self.check(on(hosts[0], f"cd {folder} && {self.line('slurmctld')}"))
        for host in hosts:
            self.check(on(host, f"cd {folder} && {self.line('slurmd')} -N {host}"))
        self.wait_until_idle()

    def check(self, done):
        if done.returncode != 0:
            raise RuntimeError(f"{done.args}: {done.stdout}{done.stderr}{self.logs()}")

    def line(self, words):
        return f"PATH=$PATH:/usr/sbin SLURM_CONF={self.environment['SLURM_CONF']} {words}"

    def munged(self, host):
        # Its socket at the usual place, which each host has for itself.
        return ("mkdir -p /run/munge && chmod 755 /run/munge &&"
                " PATH=$PATH:/usr/sbin munged --force --pid-file=/run/munge/pid"
                f" --seed-file=/run/munge/seed --key-file={self.folder}/munge.key"
                f" --log-file={self.folder}/log/munged.{host}")

    def write_configuration(self):
        lines = [
            "ClusterName=test", f"SlurmctldHost={self.hosts[0]}", "SlurmUser=root",
            "SlurmdUser=root", "AuthType=auth/munge", "CryptoType=crypto/munge",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "SwitchType=switch/none", "MpiDefault=none",
            "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none",
            f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/spool/%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid",
            f"SlurmdPidFile={self.folder}/slurmd.%n.pid",
            f"SlurmctldLogFile={self.folder}/log/slurmctld",
            f"SlurmdLogFile={self.folder}/log/slurmd.%n",
            "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides", "ReturnToService=2", "MailProg=/bin/true",
            "KillWait=2", "UnkillableStepTimeout=60",
            *(f"NodeName={host} NodeAddr={host} CPUs={CPUS} RealMemory=100"
              for host in self.hosts),
            "PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES",
        ]
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def wait_until_idle(self):
        until = time.monotonic() + 60
        while True:
            done = self.on(self.hosts[0], self.line("sinfo -h -N -o '%N %T'"))
            if sorted(done.stdout.split("\n")[:-1]) == [f"{host} idle" for host in self.hosts]:
                return
            if time.monotonic() > until:
                raise RuntimeError(f"Slurm's nodes are not ready: {done.stdout}{done.stderr}"
                                   + self.logs())
            time.sleep(0.1)

    def logs(self):
        texts = (f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}"
                 for path in sorted((self.folder / "log").iterdir()))
        return "\n" + "\n".join(texts)
