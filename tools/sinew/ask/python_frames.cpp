// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/ask/python_frames.hpp"

#include <utility>

#include "sinew/base/python_code.hpp"

namespace sinew::tool {
namespace {

using base::process_memory;
using base::python_layout;
using address = process_memory::address;

stack stack_of(const process_memory& in, address thread, const python_layout& how) {
  stack calls;
  address frame = in.at(thread + how.current);
  frame = how.through_cframe ? in.at(frame + how.current_in_cframe) : frame;
  for (std::size_t i = 0; frame != 0 && i < most_frames; ++i) {
    if (in.at<std::uint8_t>(frame + how.owner) != base::python_owned_by_c) {
      auto call =
          base::python_place_of(in, in.at(frame + how.code), in.at(frame + how.instruction), how);
      if (call) {
        calls.push_back({.function = std::move(call->function),
                         .module = "",
                         .file = std::move(call->file),
                         .line = call->line,
                         .interpreted = true});
      }
    }
    frame = in.at(frame + how.previous);
  }
  return calls;
}

}  // namespace

std::map<pid_t, stack> python_stacks(pid_t process, const python_symbols& at) {
  const process_memory in(process);
  const auto version = in.at<std::uint64_t>(at.version);  // 0x030b07f0
  const python_layout* const how = base::python_layout_of(version);
  std::map<pid_t, stack> found;
  if (at.runtime == 0 || how == nullptr) {
    return found;
  }
  const address interpreter = in.at(at.runtime + how->interpreters);
  address thread = interpreter == 0 ? 0 : in.at(interpreter + how->threads);
  while (thread != 0 && found.size() < most_threads) {
    const auto id = static_cast<pid_t>(in.at<std::uint64_t>(thread + how->native_id));
    if (!found.try_emplace(id, stack_of(in, thread, *how)).second) {
      break;  // a list that is being changed
    }
    thread = in.at(thread + how->next_thread);
  }
  return found;
}

}  // namespace sinew::tool
