// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/open_handles.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/handles.hpp"

namespace sinew::mpi::check {
namespace {

struct origin {
  const char* call;
  const void* site;
};

/// By kind and handle. One object may stand for several handles, each of which is to be freed.
struct open_handles {
  std::mutex lock;
  std::map<std::pair<watch::handle_kind, void*>, std::deque<origin>> made;
};
open_handles& all() {
  static auto& it = *new open_handles;
  return it;
}

bool is_predefined(const void* handle) { return value_of(handle) < first_address; }

const char* fate_of(watch::handle_kind kind) {
  using enum watch::handle_kind;
  switch (kind) {
    case comm:
      return "a communicator has not been freed";
    case group:
      return "a group has not been freed";
    case type:
      return "a datatype has not been freed";
    case op:
      return "an operation has not been freed";
    case request:
      return "a request has not been completed, or freed";
    case window:
      return "a window has not been freed";
    case file:
      return "a file has not been closed";
    case message:
      return "a message has been matched, and not received";
  }
  return "";
}

}  // namespace

void count_handles(const watch::call& call) {
  open_handles& h = all();
  const std::lock_guard held(h.lock);
  for (int t = 0; t < call.touched_count; ++t) {
    const watch::handles& touched = call.touched[static_cast<std::size_t>(t)];
    for (int i = 0; i < touched.count && (touched.may_end || call.succeeded); ++i) {
      void* const now = touched.first[i];
      void* const was = touched.may_end ? touched.before(i) : nullptr;
      if (!touched.may_end && !is_predefined(now)) {
        h.made[{touched.kind, now}].push_back({call.name, call.site});
      } else if (touched.may_end && !is_predefined(was) && is_predefined(now)) {
        const auto at = h.made.find({touched.kind, was});
        if (at != h.made.end()) {
          at->second.pop_front();
          if (at->second.empty()) {
            h.made.erase(at);
          }
        }
      }
    }
  }
}

void tell_open_handles(const std::function<void(const std::string& line)>& tell) {
  open_handles& h = all();
  const std::lock_guard held(h.lock);
  for (const auto& [which, origins] : h.made) {
    for (const origin& from : origins) {
      tell(std::string(fate_of(which.first)) + ": " + text_of(from.call, from.site));
    }
  }
}

}  // namespace sinew::mpi::check
