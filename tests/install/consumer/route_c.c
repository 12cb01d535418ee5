// SPDX-License-Identifier: BSD-3-Clause
/* The C binding of transfers over many paths. */
#include <sinew_route.h>

int main(void) { return sinew_route_join(0, 0) == SINEW_OK && sinew_route_leave() == 0 ? 0 : 1; }
