# SPDX-License-Identifier: BSD-3-Clause
"""A launcher that pretends: one rank of a job of very many, by PMI-1. What its start costs, in
memory and in requests, is what docs/internals/scale.md says."""

import os
import re
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

PROGRAM = sys.argv[1]  # examples/mpi_costs.c
FEW, MANY = 2_000, 100_000
PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "scale.md"
BYTES_PER_RANK = float(re.search(r"^\| all \| ([\d.]+) \|$", PAGE.read_text(), re.MULTILINE)[1])


class Launcher:
    """Speaks for all other ranks. Nodes are alike, so what one says of itself holds for each."""

    def __init__(self, rank, size, mapping):
        self.values = {"PMI_process_mapping": mapping}
        self.requests = []
        self.ours, theirs = socket.socketpair()
        serving = threading.Thread(target=self.serve)
        serving.start()
        environment = {n: v for n, v in os.environ.items()
                       if not n.startswith(("PMI", "SINEW_", "OMPI_", "SLURM_"))}
        environment.update(PMI_FD=str(theirs.fileno()), PMI_RANK=str(rank), PMI_SIZE=str(size))
        self.done = subprocess.run([PROGRAM, "--start-only"], env=environment, check=False,
                                   capture_output=True, text=True, timeout=60,
                                   pass_fds=[theirs.fileno()])
        theirs.close()
        serving.join()

    def serve(self):
        with self.ours, self.ours.makefile() as lines:
            for line in lines:
                words = dict(w.split("=", 1) for w in line.split())
                self.requests.append(words["cmd"])
                self.ours.sendall((self.answer(words) + "\n").encode())

    def answer(self, words):
        command = words["cmd"]
        if command == "put":
            self.values[words["key"]] = words["value"]
            if words["key"].startswith("net-node-"):
                self.values["net-job"] = words["value"]
        if command == "get":
            key = "net-job" if words["key"].startswith("net-node-") else words["key"]
            return f"cmd=get_result rc=0 value={self.values[key]}"
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                "get_maxes": "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024",
                "get_my_kvsname": "cmd=my_kvsname kvsname=pretended",
                "put": "cmd=put_result rc=0",
                "barrier_in": "cmd=barrier_out"}[command]

    def bytes(self):
        found = re.search(r", ([\d.]+) kB", self.done.stdout)
        assert found and self.done.returncode == 0, self.done.stdout + self.done.stderr
        return float(found[1]) * 1000


class Scale(unittest.TestCase):
    def test_memory_by_rank(self):
        few, many = (Launcher(5, n, f"(vector,(0,{n},1))").bytes() for n in (FEW, MANY))
        each = (many - few) / (MANY - FEW)
        print(f"MPI_Init in a job of {MANY} ranks: {many / 1e6:.1f} MB, {each:.2f} B for each rank")
        self.assertLess(BYTES_PER_RANK, 64)
        self.assertLess(each, BYTES_PER_RANK + 1)

    def test_requests_do_not_grow_with_the_job(self):
        for size in (FEW, MANY):
            with self.subTest(size=size):
                asked = Launcher(5, size, f"(vector,(0,{size},1))").requests
                self.assertEqual(asked.count("barrier_in"), 2)
                self.assertEqual(asked.count("get"), 2, "the mapping, and what rank 0 says")
                self.assertLessEqual(len(asked), 10)

    def test_rank_0_asks_once_for_each_node(self):
        nodes = 1 + (MANY - 1 + 99) // 100
        asked = Launcher(0, MANY, "(vector,(0,1,1),(1,1000,100))").requests
        self.assertEqual(asked.count("get"), 2 + nodes)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
