// SPDX-License-Identifier: BSD-3-Clause
#include "region/contributions.hpp"

#include <exception>
#include <string>

#include "region/deferral.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::region {

void contributions::apply(job_rank sender, const log_place& l, const std::byte* entries) {
  const std::int64_t begin = trace::begin();
  bool good = true;
  try {
    replay(sender, l, entries);
  } catch (const std::exception& e) {
    all_.trouble.add(e.what());
    good = false;
  }
  trace::span(trace::kind::copy, "replay", begin, l.done, l.count);
  if (l.done != 0) {
    const bool earlier_failed = failed_.take(sender, l.target());
    finish(all_.events, l.done, good && !earlier_failed);
  } else if (!good) {
    failed_.note(sender, l.target());
  }
}

/// Throws sinew::error that says what was wrong with them.
void contributions::replay(job_rank sender, const log_place& l, const std::byte* entries) {
  const operator_entry& op = all_.operators.find(l.op);
  const known_ptr k = all_.table.find(l.target());
  SINEW_CHECK(k->ready(), "a reduction was given up", "its target is not ready",
              "let it come after the event that create() returned");
  SINEW_EXPECT(l.part < k->where.parts && l.field < k->where.fields.size());
  SINEW_EXPECT(k->place(l.part).rank == all_.table.rank());
  if (l.count == 0) {
    return;
  }
  const field_place& f = k->where.fields[l.field];
  SINEW_ASSERT(f.info.type_id == op.lhs_type);
  if (entries == nullptr) {
    SINEW_ASSERT(l.offset != 0);
    entries = all_.table.heaps().at(sender, l.offset);
  }
  std::uint64_t beyond = 0;
  {
    const base::guard held(all_.merging, threaded_);
    beyond = op.replay({all_.table.reach(*k, l.part) + f.at.offset, f.at.stride[most_axes - 1],
                        entries, l.count, k->where.elements_of(l.part)});
  }
  SINEW_ENSURE(beyond <= l.count);
  SINEW_CHECK(beyond == 0, "a reduction was given up",
              std::to_string(beyond) + " contributions went to elements outside of the target",
              "the others were applied");
}

}  // namespace sinew::region
