// SPDX-License-Identifier: BSD-3-Clause
// When and where transfers happen: after their event, by the rank that plan.hpp names; and the
// event that says how they ended.
//
// Down: issue() -> start() -> mover::carry_out(), here or on another rank through the courier.
// Up:   the outcome -> finish(), which triggers or poisons the event of whoever asked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "region/courier.hpp"
#include "region/deferral.hpp"
#include "region/directory.hpp"
#include "region/mover.hpp"
#include "region/problems.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::region {

/// Any thread, if the runtime is threaded. Warm.
class operations {
 public:
  struct parts {
    sinew::event::system& events;
    instance_table& table;
    mover& bytes;
    courier& messages;
    directory& others;
    problems& trouble;
  };
  explicit operations(const parts& p) noexcept
      : events_(p.events),
        table_(p.table),
        mover_(p.bytes),
        messages_(p.messages),
        others_(p.others),
        problems_(p.trouble) {}

  /// The rank that begins it, where both sides lie on this node.
  [[nodiscard]] job_rank executor_of(action what, owners of) const {
    return choose_executor(what, of, events_.rank(), mover_.kernel_copies());
  }
  /// Does it after `before`, now if that is possible; returns the event after it. `t.post` is set
  /// if it was not done at once.
  [[nodiscard]] sinew::event::event issue(transfer& t, job_rank executor,
                                          sinew::event::event before);

  // --- what messages ask for ---

  /// This rank was named the executor. `t.post` tells how it ended.
  void perform(const transfer& t);

 private:
  [[nodiscard]] sinew::event::moved_by way_of(const transfer& t) const;
  void start(const transfer& t, job_rank executor);
  void perform_known(const transfer& t);
  void hand_on(const transfer& t, job_rank to);
  [[nodiscard]] job_rank sender_of(const transfer& t) const {
    return choose_sender(mover_.owners_of(t), events_.rank());
  }

  sinew::event::system& events_;
  instance_table& table_;
  mover& mover_;
  courier& messages_;
  directory& others_;
  problems& problems_;
};

}  // namespace sinew::region
