// SPDX-License-Identifier: BSD-3-Clause
// The settings of coarrays, in a header so that `sinew info config` has them without the library.
#pragma once

#include <string>

#include "sinew/base/settings.hpp"

namespace sinew::coarray {

inline setting<bool> many_threads("coarray", "threads", false, "",
                                  "MPI may be initialised for MPI_THREAD_MULTIPLE beside "
                                  "coarrays; costs each message some locks");

inline setting<std::string> wide_real("coarray", "wide_real", "guess", "",
                                      "what reductions take real numbers of 16 bytes for, of "
                                      "which gfortran does not say whether they are REAL(10) or "
                                      "REAL(16)",
                                      "guess|10|16");

}  // namespace sinew::coarray
