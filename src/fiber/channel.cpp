// SPDX-License-Identifier: BSD-3-Clause
#include "fiber/channel_core.hpp"

namespace sinew::fiber {

template class basic_channel<real_waits>;

}  // namespace sinew::fiber
