# SPDX-License-Identifier: BSD-3-Clause
"""libmpi_abi exports exactly the ABI's functions, the removed ones of MPI-1 and those of mpi-ext.h,
each also under its PMPI_ name, what libmpifort_abi looks for beside them
(abi/fortran/attributes.cpp), and the table of functions for libraries of other ABIs."""

import subprocess
import sys


def main(nm, library, names_file, removed_file):
    names = open(names_file, encoding="ascii").read().split()
    removed = open(removed_file, encoding="ascii").read().split()
    wanted = {prefix + name for name in names + removed for prefix in ("", "P")}
    wanted |= {"SINEW_caller_is_fortran", "SINEW_mpi_functions", "SINEW_set_operation"}
    survival = ("revoke is_revoked shrink ishrink agree iagree get_failed ack_failed failure_ack "
                "failure_get_acked").split()
    wanted |= {f"{prefix}MPIX_Comm_{name}" for name in survival for prefix in ("", "P")}
    listing = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    kinds = {line.split()[2].split("@")[0]: line.split()[1] for line in listing.splitlines()}
    faults = [f"missing: {name}" for name in sorted(wanted - set(kinds))]
    faults += [f"not of the ABI: {name}" for name in sorted(set(kinds) - wanted)]
    # Weak or not makes no difference to the dynamic linker, and link-time optimisation drops it;
    # tests/programs/mpi/interposed.c shows that a tool can replace them.
    faults += [f"{name} is no function" for name, kind in kinds.items()
               if kind not in "TW" and name != "SINEW_mpi_functions"]
    if len(names) != 664:
        faults.append(f"names.txt has {len(names)} names, the ABI 664")
    if len(removed) != 10:
        faults.append(f"removed_names.txt has {len(removed)} names, MPICH exports 10 of them")
    print("\n".join(faults[:40]) or f"{len(kinds)} symbols, as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
