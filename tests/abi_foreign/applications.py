# SPDX-License-Identifier: BSD-3-Clause
"""Applications of Debian's with inputs of ours, and tests of HDF5."""
import sys
from pathlib import Path

from case import NUMBER, Case, counted, lines

HERE = Path(__file__).resolve().parent
CP2K = """&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY_FORCE
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 120
    &END MGRID
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 0.000 0.000 0.000
      H 0.757 0.586 0.000
      H -0.757 0.586 0.000
    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""
ELK = """tasks
  0

sppath
  'SPECIES/'

avec
  5.13  5.13  0.00
  5.13  0.00  5.13
  0.00  5.13  5.13

atoms
  1
  'Si.in'
  2
  0.0  0.0  0.0  0.0 0.0 0.0
  0.25 0.25 0.25 0.0 0.0 0.0

ngridk
  2 2 2

"""
NWCHEM = """start water
geometry units angstrom
  O 0.000 0.000 0.000
  H 0.757 0.586 0.000
  H -0.757 0.586 0.000
end
basis
  * library 6-31g
end
scf
  thresh 1e-8
end
mp2
  tight
end
task scf gradient
task mp2 energy
dft
  xc b3lyp
end
task dft energy
"""
ESPRESSO = """&control
  calculation = 'scf', prefix = 'si', pseudo_dir = '.', outdir = '.', tprnfor = .true.
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 16
/
&electrons
  conv_thr = 1d-9
/
ATOMIC_SPECIES
Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
Si 0.00 0.00 0.00
Si 0.26 0.25 0.24
K_POINTS automatic
2 2 2 1 1 1
"""


def box(n):
    """A skewed box of n x n x n cells, as gmsh's files have it."""
    points = [(x, y, z) for z in range(n + 1) for y in range(n + 1) for x in range(n + 1)]
    number = {point: at for at, point in enumerate(points, 1)}
    corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    cells = [" ".join(str(number[x + a, y + b, z + c]) for a, b, c in corners)
             for x, y, z in points if max(x, y, z) < n]
    nodes = [f"{number[x, y, z]} {x + 0.1 * y} {y} {z + 0.05 * x}" for x, y, z in points]
    elements = [f"{at} 5 2 1 1 {cell}" for at, cell in enumerate(cells, 1)]
    parts = [("MeshFormat", ["2.2 0 8"]), ("Nodes", [str(len(nodes)), *nodes]),
             ("Elements", [str(len(elements)), *elements])]
    return "".join(f"${name}\n" + "\n".join(text) + f"\n$End{name}\n" for name, text in parts)


def cases(place):
    share = place.root / "usr/share"
    cp2k = {name: share / "cp2k" / name for name in ("BASIS_SET", "GTH_POTENTIALS")}
    yield Case("cp2k", "openmpi", [place.bin / "cp2k.psmp", "-i", "water.inp"],
               counted(rf"ENERGY\| Total FORCE_EVAL .*:\s+({NUMBER})"), ranks=2,
               files=cp2k | {"water.inp": CP2K})
    elk = ELK.replace("SPECIES", str(share / "elk-lapw/species"))
    yield Case("elk", "openmpi", [place.bin / "elk-lapw"],
               counted(rf"total energy\s+:\s+({NUMBER})"), ranks=2, output="INFO.OUT",
               files={"elk.in": elk})
    yield Case("iqtree", "openmpi",
               [place.bin / "iqtree2-mpi", "-s", "example.phy", "-m", "JC", "-seed", "1", "-nt",
                "1"], counted(rf"BEST SCORE FOUND : ({NUMBER})"), ranks=2,
               files={"example.phy": share / "doc/iqtree/examples/example.phy"})
    for mpi, own_ranks in (("openmpi", 0), ("mpich", 1)):
        # On Debian's MPICH it does not converge with two ranks, and crashes with four.
        yield Case(f"nwchem-{mpi}", mpi, [place.bin / f"nwchem.{mpi}", "water.nw"],
                   counted(rf"Total (?:SCF|MP2|DFT) energy\s*=?\s+({NUMBER})"), least=4,
                   own_ranks=own_ranks, files={"water.nw": NWCHEM},
                   env={"NWCHEM_BASIS_LIBRARY": f"{share}/nwchem/libraries/"})
    yield Case("espresso", "openmpi", [place.bin / "pw.x", "-nk", "2", "-in", "si.in"],
               lines(r"^!|estimated scf|force ="), least=10,
               files={"si.in": ESPRESSO,
                      "Si.pz-vbc.UPF": share / "espresso/pseudo/Si.pz-vbc.UPF"})
    saturne = place.root / "usr/lib/code_saturne"
    # It looks for a variable of Open MPI's launcher, and would else compute on each rank alone.
    yield Case("code-saturne", "openmpi", [saturne / "cs_solver", "--quality"],
               lines(r"value =|Number of|norm|^ *\d+ : \[|MPI ranks:"), ranks=3, least=100,
               prepare=[saturne / "cs_preprocess", "box.msh"], files={"box.msh": box(12)},
               output="run_solver.log")
    yield from hdf5_cases(place)


def hdf5_cases(place):
    """h5py's own tests, and parallel accesses by the C libraries of both MPIs."""
    for mpi in ("openmpi", "mpich"):
        library = place.lib / f"hdf5/{mpi}"
        # That MPI's own library, by its name alone: what is found at run time is another matter.
        link = ["-L", library, "-lhdf5", place.lib / {"openmpi": "libmpi.so.40",
                                                      "mpich": "libmpich.so.12"}[mpi]]
        yield Case(f"hdf5-{mpi}", mpi, ["./check"], lines("sum|right|wrong"), wrong="wrong",
                   least=6, prepare=["cc", "-I", place.root / f"usr/include/hdf5/{mpi}", "-I",
                                     place.include(mpi), HERE / "hdf5_check.c", "-o", "check",
                                     *link, "-Wl,--unresolved-symbols=ignore-in-shared-libs"])
    if sys.version_info[:2] == (3, 11):  # Debian 12's
        packages = place.root / "usr/lib/python3/dist-packages"
        # One test asks that root may not write; the other reads a file from afar.
        yield Case("h5py", "openmpi",
                   [sys.executable, "-S", "-m", "pytest", "-p", "no:cacheprovider", "-q",
                    "--color=no", "--with-mpi", "-m", "not mpi_skip",
                    "-k", "not test_append and not test_ros3",
                    packages / "h5py/_debian_h5py_mpi/tests"],
                   counted(r"\d+ failed|\d+ passed"), ranks=2, least=2, wrong="(?m)^FAILED",
                   env={"PYTHONPATH": str(packages)})
