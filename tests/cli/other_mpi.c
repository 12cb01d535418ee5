// SPDX-License-Identifier: BSD-3-Clause
// Stands for the library of another MPI: only its name matters.
__attribute__((visibility("default"))) int other_mpi_answer(void);
int other_mpi_answer(void) { return 0; }
