# SPDX-License-Identifier: BSD-3-Clause
"""The launcher where the system lacks a call (an older kernel: ENOSYS) or a container's profile
refuses it (EPERM): jobs end well, signals arrive, and a kill of the launcher leaves nothing."""

import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402
from support import PROBE, SINEW, run, survivors  # noqa: E402

HELPER = os.path.join(os.path.dirname(PROBE), "without_call")
MESSAGES = os.path.join(os.path.dirname(PROBE), "long_messages")
NEWER = ["close_range", "pidfd_open", "clone3", "membarrier", "process_vm_readv,process_vm_writev",
         "memfd_create", "signalfd,signalfd4", "epoll_create,epoll_create1", "epoll_ctl",
         "epoll_wait,epoll_pwait", "epoll_pwait2", "statx", "rseq", "openat2", "faccessat2",
         "copy_file_range"]
NEWER = NEWER + [",".join(NEWER)]
SKIPPED = 77


class Refused(unittest.TestCase):
    def each(self):
        for call in NEWER:
            for failure in ("ENOSYS", "EPERM"):
                with self.subTest(call=call, failure=failure):
                    if run(HELPER, failure, call, "true").code != SKIPPED:
                        yield [HELPER, failure, call, SINEW, "run"]

    def test_jobs_end_well(self):
        files = support.shared_files()
        for words in self.each():
            result = run(*words, "-n", "2", PROBE, "exchange", limit=60)
            self.assertEqual((result.code, result.err), (0, ""))
            self.assertEqual(result.out.count("good"), 2)
            result = run(*words, "-l", "-n", "2", "--stdin", "all", "cat", feed=b"word\n", limit=60)
            self.assertEqual(sorted(result.out.splitlines()), ["[0] word", "[1] word"])
            self.assertEqual(survivors(), [])
            self.assertEqual(support.files_left(files), [])

    @unittest.skipUnless(os.access(MESSAGES, os.X_OK), "no MPI library is built")
    def test_long_messages(self):
        for words in self.each():
            result = run(*words, "-n", "2", MESSAGES, limit=60)
            self.assertEqual((result.code, result.err), (0, ""))

    @unittest.skipUnless(os.access(MESSAGES, os.X_OK), "no MPI library is built")
    def test_other_ways_to_run(self):
        """Where clone3 is refused (not missing), the C library itself starts no thread."""
        library = os.path.join(os.path.dirname(os.path.dirname(SINEW)), "lib",
                               "libsinew_threads.so")
        for failure, calls in (("ENOSYS", NEWER[:-1]),
                               ("EPERM", [c for c in NEWER[:-1] if c != "clone3"])):
            with self.subTest(failure):
                helper = [HELPER, failure, ",".join(calls)]
                result = run(*helper, SINEW, "info", limit=60)
                self.assertEqual(result.code, 0, result.err)
                if os.access(library, os.R_OK):
                    result = run(*helper, SINEW, "run", "--threads-as-fibers", "-n", "2", MESSAGES,
                                 limit=60)
                    self.assertEqual((result.code, result.err), (0, ""))
                self.assertEqual(survivors(), [])

    def test_signals(self):
        for words in self.each():
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                process = support.start(*words, "-n", "2", "sh", "-c", "echo here; sleep 60")
                for _ in range(2):
                    process.stdout.readline()
                process.send_signal(number)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, err)
                self.assertEqual(survivors(), [])

    def test_launcher_killed(self):
        files = support.shared_files()
        for words in self.each():
            process = support.start(*words, "-n", "2", "sh", "-c", "sleep 60 & echo here; wait")
            for _ in range(2):
                process.stdout.readline()
            process.kill()
            process.wait()
            self.assertEqual(survivors(), [])
            self.assertEqual(support.files_left(files), [])
            process.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
