// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/fabric/corrupt.hpp"

#include <cstdlib>

#include "sinew/base/last_words.hpp"
#include "sinew/base/log.hpp"

namespace sinew::fabric {

void corrupt_peer(job_rank peer, std::string_view what, std::uint64_t value) noexcept {
  base::last_words text;
  text.add("sinew");
  if (!log_identity().empty()) {
    text.add("[").add(log_identity()).add("]");
  }
  text.add(": error: what rank ")
      .add_number(peer.index())
      .add(" has written into shared memory makes no sense: ")
      .add(what)
      .add(" (")
      .add_number(value)
      .add("). That rank has overwritten its communication memory, or runs another version of the ")
      .add("library: look there for stray stores (a debug or address-sanitizer build).\n")
      .write();
  std::_Exit(1);
}

}  // namespace sinew::fabric
