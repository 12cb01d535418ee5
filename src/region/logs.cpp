// SPDX-License-Identifier: BSD-3-Clause
// The memory of logs: chunks of this rank's shared memory, lent to the owners of parts by merge().
#include <algorithm>
#include <iterator>

#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/region/reductions.hpp"

namespace sinew::region {
namespace {

constexpr std::uint64_t largest_chunk = std::uint64_t{512} << 10;  ///< bytes
constexpr std::uint64_t first_chunk = std::uint64_t{8} << 10;

}  // namespace

struct logs::chunk {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t used = 0;  ///< entries
};

/// Outlives the logs: the owners of parts may still read it.
struct logs::store {
  explicit store(system& s) : all(s) {}
  ~store() {
    for (const chunk& c : spare) {
      all.give_memory(c.offset);
    }
  }
  system& all;
  base::lock lock;
  std::vector<chunk> spare;  ///< guarded by lock
};

logs::logs(system& all, const operator_entry& op, const system::target& to)
    : to_(to),
      all_(all),
      op_(op.id),
      entry_bytes_(op.entry_bytes),
      store_(std::make_shared<store>(all)),
      chunks_(to.parts) {
  SINEW_CHECK(to.in_steps, "a log of reductions cannot be made",
              "the target's rows do not follow each other in equal steps", "");
  SINEW_CHECK(to.elements / to.parts < (std::uint64_t{1} << 31),
              "a log of reductions cannot be made",
              std::to_string(to.elements) + " elements: a part has 2^31 or more", "");
}
logs::~logs() {
  for (std::vector<chunk>& list : chunks_) {
    std::move(list.begin(), list.end(), std::back_inserter(store_->spare));
    list.clear();
  }
}

std::span<std::byte> logs::grow(std::uint32_t part) {
  std::vector<chunk>& list = chunks_[part];
  const std::uint64_t wanted =
      list.empty() ? first_chunk : std::min(list.back().bytes * 2, largest_chunk);
  if (!list.empty()) {
    list.back().used = list.back().bytes / entry_bytes_;
    logged_ += list.back().used;
  }
  chunk c;
  {
    const base::guard held(store_->lock, true);
    for (chunk& s : store_->spare) {
      if (s.bytes >= wanted) {
        c = s;
        s = store_->spare.back();
        store_->spare.pop_back();
        break;
      }
    }
  }
  rma::engine& rma = all_.memory();
  if (c.offset == 0) {
    c.bytes = wanted;
    c.offset = all_.take_memory(wanted);
  }
  c.used = 0;
  list.push_back(c);
  return {rma.at({rma.rank(), c.offset}), c.bytes / entry_bytes_ * entry_bytes_};
}

std::uint64_t logs::entries_of(std::uint32_t part, std::size_t number,
                               const std::byte*& first) const {
  if (number >= chunks_[part].size()) {
    return 0;
  }
  const chunk& c = chunks_[part][number];
  first = all_.memory().at({all_.rank(), c.offset});
  return c.used;
}

void logs::end_chunk(std::uint32_t part, std::uint64_t left) {
  if (!chunks_[part].empty()) {
    chunk& c = chunks_[part].back();
    c.used = c.bytes / entry_bytes_ - left;
  }
}

event logs::merge(event after) {
  sinew::event::system& events = all_.events();
  std::vector<event> ends;
  std::vector<chunk> lent;
  for (std::uint32_t part = 0; part < to_.parts; ++part) {
    for (const chunk& c : chunks_[part]) {
      lent.push_back(c);
      if (c.used != 0) {
        const user_event done = events.create();
        ends.push_back(done);
        all_.replay(to_, op_, part, c.offset, c.used, after, done);
      }
    }
    chunks_[part].clear();
  }
  logged_ = 0;
  const event end = events.merge(ends);
  struct returned {
    std::shared_ptr<store> to;
    std::vector<chunk> what;
  };
  events.on(
      events.settled(ends),
      [](void* argument, bool) noexcept {
        const std::unique_ptr<returned> r(static_cast<returned*>(argument));
        base::must_have_memory("contributions were given back", [&] {
          const base::guard held(r->to->lock, true);
          r->to->spare.insert(r->to->spare.end(), r->what.begin(), r->what.end());
        });
      },
      new returned{store_, std::move(lent)});
  return end;
}

void logs::drop() {
  const base::guard held(store_->lock, true);
  for (std::vector<chunk>& list : chunks_) {
    store_->spare.insert(store_->spare.end(), list.begin(), list.end());
    list.clear();
  }
  logged_ = 0;
}

}  // namespace sinew::region
