# SPDX-License-Identifier: BSD-3-Clause
"""One rank's share of one of mpi4py's test modules: runs it and writes what became of each test.

Arguments: the folder of mpi4py's tests, the module's file name, the folder for results, then words
for mpi4py's own runner (exclusions).
"""

import json
import os
import sys
import unittest


class Recorder(unittest.TextTestResult):
    """Remembers each test's fate by name; the worst of its sub-tests counts."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.fates = {}

    def _note(self, test, fate):
        order = ["passed", "skipped", "failed"]
        name = test.id()
        if order.index(fate) >= order.index(self.fates.get(name, "passed")):
            self.fates[name] = fate

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note(test, "passed")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note(test, "failed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note(test, "skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note(test, "failed")

    def addError(self, test, err):
        super().addError(test, err)
        self._note(test, "failed")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self._note(test, "failed" if err else "passed")


def tell_what_is_missing(MPI):
    """test_exceptions and test_subclass open a session, a window and a file while they are imported
    and leave out the tests of those that raise NotImplementedError, which mpi4py raises only for
    functions that it was compiled without."""

    def probing(base, method):
        @classmethod
        def probe(cls, *arguments, **named):
            try:
                return getattr(base, method)(*arguments, **named)
            except MPI.Exception as error:
                if error.Get_error_class() != MPI.ERR_UNSUPPORTED_OPERATION:
                    raise
                raise NotImplementedError(str(error)) from error

        return type(base.__name__, (base,), {method: probe})

    MPI.Session = probing(MPI.Session, "Init")
    MPI.Win = probing(MPI.Win, "Create")
    MPI.File = probing(MPI.File, "Open")


def main():
    tests, module, results = sys.argv[1:4]
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    import main as upstream  # mpi4py's runner: it sets mpi4py up as its tests expect

    from mpi4py import MPI

    if module in ("test_exceptions.py", "test_subclass.py"):
        tell_what_is_missing(MPI)
    rank = MPI.COMM_WORLD.Get_rank()
    program = upstream.TestProgram
    recorded = {}

    class Runner(unittest.TextTestRunner):
        resultclass = Recorder

        def run(self, test):
            result = super().run(test)
            recorded.update(result.fates)
            return result

    class Program(program):
        def runTests(self):
            self.testRunner = Runner(verbosity=0, failfast=False, buffer=False)
            try:
                unittest.TestProgram.runTests(self)
            except SystemExit:
                pass

    words = ["-q", "--no-builddir", "-i", f"^{module[:-3]}\\.py$", *sys.argv[4:]]
    Program(module=None, argv=[os.path.join(tests, "main.py"), *words], exit=False)
    path = os.path.join(results, f"{rank}.json")
    with open(path + ".part", "w", encoding="utf-8") as out:
        json.dump(recorded, out)
    os.replace(path + ".part", path)


# mpi4py's pools run the main module once more in the ranks that they start, under another name.
if __name__ == "__main__":
    main()
