// SPDX-License-Identifier: BSD-3-Clause
// Applies logs and batches of contributions to parts that this rank owns.
#pragma once

#include <cstddef>

#include "region/failed_batches.hpp"
#include "region/instance_table.hpp"
#include "region/messages.hpp"
#include "region/operator_table.hpp"
#include "region/problems.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/system.hpp"

namespace sinew::region {

/// Any thread, if `threaded`. Hot for batches.
class contributions {
 public:
  struct parts {
    sinew::event::system& events;
    instance_table& table;
    const operator_table& operators;
    problems& trouble;
    base::lock& merging;  ///< held while contributions are applied, if there are threads
  };
  contributions(const parts& p, bool threaded) noexcept
      : all_(p), threaded_(threaded), failed_(threaded) {}

  /// `entries` null: they lie in the sender's heap. Triggers the event of `l`, or poisons it if
  /// this or an earlier batch of this sender without an event has failed.
  void apply(job_rank sender, const log_place& l, const std::byte* entries);

 private:
  void replay(job_rank sender, const log_place& l, const std::byte* entries);

  parts all_;
  const bool threaded_;
  failed_batches failed_;
};

}  // namespace sinew::region
