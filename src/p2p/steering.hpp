// SPDX-License-Identifier: BSD-3-Clause
// A rank's part of steering: engines that count what is wanted from any source, and may be told
// which sender each is to meet.
#pragma once

#include <map>
#include <memory>

#include "sinew/core/runtime.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/steering.hpp"

namespace sinew::p2p {

/// Of a rank, for as long as its engines live. One thread.
///
/// A receive that is forced is posted as one from that sender: to the program it looks as if the
/// messages of all others were late, which they may be. If the sender sends nothing the rank waits
/// in vain, which sinew explore does not take for a fault.
class steering {
 public:
  /// Null where nobody steers. Throws sinew::error: what the environment says makes no sense.
  [[nodiscard]] static std::unique_ptr<steering> of(core::runtime& rt);

  /// One that pairs as `inner` does, but for what is forced.
  [[nodiscard]] std::unique_ptr<match::engine> steer(std::unique_ptr<match::engine> inner);

  /// Of the next receive or probe from any source: its number.
  [[nodiscard]] int take_number() noexcept { return ++last_; }
  /// For the next probe, which is counted once it succeeds, as for take_number().
  [[nodiscard]] int next_number() const noexcept { return last_ + 1; }
  /// Whom it is to meet; any_source: whoever comes.
  [[nodiscard]] comm_rank forced(int number) const noexcept;
  /// A probe has looked for its sender so long, while there were others: it is not forced any more.
  void give_up(int number) { forced_.erase(number); }
  void tell(const char* what, int number, comm_rank sender) const;

 private:
  explicit steering(job_rank self) : self_(self) {}

  job_rank self_;
  int file_ = -1;
  int last_ = 0;
  std::map<int, comm_rank> forced_;
};

}  // namespace sinew::p2p
