# SPDX-License-Identifier: BSD-3-Clause
"""A launcher whose daemons talk nonsense, and daemons whose launcher does: frames are damaged at
random, by a seed. Whoever gets them says so or ends, soon, and crashes never.

daemon_wire_test.py SINEW BOOT_PROBE [--runs N] [--seed N]
"""
import argparse
import os
import random
import re
import struct
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "tools" / "sinew" / "run" / "frames.hpp").read_text()
NAMES = re.findall(r"^  (\w+),", re.search(r"enum class frame_kind.*?\n(.*?)\n};", HEADER,
                                          re.DOTALL)[1], re.MULTILINE)
KIND = {name: number for number, name in enumerate(NAMES)}


def number(value):
    return struct.pack("<q", value)


def text(value):
    return number(len(value)) + value.encode()


def texts(values):
    return number(len(values)) + b"".join(map(text, values))


def numbers(values):
    return number(len(values)) + b"".join(map(number, values))


def frame(kind, rank=0, what=b""):
    return struct.pack("<IiI", len(what), rank, KIND[kind]) + what


def damaged(chance, frames):
    """Frames in another order, some missing or there twice, and bytes that are others."""
    frames = list(frames)
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(frames))
        what = chance.randrange(4)
        if what == 0:
            frames.insert(chance.randrange(len(frames)), frames[at])
        elif what == 1 and len(frames) > 1:
            del frames[at]
        elif what == 2:
            other = bytearray(frames[at])
            struct.pack_into("<I", other, 8, chance.randrange(len(KIND) + 1))
            frames[at] = bytes(other)
        else:
            other = bytearray(frames[at])
            for _ in range(1 + chance.randrange(4)):
                other[chance.randrange(len(other))] = chance.choice((0, 1, 0x7f, 0xff))
            frames[at] = bytes(other)
    return b"".join(frames)


def be_daemon():
    """In the place of an agent: AGENT SEED HOST LINE. Ends without a word after its frames."""
    seed, host = sys.argv[2:4]
    greeting = sys.stdin.buffer.readline()
    if seed == "greeting":  # which the test wants to see
        sys.stderr.write(greeting.decode())
        sys.exit(1)
    node = int(greeting.split()[3])
    sys.stdout.buffer.write(b"sinew-daemon-stays %d\n" % node)
    sys.stdout.buffer.flush()
    os.read(0, 1 << 16)  # its orders
    chance = random.Random(f"{seed} {host}")
    sys.stdout.buffer.write(damaged(chance, [
        frame("beat"), frame("ready", node), frame("remark", 0, b"a remark"),
        frame("clock", node, number(5)), frame("started", node, number(1234)),
        frame("said", node, b"cmd=init pmi_version=1 pmi_subversion=1\n"),
        frame("output", node, b"words\n"), frame("error_output", node, b"and more"),
        frame("input_taken", node, number(3)), frame("input_closed", node, number(0)),
        frame("ended", 0, number(1) +
              b"".join(map(number, (node, 0, 0, 0, 0)))),
        frame("lost", node, number(1) + text("it is lost"))]))
    sys.stdout.buffer.flush()


class Wire(unittest.TestCase):
    runs, seed = 10, 1

    def tearDown(self):
        self.assertEqual(support.survivors(), [])

    def agent(self, seed):
        return f"{sys.executable} -B {Path(__file__).resolve()} --daemon {seed}"

    def test_launcher(self):
        for n in range(self.runs):
            with self.subTest(seed=self.seed + n):
                done = support.sinew_run("--hosts", "a,b", "--rsh", self.agent(self.seed + n),
                                         "true")
                self.assertIn(done.code, range(128), done.err)
                self.assertRegex(done.err, "sinew run: ", done.out)
                self.assertLess(done.seconds, 20)

    def test_daemon(self):
        told = support.sinew_run("--hosts", "a", "--rsh", self.agent("greeting"), "true").err
        build = re.search(r"sinew-daemon (\S+) ", told)[1]
        for n in range(self.runs):
            chance = random.Random(self.seed + n)
            orders = (text("job") + number(0) + text("/")
                      + texts(["-n", "2", "--hosts", "a,b", "sleep", "9"])
                      + texts(["PATH=/usr/bin:/bin", support.MARK]) + numbers([2])
                      + texts(["a", "b"]) + number(2) + text("(vector,(0,2,1))") + number(3000)
                      + numbers([-1, -1]) + text(""))
            stream = damaged(chance, [
                frame("beat"), frame("set_up", 0, orders), frame("ask_clock"),
                frame("go", 0, number(0)),
                frame("input", 0, b"words\n"), frame("output_taken", 0, number(5)),
                frame("answer", 0, b"cmd=response_to_init rc=0\n"),
                frame("output_closed", 0, number(1)), frame("signal", 0, number(15)),
                frame("beat"), frame("finish")])
            greeting = f"sinew-daemon {build} {1:064x} 0 0\n".encode()
            with self.subTest(seed=self.seed + n):
                done = support.run(support.SINEW, "daemon", feed=greeting + stream, limit=20)
                self.assertIn(done.code, range(128), done.err)


if __name__ == "__main__":
    if sys.argv[1] == "--daemon":
        be_daemon()
        sys.exit()
    import support
    words = argparse.ArgumentParser()
    words.add_argument("--runs", type=int, default=Wire.runs)
    words.add_argument("--seed", type=int, default=int(os.environ.get("SINEW_TEST_SEED", "1")))
    asked, rest = words.parse_known_args(sys.argv[3:])
    Wire.runs, Wire.seed = asked.runs, asked.seed
    print("seed", Wire.seed, flush=True)
    unittest.main(argv=sys.argv[:1] + rest)
