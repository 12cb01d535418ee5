# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of MPI over hosts that are not as they should be: firewalls, cuts, full file systems,
clocks, another UCX. What can go on goes on; else one sentence says why, within seconds.

edges_test.py SINEW BOOT_PROBE LAUNCHED OTHER_YEAR
"""
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import over_hosts  # noqa: E402
from over_hosts import (  # noqa: E402
    LIMIT, PROBE, SET, SINEW, TOOL, OverHosts, processes, run, tool)

PROGRAM, OTHER_YEAR = (str(Path(word).resolve()) for word in sys.argv[3:5])
LOGIN = "10.77.0.254"  # the launcher's address
ADDRESSES = {"h1": "10.77.0.1", "h2": "10.77.0.2"}


def another_ucx():
    """The folder of a UCX that is not the system's, or None."""
    for name in ("mpich", "openmpi"):
        folder = Path(SINEW).parents[1] / "peers" / name / "lib" / name
        if (folder / "libucp.so.0").exists():
            return folder
    return None


class Edges(OverHosts):
    count = 2

    def script(self, text):
        """A program that all hosts see."""
        folder = tempfile.mkdtemp(dir=Path(PROBE).parent)
        self.addCleanup(shutil.rmtree, folder)
        path = Path(folder, "script")
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def on(self, host, line):
        done = tool("exec", host, "sh", "-ec", line)
        self.assertEqual(done.returncode, 0, done.stderr)

    def drop(self, host, *addresses):
        """What the host sends there gets lost, as a firewall drops it: the frames go to nobody."""
        for address in addresses:
            self.on(host, f"ip neigh replace {address} lladdr 02:00:00:00:00:99 dev eth0 "
                    "nud permanent")
            self.addCleanup(tool, "exec", host, "ip", "neigh", "del", address, "dev", "eth0")

    def check_good(self, done):
        self.assertEqual((done.code, done.err, done.out.count(": good\n")), (0, "", 4))


class Firewalls(Edges):
    def check_told(self, *words):
        done = run(*words, PROGRAM, "sum")
        self.assertEqual(done.code, 1, done.err)
        self.assertRegex(done.err, r"rank . of 4 .* on h[12]\) has lost its connection to rank . of"
                         r" 4 .* on h[12]\) \(nothing answers there\), and both run: .*"
                         r"`sinew info transports --hosts`.*firewall")
        self.assertEqual(done.err.count("\n"), 1, done.err)
        self.assertLess(done.seconds, LIMIT + 5)  # its start counts, too

    def test_between_hosts(self):
        for host, other in (("h1", "h2"), ("h2", "h1")):
            self.drop(host, ADDRESSES[other])
        self.check_told()
        self.check_told("--survive")  # nobody has died, and nothing can be agreed on

    def test_all_but_ssh(self):
        for host, other in (("h1", "h2"), ("h2", "h1")):
            self.drop(host, ADDRESSES[other], LOGIN)
        self.check_told()
        done = run("hostname")  # whose ranks do not talk to each other
        self.assertEqual((done.code, sorted(done.out.split()), done.err),
                         (0, ["h1", "h1", "h2", "h2"], ""))

    def test_one_that_refuses(self):
        self.on("h1", f"ip route add prohibit {ADDRESSES['h2']}")
        self.addCleanup(tool, "exec", "h1", "ip", "route", "del", "prohibit", ADDRESSES["h2"])
        done = run(PROGRAM, "sum")
        self.assertEqual(done.code, 1, done.err)
        self.assertRegex(done.err, r"on h[12]\).*both run: .*firewall")
        self.assertLess(done.seconds, LIMIT + 5)  # its start counts, too


class Cuts(Edges):
    def check_end(self):
        out, err = self.started.communicate(timeout=over_hosts.LONGEST)
        self.assertEqual((self.started.returncode, err), (0, b""))
        self.assertEqual(out.count(b": good\n"), 4)

    def test_two_seconds_in_the_middle_of_messages(self):
        self.begin("--host-timeout", "8", PROGRAM, "on", "-1", "5")
        self.wait_for(lambda: processes("launched"), 4)
        time.sleep(1)
        tool("cut", "h2")
        time.sleep(2)
        tool("join", "h2")
        self.check_end()

    def test_no_carrier_while_ranks_begin(self):
        gate = self.script('touch "$0.here.$PMI_RANK"\n'
                           'while [ ! -e "$0.go" ]; do sleep 0.05; done\nexec "$@"\n')
        self.begin("--host-timeout", "8", gate, PROGRAM, "sum")
        self.wait_for(lambda: list(Path(gate).parent.glob("script.here.*")), 4)
        tool("cut", "h2")
        Path(gate + ".go").touch()
        time.sleep(1.5)
        tool("join", "h2")
        self.check_end()

    def test_two_seconds_while_ranks_connect(self):
        for host, other in (("h1", "h2"), ("h2", "h1")):
            self.drop(host, ADDRESSES[other])
        self.begin(PROGRAM, "sum")
        self.wait_for(lambda: processes("launched"), 4)
        time.sleep(2)
        for host, other in (("h1", "h2"), ("h2", "h1")):
            self.on(host, f"ip neigh del {ADDRESSES[other]} dev eth0")
        self.check_end()


class Unlike(Edges):
    """One host that differs from the other."""

    def only_on_h2(self, line):
        return self.script(f"if [ $(hostname) = h2 ]; then {line}; fi\nexec \"$@\"\n")

    def test_another_ucx(self):
        folder = another_ucx()
        if folder is None:
            self.skipTest("no other UCX in build/peers (tools/peers installs some)")
        other = self.only_on_h2(f"export LD_LIBRARY_PATH={folder}")
        done = run(other, PROGRAM, "sum")
        self.assertNotEqual(done.code, 0, done.err)
        self.assertRegex(done.err, r"cannot connect to .*UCX 1\.\d+.*UCX 1\.\d+")
        # The same on both is fine.
        self.check_good(run(PROGRAM, "sum", env={"LD_LIBRARY_PATH": str(folder)}))

    def test_ucx_says_what_it_says_on_standard_error(self):
        done = run(PROGRAM, "sum", env={"UCX_LOG_LEVEL": "info"})
        self.assertEqual((done.code, done.out.count("\n"), done.out.count(": good\n")), (0, 4, 4))
        self.assertIn("UCX  INFO", done.err)

    def test_full_file_systems(self):
        for folder in ("/tmp", "/dev/shm"):
            self.on("h2", f"mount -t tmpfs -o size=64k none {folder}; "
                    f"head -c 1M /dev/zero > {folder}/full 2>/dev/null || true")
            self.addCleanup(tool, "exec", "h2", "umount", folder)
        self.check_good(run(PROGRAM, "sum"))

    def test_the_clock_of_another_year(self):
        agent = self.script(f"host=$1; shift\n[ $host = h2 ] && set -- export "
                            f"LD_PRELOAD={OTHER_YEAR}';' \"$@\"\n"
                            f"exec {sys.executable} {TOOL} --set {SET} rsh $host \"$@\"\n")
        other = self.only_on_h2(f"export LD_PRELOAD={OTHER_YEAR}")
        done = run(other, "date", "+%Y", agent=agent)
        years = sorted(int(line) for line in done.out.split())
        self.assertEqual(years, [years[0]] * 2 + [years[0] + 1] * 2)
        self.check_good(run(other, PROGRAM, "sum", agent=agent))

    def test_two_jobs_at_once(self):
        self.begin(PROGRAM, "sum")
        self.check_good(run(PROGRAM, "sum"))
        self.assertEqual(self.end()[0], 0)


if __name__ == "__main__":
    over_hosts.main(5)
