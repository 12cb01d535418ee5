# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of separate `sinew run` that connect: ports, names, sockets, and what cannot be."""

import os
import re
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import (  # noqa: E402
    PROBE, SINEW, listening_sockets, marked_processes, run, start, survivors)

PROGRAM = os.path.join(os.path.dirname(PROBE), "connect_probe")


class Connected(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.port = os.path.join(self.folder.name, "port")
        self.env = {"SINEW_MPI_NAMES": self.folder.name}

    def tearDown(self):
        self.assertEqual(survivors(), [])
        self.folder.cleanup()

    def job(self, ranks, *words, env=None, options=()):
        command = [SINEW, "run", "-n", str(ranks), "--timeout", "60", *options, PROGRAM, *words]
        return start(*command, env={**self.env, **(env or {})})

    def finished(self, process, code=0):
        out, err = process.communicate(timeout=90)
        self.assertEqual(process.returncode, code, out.decode() + err.decode())
        return out.decode(), err.decode()

    def pair(self, servers, clients, what, times=1, way=None, **how):
        way = way or self.port
        server = self.job(servers, "server", way, what, str(times), **how)
        client = self.job(clients, "client", way, what, str(times), **how)
        self.finished(client)
        return self.finished(server)[0]

    def test_all_kinds_of_messages(self):
        for servers, clients in ((1, 1), (2, 3)):
            with self.subTest(servers=servers, clients=clients):
                self.assertEqual(self.pair(servers, clients, "all"), "served\n")
                os.remove(self.port)

    def test_again_and_again(self):
        self.pair(2, 1, "meet", 20)

    def test_by_a_name(self):
        self.pair(1, 2, "all", way="name:a place to/meet")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_a_name_of_a_process_that_has_ended_is_free(self):
        gone = self.job(1, "server", "name:it", "bereaved")
        self.job(1, "client", "name:it", "bereaved").communicate(timeout=90)
        self.finished(gone, 137)
        self.assertEqual(len(os.listdir(self.folder.name)), 1)
        self.pair(1, 1, "meet", way="name:it")

    def test_one_server_and_many_jobs(self):
        server = self.job(1, "server", self.port, "all", "4")
        clients = [self.job(1, "client", self.port, "all") for _ in range(4)]
        for client in clients:
            self.finished(client)
        self.finished(server)

    def test_three_jobs(self):
        server = self.job(2, "server", self.port, "chain")
        first = self.job(2, "client", self.port, "chain")
        # It is accepted by the first two together, which therefore have met before it.
        while not os.path.exists(self.port + ".met"):
            self.assertIsNone(server.poll())
            time.sleep(0.01)
        second = self.job(1, "second", self.port, "chain")
        for each in (first, second, server):
            self.finished(each)

    def test_without_a_launcher(self):
        server = start(PROGRAM, "server", self.port, "all", "2", env=self.env)
        self.finished(start(PROGRAM, "client", self.port, "all", env=self.env))
        self.finished(self.job(2, "client", self.port, "all"))
        self.finished(server)

    def test_pretended_nodes(self):
        self.pair(3, 2, "all", env={"SINEW_FABRIC_NODES": "2"})

    def test_threads_checks(self):
        self.pair(2, 2, "all", env={"SINEW_MPI_CHECK": "1"})

    def test_join(self):
        name = "sinew-connect-%d" % os.getpid()
        server = self.job(1, "server", name, "join")
        self.finished(self.job(1, "client", name, "join"))
        self.finished(server)

    def test_a_peer_job_that_dies(self):
        server = self.job(1, "server", self.port, "bereaved")
        out, _ = self.finished(self.job(2, "client", self.port, "bereaved"))
        self.finished(server, 137)
        self.assertIn("the client goes on", out)
        self.assertIn("recv: 1 MPIX_ERR_PROC_FAILED", out)

    def callers(self, count, words):
        """So many connections to the port that is open, by TCP, or within the node if there is no
        network."""
        tcp_port, addresses = Path(self.port).read_text().split(":")[7:9]
        names = re.findall(r"sinew-port-\S+", Path("/proc/net/unix").read_text())
        made = []
        for _ in range(count):
            if addresses:
                made.append(socket.create_connection((addresses.split(",")[0], int(tcp_port))))
            else:
                made.append(socket.socket(socket.AF_UNIX))
                made[-1].connect("\0" + names[0])
            self.addCleanup(made[-1].close)
            made[-1].sendall(words)
        return made

    def test_ports_of_a_range_at_chosen_interfaces(self):
        """Of MPI and of UCX: the ranks are on a node each, as pretended."""
        ports = range(47100, 47200)
        server = self.job(2, "server", self.port, "meet", env={
            "SINEW_NET_PORTS": f"{ports[0]}-{ports[-1]}", "SINEW_FABRIC_NODES": "2"})
        while not os.path.exists(self.port):
            self.assertIsNone(server.poll())
            time.sleep(0.01)
        listening = [at for pid in marked_processes() for at in listening_sockets(pid)]
        self.finished(self.job(1, "client", self.port, "meet"))
        self.finished(server)
        self.assertGreaterEqual(len(listening), 2)
        for address, port in listening:
            self.assertIn(port, ports)
            self.assertNotIn(set(address), ({"0", "."}, {"0"}))

    def test_callers_that_say_nothing_or_nonsense_keep_nobody_out(self):
        for words in (b"", b"sinew-p2", bytes(200)):
            with self.subTest(words=words):
                server = self.job(1, "server", self.port, "meet", "2")
                while not os.path.exists(self.port):
                    self.assertIsNone(server.poll())
                    time.sleep(0.01)
                silent = self.callers(200, words)
                self.finished(self.job(1, "client", self.port, "meet"))
                # They are hung up on while the server waits for the next.
                for each in silent:
                    each.settimeout(30)
                    try:
                        self.assertEqual(each.recv(1), b"")
                    except ConnectionResetError:
                        pass
                self.finished(self.job(1, "client", self.port, "meet"))
                self.finished(server)
                os.remove(self.port)

    def test_nobody_accepts(self):
        server = self.job(1, "server", self.port, "late", "4")
        out, _ = self.finished(self.job(2, "client", self.port, "late"))
        self.finished(server)
        self.assertIn("nobody has accepted at the port in time", out)

    def test_a_port_that_is_not_there(self):
        self.finished(self.job(1, "server", self.port, "refused", "1"))
        out, _ = self.finished(self.job(2, "client", self.port, "refused"))
        self.assertIn("nobody listens there", out)

    def test_a_port_that_is_closed_meanwhile(self):
        server = self.job(1, "server", self.port, "refused", "2")
        out, _ = self.finished(self.job(1, "client", self.port, "refused"))
        self.finished(server)
        self.assertIn("the port has been closed, or its owner has ended", out)

    def test_a_folder_that_others_can_write(self):
        os.chmod(self.folder.name, 0o777)
        result = run(SINEW, "run", "-n", "1", "--timeout", "30", PROGRAM, "server", "name:x",
                     "meet", env=self.env)
        self.assertNotEqual(result.code, 0)
        self.assertIn("others may write into it", result.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
