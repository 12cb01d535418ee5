// SPDX-License-Identifier: BSD-3-Clause
// The same as C++.
#include "header_test.c"
