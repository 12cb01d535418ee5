// SPDX-License-Identifier: BSD-3-Clause
// Completions under the name that most of the code base knows them by. They stand on layer 0, since
// fiber joins end in them too.
#pragma once

#include "sinew/base/completion.hpp"

namespace sinew::core {

using sinew::completion;
using sinew::waiter;

}  // namespace sinew::core
