// SPDX-License-Identifier: BSD-3-Clause
/* The C binding of fibers as a stranger uses it. */
#include <sinew.h>
#include <stdio.h>

static void body(void* argument) { *(int*)argument = 1; }

int main(void) {
  int ran = 0;
  sinew_fiber* fiber;
  if (sinew_start(NULL) != SINEW_OK) return 1;
  if (sinew_fiber_create(&fiber, body, &ran, NULL) != SINEW_OK) return 2;
  if (sinew_fiber_join(fiber) != SINEW_OK || sinew_stop() != SINEW_OK) return 3;
  puts(ran ? "a fiber has run" : "no fiber has run");
  return 0;
}
