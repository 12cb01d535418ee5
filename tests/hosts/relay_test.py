# SPDX-License-Identifier: BSD-3-Clause
"""Where the launcher listens, and somebody between it and the daemons who passes all on: no secret
and no power for him.

relay_test.py SINEW BOOT_PROBE
"""
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
HERE = Path(__file__).resolve()
TOOL = HERE.parents[2] / "tools" / "hosts"


def copy(read, write):
    """Until nothing comes any more."""
    while data := read():
        write(data)


def listen(port):
    """On a host: takes calls at its loopback and passes on all that is said, to and from the
    launcher. Writes what it sees to its output, after a line. Ends with its input."""
    listener = socket.create_server(("127.0.0.1", port))
    print("listening", flush=True)
    waiting = selectors.DefaultSelector()
    waiting.register(sys.stdin, selectors.EVENT_READ)
    waiting.register(listener, selectors.EVENT_READ)
    other = {}
    while True:
        for key, _ in waiting.select():
            if key.fileobj is sys.stdin:
                return
            if key.fileobj is listener:
                ends = listener.accept()[0], socket.create_connection(("10.77.0.254", port))
                for one, two in (ends, ends[::-1]):
                    other[one] = two
                    waiting.register(one, selectors.EVENT_READ)
                continue
            data = key.fileobj.recv(1 << 16) if key.fileobj in other else b""
            if data:
                sys.stdout.buffer.write(data)
                sys.stdout.flush()
                other[key.fileobj].sendall(data)
            elif key.fileobj in other:
                for each in (key.fileobj, other.pop(key.fileobj)):
                    other.pop(each, None)
                    waiting.unregister(each)
                    each.close()


def be_agent(folder, hosts, host, line):
    """In the place of an agent: the daemon calls the one who listens, instead of its launcher."""
    words = sys.stdin.buffer.readline().split()
    port = words[4].decode()
    on_hosts = [sys.executable, str(TOOL), "--set", hosts]
    pipe = subprocess.PIPE
    with subprocess.Popen([*on_hosts, "exec", host, sys.executable, "-B", str(HERE), "--listen",
                           port], stdin=pipe, stdout=pipe) as relay, \
            subprocess.Popen([*on_hosts, "rsh", host, line], stdin=pipe) as daemon, \
            Path(folder, host).open("wb", buffering=0) as seen:
        relay.stdout.readline()
        threading.Thread(target=copy, args=(lambda: relay.stdout.read1(1 << 16), seen.write),
                         daemon=True).start()
        daemon.stdin.write(b" ".join([*words[:5], b"127.0.0.1"]) + b"\n")
        daemon.stdin.flush()

        def pass_on():
            try:
                copy(lambda: os.read(0, 1 << 16),
                     lambda data: os.write(daemon.stdin.fileno(), data))
            except OSError:
                pass
            daemon.stdin.close()
        threading.Thread(target=pass_on, daemon=True).start()
        code = daemon.wait()
        relay.stdin.close()
    os._exit(code)


if __name__ == "__main__" and sys.argv[1] == "--listen":
    listen(int(sys.argv[2]))
    sys.exit()
if __name__ == "__main__" and sys.argv[1] == "--agent":
    be_agent(*sys.argv[2:])

import over_hosts  # noqa: E402
from over_hosts import PROBE, SET, OverHosts, processes, run, support  # noqa: E402


class Listening(OverHosts):
    count = 2

    def listening(self, *words, env=None):
        self.started = support.start(*over_hosts.launcher(*words, PROBE, "sleep"),
                                                env=env)
        self.wait_for(lambda: processes("boot_probe", "sleep"), 4)
        found = support.listening_sockets(self.started.pid)
        self.started.terminate()
        self.assertEqual(self.end()[0], 143)
        return found

    def test_at_its_own_addresses_only(self):
        found = self.listening()
        self.assertEqual([address for address, _ in found], ["10.77.0.254"])

    def test_at_ports_that_a_firewall_passes(self):
        found = self.listening(env={"SINEW_NET_PORTS": "45000-45009"})
        self.assertEqual(len(found), 1)
        self.assertIn(found[0][1], range(45000, 45010))

    def test_through_the_agent_alone(self):
        for words, env in ((["--through-agent"], {}), ([], {"SINEW_NET_INTERFACES": "eth0"})):
            with self.subTest(words=words, env=env):
                self.assertEqual(self.listening(*words, env=env), [])

    def test_ports_that_make_no_sense(self):
        done = run("true", env={"SINEW_NET_PORTS": "9-5"})
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, 'SINEW_NET_PORTS cannot be "9-5"')


class Relayed(OverHosts):
    count = 2

    def test_who_passes_the_proofs_on_sees_nothing_and_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            agent = f"{sys.executable} -B {HERE} --agent {folder} {SET}"
            done = run("sh", "-c", "echo $PASSWORD", agent=agent, env={"PASSWORD": "open-sesame"})
            self.assertEqual((done.code, done.out), (0, "open-sesame\n" * 4), done.err)
            for host in ("h1", "h2"):
                seen = Path(folder, host).read_bytes()
                self.assertGreater(len(seen), 100)  # the challenge and the daemon's proof
                self.assertFalse(b"open-sesame" in seen)
            told = re.findall(r"the daemon on (h[12]) has called 127\.0\.0\.1 port \d+ from \S+ "
                              r"port \d+, and the call came to 10\.77\.0\.254 port \d+ from "
                              r"10\.77\.0\.[12] .*somebody relays.*the agent carries all", done.err)
            self.assertEqual(sorted(told), ["h1", "h2"], done.err)


if __name__ == "__main__":
    over_hosts.main()
