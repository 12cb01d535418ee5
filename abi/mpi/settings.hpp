// The settings of libmpi_abi, also for the table of `sinew info config`.
#pragma once

#include "sinew/base/settings.hpp"

namespace sinew::mpi::check {

inline setting<bool> check_setting("mpi", "check", false, "",
                                   "the ranks compare what they call before each collective, and "
                                   "a difference is an error that names a rank");

}  // namespace sinew::mpi::check
