// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/profile/table.hpp"

#include <bit>
#include <deque>
#include <mutex>

#include "abi/mpi/settings.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::mpi::profile {

table::table(std::size_t most_sites)
    : most_sites_(most_sites), rows_(std::bit_ceil(2 * most_sites + 2)), peers_(16) {
  others_.call = "others";
}

row& table::take(row& free, const watch::call& call) {
  if (sites_ == most_sites_) {
    return others_;
  }
  free.nature = &call.given.nature;
  free.call = call.name;
  free.site = call.site;
  ++sites_;
  SINEW_ENSURE(2 * sites_ < rows_.size());
  return free;
}

traffic& table::take(traffic& free, int peer) {
  SINEW_EXPECT(peer >= 0);
  if (2 * (met_ + 1) <= peers_.size()) {
    ++met_;
    free.peer = peer;
    return free;
  }
  std::vector<traffic> before(2 * peers_.size());
  before.swap(peers_);
  met_ = 0;
  for (const traffic& each : before) {
    if (each.peer != no_peer) {
      with(each.peer) = each;
    }
  }
  return with(peer);
}

void table::each_row(const std::function<void(const row&)>& take) const {
  for (const row& r : rows_) {
    if (r.count != 0) {
      take(r);
    }
  }
  if (others_.count != 0) {
    take(others_);
  }
}

void table::each_peer(const std::function<void(const traffic&)>& take) const {
  for (const traffic& t : peers_) {
    if (t.peer != no_peer) {
      take(t);
    }
  }
}

namespace {

struct all_tables {
  std::mutex lock;
  std::deque<table> made;
  std::vector<table*> free;  ///< of threads that have ended
};
all_tables& all() {
  static auto& it = *new all_tables;  // never destroyed: threads may outlive main
  return it;
}

constinit thread_local table* own = nullptr;

/// Gives the thread's table back when the thread ends.
struct returns_table {
  table* which;
  ~returns_table() {
    own = nullptr;
    const std::lock_guard held(all().lock);
    all().free.push_back(which);
  }
};

[[gnu::noinline]] table& find_table() {
  all_tables& tables = all();
  const std::lock_guard held(tables.lock);
  if (tables.free.empty()) {
    tables.free.reserve(tables.made.size() + 1);  // so that giving it back cannot fail
    own = &tables.made.emplace_back(static_cast<std::size_t>(profile_sites_setting()));
  } else {
    own = tables.free.back();
    tables.free.pop_back();
  }
  thread_local const returns_table at_end{own};
  return *at_end.which;
}

}  // namespace

table& own_table() noexcept {
  return own != nullptr ? *own : base::must_have_memory("the profile", find_table);
}

void each_table(const std::function<void(const table&)>& take) {
  const std::lock_guard held(all().lock);
  for (const table& t : all().made) {
    take(t);
  }
}

}  // namespace sinew::mpi::profile
