// SPDX-License-Identifier: BSD-3-Clause
/* Whether a library is mapped while MPI runs: mapped NAME. Without a name it does nothing. */
#include "check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && rank == 0) {
    char line[4096];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
      found |= strstr(line, argv[1]) != NULL;
    }
    if (maps != NULL) {
      fclose(maps);
    }
    printf("%s: %s\n", argv[1], found ? "mapped" : "not mapped");
  }
  MPI_Finalize();
  return 0;
}
