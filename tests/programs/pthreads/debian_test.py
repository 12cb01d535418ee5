# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian with threads, unmodified, as fibers; and what is refused.

debian_test.py SINEW COMPILER
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SINEW, COMPILER = sys.argv[1:3]


def fibers(*words, workers=2, **more):
    """Runs a program with its threads as fibers; the result of subprocess.run, and `fibers`: how
    many processes of it said that their threads are fibers (those lines are taken away)."""
    done = subprocess.run(
        [SINEW, "run", "--timeout", "200", "--threads-as-fibers", "-x", "SINEW_BASE_LOG=info",
         "-x", f"SINEW_FIBER_WORKERS={workers}", *map(str, words)],
        capture_output=True, timeout=250, check=False, **more)
    said = b"sinew: info: threads are fibers, workers: %d.\n" % workers
    done.fibers = done.stderr.count(said)
    done.stderr = done.stderr.replace(said, b"")
    return done


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Compressors(unittest.TestCase):
    """Results must not depend on how the threads run."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.text = Path(cls.folder.name) / "text"
        draw = random.Random(42)
        words = ["".join(draw.choices("abcdefgh", k=draw.randint(1, 9))) for _ in range(500)]
        cls.text.write_text(" ".join(draw.choices(words, k=1_000_000)))

    def compare(self, *command):
        plain = subprocess.run([*command, "-c", self.text], capture_output=True, check=True)
        for workers in (1, 2):
            ours = fibers(*command, "-c", self.text, workers=workers)
            self.assertEqual((ours.returncode, ours.stderr, ours.fibers), (0, b"", 1))
            self.assertEqual(ours.stdout, plain.stdout, "the compressed bytes differ")
            packed = Path(self.folder.name) / "packed"
            packed.write_bytes(ours.stdout)
            back = fibers(*command, "-d", "-c", packed, workers=workers)
            self.assertEqual((back.returncode, back.stderr), (0, b""))
            self.assertEqual(back.stdout, self.text.read_bytes())

    @needs("pigz")
    def test_pigz(self):
        self.compare("pigz", "-n", "-p", "8", "-b", "128")

    @needs("pigz")
    def test_pigz_in_a_pipe(self):
        with self.text.open("rb") as text:
            ours = fibers("sh", "-c", "cat | pigz -n -p 4 -c | cat", stdin=text)
        self.assertEqual((ours.returncode, ours.stderr, ours.fibers), (0, b"", 1))
        back = subprocess.run(["pigz", "-dc"], input=ours.stdout, capture_output=True, check=True)
        self.assertEqual(back.stdout, self.text.read_bytes())

    @needs("pbzip2")
    def test_pbzip2(self):
        self.compare("pbzip2", "-p8", "-b2")

    @needs("lbzip2")
    def test_lbzip2(self):
        """Its main thread waits in sigsuspend() for a signal that it has blocked before."""
        self.compare("lbzip2", "-n", "4")

    @needs("zstd")
    def test_zstd(self):
        self.compare("zstd", "-q", "-T4")

    @needs("xz")
    def test_xz(self):
        self.compare("xz", "-1", "-T4", "--block-size=1MiB")


class Interpreter(unittest.TestCase):
    def test_python(self):
        script = Path(__file__).with_name("threads.py")
        for workers in (1, 2):
            done = fibers("env", f"SINEW_TEST_KERNEL_THREADS={workers}", sys.executable, script,
                          workers=workers)
            self.assertEqual((done.returncode, done.stdout), (0, b"all parts hold\n"), done.stderr)


    def test_deep_recursion(self):
        script = ("import sys, threading\nsys.setrecursionlimit(3000)\n"
                  "def f(n): return n and 1 + f(n - 1)\n"
                  "t = threading.Thread(target=lambda: print(f(2000))); t.start(); t.join()")
        done = fibers(sys.executable, "-c", script)
        self.assertEqual((done.returncode, done.stdout), (0, b"2000\n"), done.stderr)

    def test_numpy(self):
        script = ("import numpy as n\na = n.random.rand(300, 300)\n"
                  "print(n.allclose(n.linalg.inv(a) @ a, n.eye(300), atol=1e-6))")
        if subprocess.run([sys.executable, "-c", script], capture_output=True).returncode != 0:
            self.skipTest("numpy is not installed")
        for workers in (1, 2):
            done = fibers("env", "OPENBLAS_NUM_THREADS=4", sys.executable, "-c", script,
                          workers=workers)
            self.assertEqual((done.returncode, done.stdout), (0, b"True\n"), done.stderr)


class Stressors(unittest.TestCase):
    @needs("stress-ng")
    def test_pthreads_and_mutexes(self):
        for what, operations in (("pthread", 200), ("mutex", 2000)):
            done = fibers("stress-ng", f"--{what}", "2", f"--{what}-ops", operations)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(done.fibers, 0)
            self.assertIn(b"successful run", done.stderr + done.stdout)


class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def build(self, *flags, source="int main(void) { return 0; }"):
        program = Path(self.folder.name) / "program"
        program.with_suffix(".c").write_text(source)
        done = subprocess.run([COMPILER, program.with_suffix(".c"), "-o", program, *flags],
                              capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"cannot be built here: {' '.join(flags)}")
        return program


class OpenMP(Built):
    """Its threads wait in system calls of their own: found by the monitor of stuck workers."""

    SOURCE = """
        #include <dlfcn.h>
        #include <stdio.h>
        #include <pthread.h>
        static void* returns(void* argument) { return argument; }
        int main(void) {
          pthread_t thread;
          int regions = 0;
          if (pthread_create(&thread, 0, returns, 0) || pthread_join(thread, 0)) return 1;
          for (int i = 0; i < 50; ++i) {
            #pragma omp parallel num_threads(4)
            {
              #pragma omp atomic
              ++regions;
              #pragma omp barrier
            }
          }
          printf("%d regions\\n", regions);
          return 0;
        }"""

    def test_more_threads_than_workers(self):
        program = self.build("-fopenmp", "-pthread", source=self.SOURCE)
        for workers in (1, 2):
            done = fibers(program, workers=workers)
            self.assertEqual((done.returncode, done.stdout), (0, b"200 regions\n"), done.stderr)
            self.assertEqual(done.fibers, 1)


class LateOpenMP(Built):
    """gcc's library for OpenMP, opened when threads are fibers already."""

    SOURCE = """
        #include <dlfcn.h>
        #include <pthread.h>
        #include <stdio.h>
        static void (*parallel)(void (*)(void*), void*, unsigned, unsigned);
        static int parts;
        static void part(void* unused) {
          for (volatile int i = 0; i < 100000; ++i) continue;
          __atomic_fetch_add(&parts, 1, __ATOMIC_RELAXED);
          (void)unused;
        }
        static void* runs(void* unused) {
          for (int i = 0; i < 10; ++i) parallel(part, NULL, 4, 0);
          return unused;
        }
        static void* opens(void* unused) {
          void* library = dlopen("libgomp.so.1", RTLD_NOW);
          if (library == NULL) return "no libgomp";
          parallel = (void (*)(void (*)(void*), void*, unsigned, unsigned))
              dlsym(library, "GOMP_parallel");
          return unused;
        }
        int main(void) {
          pthread_t a, b;
          void* wrong = NULL;
          pthread_create(&a, NULL, opens, NULL);
          pthread_join(a, &wrong);
          if (wrong != NULL) return 77;
          runs(NULL);
          pthread_create(&a, NULL, runs, NULL);
          pthread_create(&b, NULL, runs, NULL);
          pthread_join(a, NULL);
          pthread_join(b, NULL);
          printf("%d parts\\n", parts);
          return 0;
        }"""

    def test_opened_in_a_thread(self):
        program = self.build("-pthread", source=self.SOURCE)
        if subprocess.run([program], capture_output=True, check=False).returncode == 77:
            self.skipTest("no libgomp")
        for workers in (1, 2):
            done = fibers(program, workers=workers)
            self.assertEqual((done.returncode, done.stdout), (0, b"120 parts\n"), done.stderr)


class Java(unittest.TestCase):
    """Its runtime protects the ends of stacks, stops threads, and collects garbage."""

    SOURCE = """
        import java.util.concurrent.*;
        public class Threads {
          static volatile boolean told;
          static int depth(int n) { return 1 + depth(n + 1); }
          static void overflow() {
            try { depth(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
          }
          static void spin() { while (!told) { } System.out.println("told"); }
          static void sleep() {
            try { Thread.sleep(100000); } catch (InterruptedException e) {
              System.out.println("interrupted");
            }
          }
          static void join(Runnable what, Runnable then) throws Exception {
            Thread thread = new Thread(what);
            thread.start();
            Thread.sleep(20);
            then.run();
            if (thread.isAlive()) thread.interrupt();
            thread.join();
          }
          public static void main(String[] words) throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(8);
            ConcurrentHashMap<Integer, Integer> all = new ConcurrentHashMap<>();
            for (int i = 0; i < 40; ++i) {
              final int number = i;
              pool.submit(() -> {
                byte[][] garbage = new byte[200][];
                for (int j = 0; j < 200; ++j) garbage[j] = new byte[20000];
                all.merge(number % 4, 1, Integer::sum);
              });
            }
            pool.shutdown();
            pool.awaitTermination(60, TimeUnit.SECONDS);
            System.gc();
            System.out.println(all);
            join(Threads::overflow, () -> { });
            join(Threads::spin, () -> { told = true; });
            join(Threads::sleep, () -> { });
          }
        }"""

    @needs("java")
    def test_as_natively(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "Threads.java"
            source.write_text(self.SOURCE)
            command = ["java", "-XX:TieredStopAtLevel=1", source]
            plain = subprocess.run(command, capture_output=True, timeout=100, check=False)
            if plain.returncode != 0:
                self.skipTest("no compiler of Java")
            done = fibers(*command, workers=1)
            self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)


class Refusals(Built):
    """What cannot be is said before the program starts, with exit code 126."""

    def refused(self, program, reason):
        done = fibers(program)
        self.assertEqual(done.returncode, 126, done.stderr)
        self.assertIn(reason, done.stderr)

    def test_static(self):
        self.refused(self.build("-static"), b"statically linked")

    def test_sanitizer(self):
        self.refused(self.build("-fsanitize=address"), b"sanitizer")

    def test_go(self):
        """Whatever has the note of Go's linker and makes threads."""
        program = self.build("-pthread", source="""
            #include <pthread.h>
            __asm__(".pushsection .note.go.buildid, \\"a\\", @note\\n"
                    ".long 4, 4, 4\\n.ascii \\"Go\\\\0\\\\0\\"\\n.long 0\\n.popsection");
            static void* nothing(void* argument) { return argument; }
            int main(void) {
              pthread_t thread;
              return pthread_create(&thread, 0, nothing, 0) || pthread_join(thread, 0);
            }""")
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)
        self.refused(program, b"Go's runtime makes the threads")
        done = fibers(program)
        self.assertIn(b"Without this option its threads are the system's", done.stderr)

    def test_rights(self):
        program = self.build()
        os.chmod(program, 0o4755)
        self.refused(program, b"rights")

    def test_ceiling(self):
        program = self.build("-pthread", source="""
            #include <pthread.h>
            int main(void) {
              pthread_mutexattr_t a;
              pthread_mutexattr_init(&a);
              return pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT) == 0;
            }""")
        done = fibers(program)
        self.assertEqual(done.returncode, 0, "it is told that it was refused")
        self.assertIn(b"a mutex with a priority ceiling", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
