/* SPDX-License-Identifier: BSD-3-Clause */
// Assertions of the test programs: always compiled in, named by their text.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
  ((condition) ? (void)0  \
               : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))
