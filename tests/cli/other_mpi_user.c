// SPDX-License-Identifier: BSD-3-Clause
int other_mpi_answer(void);
__attribute__((visibility("default"))) int other_mpi_user_answer(void);
int other_mpi_user_answer(void) { return other_mpi_answer(); }
