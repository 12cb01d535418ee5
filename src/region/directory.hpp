// SPDX-License-Identifier: BSD-3-Clause
// Instances that ranks of other nodes have made: their records are asked for, kept until they are
// destroyed, and told to those who ask. Where all ranks share memory nothing here is used.
//
// A creator remembers who has asked, and tells them when the instance is destroyed. What it says of
// one that is still being made names no addresses: it is asked again once these are needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "region/courier.hpp"
#include "region/deferral.hpp"
#include "region/instance_table.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/base/lock.hpp"

namespace sinew::region {

/// Any thread, if `threaded`.
class directory {
 public:
  struct parts {
    sinew::event::system& events;
    instance_table& table;
    courier& messages;
  };
  directory(const parts& p, bool threaded) noexcept : all_(p), threaded_(threaded) {}

  /// Waits until find() can say what there is of the instance. Not in handlers and waiters.
  void meet(instance i) {
    if (!all_.table.has_heard_of(i)) [[unlikely]] {
      (void)all_.events.wait(all_.events.settled(ask(i)));
    }
  }
  /// The same, and whether it is ready.
  void meet_ready(instance i) {
    const std::array<instance, 1> one{i};
    for (int round = 0; round < rounds && !all_.table.knows(i); ++round) {
      (void)all_.events.wait(ask_all(one));
    }
  }
  [[nodiscard]] bool knows(std::span<const instance> list) const {
    bool all = true;
    for (const instance i : list) {
      all = all && all_.table.knows(i);
    }
    return all;
  }
  /// Calls f() once the creators of all of these have been asked for what is not known; f finds
  /// them, or that they are gone. None of them: now.
  template <class F>
  void once_known(std::span<const instance> list, F f) {
    if (knows(list)) {
      f();
      return;
    }
    static_assert(rounds == 2);
    after(all_.events, ask_all(list),
          [this, those = std::vector<instance>(list.begin(), list.end()),
           f = std::move(f)](bool) mutable {
            after(all_.events, ask_all(those), [f = std::move(f)](bool) mutable { f(); });
          });
  }

  /// Whether what is to be done with it in order must wait: it is not known, or others wait.
  [[nodiscard]] bool keeps_waiting(instance i) const {
    {
      const base::guard held(lock_, threaded_);
      if (waiting_.contains(i.bits())) {
        return true;
      }
    }
    return !all_.table.knows(i);
  }
  /// Once it is known, and all that has been given for this instance before is done.
  void in_order(instance i, std::function<void()> work);

  /// An instance of this rank has been taken out of the table; its record is still there.
  void retired(instance i);

  // --- what messages ask for ---

  void on_ask(job_rank who, instance i);
  void on_record(const record_piece& p, const std::byte* bytes, std::size_t size);
  void on_forget(instance i) { all_.table.forget(i); }

  /// What still waits for answers goes on without them: no more will come.
  void close();

 private:
  /// A question that was under way before may be answered with what was before: that the instance
  /// is still being made. What is asked after such an answer is answered with what is now.
  static constexpr int rounds = 2;

  /// Triggers once the creator has answered; poisoned if that is lost.
  [[nodiscard]] sinew::event::event ask(instance i);
  /// The same of all that are not known; settled.
  [[nodiscard]] sinew::event::event ask_all(std::span<const instance> list);

  struct question {
    sinew::event::user_event answered;
    std::shared_ptr<std::byte[]> record;  ///< as far as it has come
  };
  parts all_;
  const bool threaded_;
  mutable base::lock lock_;  ///< guards what follows
  bool closed_ = false;
  std::unordered_map<std::uint64_t, question> questions_;          ///< by handle
  std::unordered_map<std::uint64_t, std::vector<job_rank>> told_;  ///< by handle of this rank
  /// By handle: until the last is done an entry stays.
  std::unordered_map<std::uint64_t, std::vector<std::function<void()>>> waiting_;
};

}  // namespace sinew::region
