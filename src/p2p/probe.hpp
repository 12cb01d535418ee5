// SPDX-License-Identifier: BSD-3-Clause
// Probes: looking for a message that has come, and taking it for a receive of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "p2p/channel.hpp"
#include "p2p/message.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/core/runtime.hpp"
#include "sinew/match/engine.hpp"
#include "sinew/p2p/engine.hpp"

namespace sinew::p2p {

class channel_table;
class failure_watch;
class network_matching;

/// Its lock guards the list of those that wait, which is for reports only. Any thread.
class prober {
 public:
  struct parts {
    core::runtime& rt;
    channel_table& channels;
    network_matching& network;
    failure_watch& failures;
  };
  prober(const parts& p, bool threaded) noexcept;

  /// What is looked for, and what was found.
  struct search {
    channel& in;
    match::envelope wanted;
    bool take;                 ///< out of the channel
    matched* found = nullptr;  ///< null, if it ended with a fault
    result seen{};
  };
  /// Waits, listed meanwhile. Throws what matching does.
  void wait(search& s);
  /// Once, after a round of progress.
  [[nodiscard]] bool once(search& s);
  /// Who probes, and who has probed last and found nothing.
  [[nodiscard]] std::string describe();
  /// True: `waited` is a search of wait()'s, for that.
  [[nodiscard]] bool explain(const void* waited, boot::awaited& what);

 private:
  struct look;
  struct listed {
    const search& what;
    const void* condition;
    listed* next;
  };

  const parts all_;
  const bool threaded_;
  base::lock lock_;
  listed* waiting_ = nullptr;  ///< under the lock
  /// Where and for what a probe without waiting has last looked in vain. For reports: relaxed, and
  /// the two need not belong together.
  std::atomic<std::uint32_t> vain_in_;
  std::atomic<std::uint64_t> vain_for_{0};
};

}  // namespace sinew::p2p
