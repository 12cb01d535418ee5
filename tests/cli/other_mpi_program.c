// SPDX-License-Identifier: BSD-3-Clause
int other_mpi_answer(void);
int main(void) { return other_mpi_answer(); }
