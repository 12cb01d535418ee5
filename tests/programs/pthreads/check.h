// Claims of the test programs: always compiled in, named by their text.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define CHECK(claim) \
  ((claim) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #claim), exit(1)))
