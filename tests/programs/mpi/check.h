/* SPDX-License-Identifier: BSD-3-Clause */
/* What the test programs share: an assertion that says where it failed and ends the job. */
#ifndef SINEW_TESTS_CHECK_H
#define SINEW_TESTS_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                          \
  do {                                                                        \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);     \
      MPI_Abort(MPI_COMM_WORLD, 1);                                           \
    }                                                                         \
  } while (0)

/* The call returns this error class, and MPI_Error_string holds the words. */
static inline void expect_error(int code, int wanted, const char* words, int line) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0, error_class = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  if (error_class != wanted || strstr(text, words) == NULL) {
    fprintf(stderr, "line %d: class %d instead of %d, or no \"%s\" in \"%s\"\n", line, error_class,
            wanted, words, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
#define EXPECT_ERROR(call, wanted, words) expect_error((call), (wanted), (words), __LINE__)

/* Of this machine, pretended, or real hosts (tests/hosts). */
static inline int on_several_nodes(void) {
  return getenv("SINEW_FABRIC_NODES") != NULL || getenv("OVER_HOSTS") != NULL;
}

#endif
