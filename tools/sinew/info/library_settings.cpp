// SPDX-License-Identifier: BSD-3-Clause
// The settings of libraries that this program does not contain, so that `sinew info config` and the
// launcher know them as well.
#include "abi/coarray/settings.hpp"
#include "abi/mpi/settings.hpp"
#include "abi/threads/settings.hpp"
