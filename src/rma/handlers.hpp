// Active messages of the room. p2p has 1 to 5.
#pragma once

#include "sinew/fabric/fabric.hpp"

namespace sinew::rma {

enum am : fabric::handler_id {
  handler_wake = 8,  ///< a word that the receiver may be waiting for has changed
};

}  // namespace sinew::rma
