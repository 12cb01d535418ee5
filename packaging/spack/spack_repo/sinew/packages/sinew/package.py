# SPDX-License-Identifier: BSD-3-Clause
"""Sinew for Spack, as a provider of mpi. The archive is that of `make dist`, looked for where Spack
is called: spack repo add packaging/spack/spack_repo/sinew; cd dist; spack install -n sinew"""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Sinew(CMakePackage):
    """One communication runtime under several programming models: MPI, coarrays of gfortran,
    fibers, events, regions, transfers over many paths."""

    homepage = "https://example.org/sinew"
    url = f"file://{os.getcwd()}/sinew-0.1.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")

    variant("fortran", default=True, description="Build MPI for Fortran")
    variant("ucx", default=True, description="Connect several nodes")
    variant("stacks", default=True, description="Tell where ranks stand (sinew status)")

    generator("ninja")
    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("rapidjson", type="build")
    depends_on("expat")
    depends_on("hwloc@2.3:")
    depends_on("libsodium")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("elfutils@0.176:", when="+stacks")

    conflicts("%gcc@:12.1")
    requires("platform=linux")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("SINEW_CCACHE", False),
        ]

    @property
    def libs(self):
        return find_libraries("libmpi_abi", root=self.prefix, shared=True, recursive=True)

    def setup_run_environment(self, env):
        env.set("MPICC", self.prefix.bin.mpicc)
        env.set("MPICXX", self.prefix.bin.mpicxx)
        env.set("MPIF77", self.prefix.bin.mpif77)
        env.set("MPIF90", self.prefix.bin.mpif90)

    def setup_dependent_build_environment(self, env, dependent_spec):
        """The wrappers call the compilers of the package that is built."""
        module = dependent_spec.package.module
        for variable, compiler in (("MPICC_CC", "spack_cc"), ("MPICXX_CXX", "spack_cxx"),
                                   ("MPIFORT_FC", "spack_fc")):
            if hasattr(module, compiler):
                env.set(variable, getattr(module, compiler))

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpifc = self.prefix.bin.mpif90
        self.spec.mpif77 = self.prefix.bin.mpif77
