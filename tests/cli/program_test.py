# SPDX-License-Identifier: BSD-3-Clause
"""What `sinew info program` and `sinew env` say, and `sinew run` of programs that cannot run on
Sinew.

usage: program_test.py SINEW BOOT_PROBE
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import PROBE, SINEW, run, sinew_run

BUILT = os.path.dirname(PROBE)
LIBRARIES = os.path.join(os.path.dirname(SINEW), "../lib")
COMPILER = shutil.which("cc") or shutil.which("gcc")
CALL = "int MPI_Init(int*, char***); int main(int n, char** v) { return MPI_Init(&n, &v); }\n"

if not os.path.exists(os.path.join(LIBRARIES, "sinew/mpich/libmpi.so.12")):
    print("skipped: the libraries of other MPIs' ABIs are not built")
    sys.exit(77)


def facts(*files):
    done = run(SINEW, "info", "program", "--json", *files)
    return done.code, json.loads(done.out)["programs"]


def may_change_root():
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    tried = "mount --bind /proc /proc && chroot / true"
    return subprocess.run(["unshare", "--mount", "sh", "-c", tried], capture_output=True,
                          timeout=60, check=False).returncode == 0


def libraries_of(mpi):
    return "-L" + os.path.join(LIBRARIES, "sinew", mpi)


@unittest.skipUnless(COMPILER, "there is no C compiler")
class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def compiled(self, name, source, *words):
        with open(self.path(name + ".c"), "w") as file:
            file.write(source)
        done = subprocess.run([COMPILER, self.path(name + ".c"), "-o", self.path(name), *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def judged(self, path, why):
        """Does not run, for that reason."""
        code, (found,) = facts(path)
        self.assertEqual((code, found["runs"]), (1, "no"), found)
        self.assertRegex(found["why"], why)
        return found

    def test_programs_of_each_mpi(self):
        for mpi, library, names in (("mpich", "libmpi.so.12", "MPICH's ABI"),
                                    ("openmpi", "libmpi.so.40", "Open MPI's ABI")):
            program = self.compiled(mpi, CALL, libraries_of(mpi), "-lmpi")
            code, (found,) = facts(program)
            self.assertEqual((code, found["runs"], found["why"]), (0, "yes", ""))
            self.assertEqual(found["MPI"], f"{names} ({library})")
            self.assertTrue(os.path.samefile(
                found["found"], os.path.join(LIBRARIES, "sinew", mpi, library)))
            self.assertEqual(found["interfaces"], "C")

    def test_interfaces_by_the_names_that_a_program_calls(self):
        self.compiled("libcalled.so", "void mpi_init_(void){} void mpi_send_f08_(void){}\n"
                      "void MPI_Init(void){}\n", "-shared", "-fPIC", "-Wl,-soname,libcalled.so")
        calls = ("void mpi_init_(void), mpi_send_f08_(void), MPI_Init(void);\n"
                 "int main(void) { mpi_init_(); mpi_send_f08_(); MPI_Init(); return 0; }\n")
        program = self.compiled("calls", calls, "-L" + self.folder, "-lcalled",
                                "-Wl,-rpath," + self.folder)
        _, (found,) = facts(program)
        self.assertEqual(found["interfaces"],
                         "C, Fortran (mpif.h, module mpi), Fortran (mpi_f08)")

    def test_a_static_program_keeps_its_mpi(self):
        own = "int MPI_Init(void) { return 0; } const char* name = \"MPI_Init\";\n"
        program = self.compiled("static", own + "int main(void) { return MPI_Init() + !name; }\n",
                                "-static")
        self.judged(program, "^It is linked statically, so that its MPI cannot be replaced")

    def test_two_mpis_in_one_program(self):
        self.compiled("libpart.so", "int MPI_Init(void*, void*); int part(void) "
                      "{ return MPI_Init(0, 0); }\n", "-shared", "-fPIC",
                      "-Wl,-soname,libpart.so", libraries_of("openmpi"), "-lmpi")
        program = self.compiled(
            "two", "int part(void);\n" + CALL.replace("return", "return part() +"),
            "-L" + self.folder, "-lpart", "-Wl,-rpath," + self.folder, libraries_of("mpich"),
            "-l:libmpi.so.12", "-Wl,--allow-shlib-undefined")
        two = r"was built with libmpi.so.12, and \S+/libpart.so with libmpi.so.40"
        self.judged(program, two)
        self.assertRegex(sinew_run("-n", "1", program).err, two)

    def test_what_is_missing(self):
        self.compiled("libgone.so", "int opal_progress(void) { return 0; }\n"
                      "int MPIX_Foo(void) { return 0; }\n", "-shared", "-fPIC",
                      "-Wl,-soname,libgone.so")
        program = self.compiled("needs", "int opal_progress(void), MPIX_Foo(void);\n"
                                "int main(void) { return opal_progress() + MPIX_Foo(); }\n",
                                "-L" + self.folder, "-lgone", "-Wl,-rpath," + self.folder)
        self.assertEqual(facts(program)[0], 0)
        os.remove(self.path("libgone.so"))
        self.judged(program, "It needs libgone.so, which is not found")
        self.compiled("libgone.so", "int nothing;\n", "-shared", "-fPIC",
                      "-Wl,-soname,libgone.so")
        found = self.judged(program, "inner parts of another MPI.*: opal_progress")
        self.assertRegex(found["why"], "uses what no library has.*: MPIX_Foo")

    def test_a_library_that_is_opened_later(self):
        """By its name it is Sinew's; another one, by its path, is told."""
        opens = ("#include <dlfcn.h>\nint main(int n, char** v) {\n"
                 "  void* mpi = dlopen(v[1], RTLD_NOW);\n"
                 "  void (*init)(void*, void*) = dlsym(mpi, \"MPI_Init\");\n"
                 "  void (*finalize)(void) = dlsym(mpi, \"MPI_Finalize\");\n"
                 "  init(0, 0); finalize(); return 0;\n}\n")
        program = self.compiled("opens", opens, "-ldl")
        done = sinew_run("-n", "2", program, "libmpi.so.12")
        self.assertEqual((done.code, done.err), (0, ""))
        theirs = self.compiled("libmpi.so.12", "#include <unistd.h>\nvoid MPI_Init(void) "
                               "{ sleep(2); }\nvoid MPI_Finalize(void) {}\n", "-shared", "-fPIC")
        done = sinew_run("-n", "2", program, theirs)
        self.assertIn(f"has loaded another MPI, {theirs}, and no rank has called Sinew's, so that "
                      "the job did not run on Sinew: let its programs open libmpi.so.12 by its "
                      "name alone, which finds Sinew's.\n", done.err)

    def test_mpi_that_is_called_before_main(self):
        early = CALL.split("int main")[0] + (
            "__attribute__((constructor)) static void early(void) { MPI_Init(0, 0); }\n"
            "int MPI_Finalize(void);\nint main(void) { return MPI_Finalize(); }\n")
        for mpi in ("mpich", "openmpi"):
            program = self.compiled("early-" + mpi, early, libraries_of(mpi), "-lmpi")
            done = sinew_run("-n", "2", program)
            self.assertEqual((done.code, done.err), (0, ""))

    def another_root(self, *files):
        """A folder that has these files, at their paths, and the libraries that they need."""
        root = self.path("root")
        listed = "".join(subprocess.run(["ldd", each], capture_output=True, text=True, timeout=60,
                                        check=False).stdout for each in files)
        sinew = os.path.realpath(os.path.join(LIBRARIES, ".."))
        found = {path for path in re.findall(r"(/\S+) \(0x", listed)
                 if not os.path.realpath(path).startswith(sinew)}
        for each in {*files, *found}:
            os.makedirs(root + os.path.dirname(each), exist_ok=True)
            shutil.copy(each, root + each)
        for folder in ("/proc", "/dev", sinew):
            os.makedirs(root + folder, exist_ok=True)
        return root, sinew

    @unittest.skipUnless(may_change_root(), "the system lets this user make no other root")
    def test_ranks_in_another_root(self):
        """As in a container, where Sinew is bound in or is not."""
        program = self.compiled("inside", CALL.replace("return MPI_Init(&n, &v);",
                                "int MPI_Finalize(void); MPI_Init(&n, &v); return MPI_Finalize();"),
                                libraries_of("mpich"), "-lmpi")
        root, sinew = self.another_root(
            program, *(os.path.realpath(os.path.join(LIBRARIES, each))
                       for each in ("libmpi_abi.so", "libsinew.so")))
        mounts = "".join(f"mount --bind {each} {root}{each} && " for each in ("/proc", "/dev"))
        inside = ("unshare", "--mount", "sh", "-c")
        done = sinew_run("-n", "2", *inside, f"{mounts} exec chroot {root} {program}")
        self.assertEqual(done.code, 127)
        self.assertRegex(done.err, r"not found there \(sinew info program FILE .*in a container, "
                         + re.escape(sinew) + "/lib has to lie at the same path")
        mounts += f"mount --bind {sinew} {root}{sinew} && "
        done = sinew_run("-n", "2", *inside, f"{mounts} exec chroot {root} {program}")
        self.assertEqual((done.code, done.err), (0, ""))

    def test_a_program_with_rights_of_its_own(self):
        program = self.compiled("rights", CALL, libraries_of("mpich"), "-lmpi")
        os.chmod(program, 0o4755)
        rights = "another user's or group's rights"
        self.judged(program, rights)
        self.assertRegex(sinew_run("-n", "1", program).err, rights)


class Others(unittest.TestCase):
    def test_what_is_no_program(self):
        for path, why in ((__file__, "neither a program nor a script"),
                          ("/nowhere", "no file that can be read"),
                          ("/", "no file that can be read")):
            code, (found,) = facts(path)
            self.assertEqual((code, found["runs"]), (1, "no"))
            self.assertIn(why, found["why"])

    def test_another_mpi_and_one_found_by_a_path_of_its_own(self):
        code, found = facts(os.path.join(BUILT, "other_mpi_program"),
                            os.path.join(BUILT, "other_mpich_program"), "/bin/sh")
        self.assertEqual((code, [each["runs"] for each in found]), (1, ["no", "no", "yes"]))
        self.assertRegex(found[0]["why"], r"finds another MPI, \S+libmpi_cray.so.12")
        self.assertRegex(found[1]["why"], "by a path of its own.*patchelf")

    def test_words(self):
        self.assertEqual(run(SINEW, "info", "program").code, 2)
        self.assertEqual(run(SINEW, "env", "word").code, 2)
        self.assertIn("mpich, openmpi or standard", run(SINEW, "env", "--abi", "lam").err)


class Environment(unittest.TestCase):
    SHOWN = 'echo "$LD_LIBRARY_PATH|$MPI4PY_LIBMPI"'

    def shown(self, *words, before=""):
        script = f'{before}; eval "$({SINEW} env {" ".join(words)})"; {self.SHOWN}'
        done = run("sh", "-c", script)
        self.assertEqual(done.err, "")
        path, python = done.out.strip().split("|")
        return path.split(":"), python

    def test_each_abi_and_all(self):
        own, mpich, openmpi = (os.path.realpath(os.path.join(LIBRARIES, each))
                               for each in (".", "sinew/mpich", "sinew/openmpi"))
        unset = "unset LD_LIBRARY_PATH"
        self.assertEqual(self.shown("--abi", "standard", before=unset), ([own], ""))
        self.assertEqual(self.shown("--abi", "openmpi", before=unset),
                         ([own, openmpi], openmpi + "/libmpi.so.40"))
        self.assertEqual(self.shown(before="LD_LIBRARY_PATH=/a:/b"),
                         ([own, mpich, openmpi, "/a", "/b"], mpich + "/libmpi.so.12"))

    @unittest.skipUnless(shutil.which("csh"), "there is no csh")
    def test_csh(self):
        done = run("csh", "-f", "-c", f"eval \"`{SINEW} env --csh`\"; printenv LD_LIBRARY_PATH")
        self.assertEqual(done.code, 0, done.err)

    def test_python_finds_sinews_library_unless_the_user_names_one(self):
        show = "import os; print(os.environ['MPI4PY_LIBMPI'])"
        done = sinew_run("-n", "1", sys.executable, "-c", show)
        self.assertTrue(done.out.strip().endswith("sinew/mpich/libmpi.so.12"), done.out)
        done = sinew_run("-n", "1", "-x", "MPI4PY_LIBMPI=/theirs", sys.executable, "-c", show)
        self.assertEqual(done.out, "/theirs\n")

    def of_python(self, program, virtual_env=""):
        """The library that mpi4py is told, when an interpreter runs."""
        done = run(SINEW, "run", "-n", "1", program, "-c", 'echo "$MPI4PY_LIBMPI"',
                   env={"VIRTUAL_ENV": virtual_env})
        self.assertEqual((done.code, done.err), (0, ""))
        return "/".join(done.out.strip().split("/")[-2:])

    def test_python_gets_the_abi_of_the_mpi_in_its_environment(self):
        """Its other packages were built for that, and get mpi4py's handles."""
        mpich, openmpi = "mpich/libmpi.so.12", "openmpi/libmpi.so.40"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "lib"):
                os.mkdir(os.path.join(folder, name))
            python = os.path.join(folder, "bin/python")
            library = os.path.join(folder, "lib/libmpi.so")
            os.symlink("/bin/sh", python)
            self.assertEqual(self.of_python(python), mpich)
            open(library + ".40", "w").close()
            self.assertEqual(self.of_python(python), openmpi)
            self.assertEqual(self.of_python("/bin/sh"), mpich)
            self.assertEqual(self.of_python("/bin/sh", virtual_env=folder), openmpi)
            open(library + ".12", "w").close()  # mpi4py takes it first
            self.assertEqual(self.of_python(python), mpich)
            os.symlink("libmpi.so.40", library)  # unless this leads elsewhere
            self.assertEqual(self.of_python(python), openmpi)
            self.assertEqual(self.of_python("/bin/sh", virtual_env="/nowhere"), mpich)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
