// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/buffers.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "abi/mpi/check/check.hpp"
#include "abi/mpi/request.hpp"

namespace sinew::mpi::check {
namespace {

struct use {
  bytes_of_buffer bytes;
  bool writes;
};

/// What a request, or a call that runs, has in use.
struct user {
  const char* call;
  const void* site;
  std::vector<use> uses;
  std::uint64_t hash = 0;  ///< of what it reads, since it is active
  bool active = true;      ///< a persistent request is so between start and completion
};

std::uint64_t hash_of(const user& u) {
  std::uint64_t all = 0;
  for (const use& each : u.uses) {
    all = each.writes ? all : all * 31 + each.bytes.hash();
  }
  return all;
}

/// Its lock guards all; nobody makes progress with it.
struct buffer_ledger {
  std::mutex lock;
  std::map<const watch::call*, user> calls;
  std::map<void*, user> requests;  ///< by handle
  /// By window and target, until an access is complete at its origin. They do not move.
  std::map<std::pair<MPI_Win, int>, std::list<user>> accesses;
  /// Ranges of active requests by where they begin, and the length of the longest that there was.
  struct taken {
    std::uintptr_t end;
    const user* by;
    bool writes;
  };
  std::multimap<std::uintptr_t, taken> ranges;
  std::uintptr_t longest = 0;

  void begin(user& u) {
    u.active = true;
    u.hash = hash_of(u);
    for (const use& each : u.uses) {
      for (const auto& [from, to] : each.bytes.ranges()) {
        ranges.emplace(from, taken{to, &u, each.writes});
        longest = std::max(longest, to - from);
      }
    }
  }
  /// What is wrong if the program has changed the data meanwhile, or `else_wrong`.
  [[nodiscard]] std::string end(user& u, const std::string& else_wrong) {
    u.active = false;
    for (const use& each : u.uses) {
      for (const auto& [from, to] : each.bytes.ranges()) {
        const auto [first, last] = ranges.equal_range(from);
        const auto at = std::find_if(first, last, [&](const auto& r) { return r.second.by == &u; });
        if (at != last) {
          ranges.erase(at);
        }
      }
    }
    return hash_of(u) == u.hash ? else_wrong
                                : "the program has changed data of " + text_of(u.call, u.site) +
                                      ", before that had been completed";
  }
  /// Who has a byte of these in use, so that the two exclude each other; or null.
  [[nodiscard]] const user* conflict(const use& with) const {
    for (const auto& [from, to] : with.bytes.ranges()) {
      const std::uintptr_t first = from > longest ? from - longest : 0;
      for (auto at = ranges.lower_bound(first); at != ranges.end() && at->first < to; ++at) {
        if (at->second.end > from && (with.writes || at->second.writes)) {
          return at->second.by;
        }
      }
    }
    return nullptr;
  }
};
buffer_ledger& buffers_in_use() {
  static auto& it = *new buffer_ledger;
  return it;
}

bool overlap(const user& of, const use& what) {
  return std::any_of(of.uses.begin(), of.uses.end(), [&](const use& each) {
    return (each.writes || what.writes) && each.bytes.meet(what.bytes);
  });
}

void take(const watch::call& call, use what) {
  if (!wanted(check::what::buffers) || what.bytes.ranges().empty()) {
    return;
  }
  buffer_ledger& b = buffers_in_use();
  std::string wrong;
  {
    const std::lock_guard held(b.lock);
    const auto own = b.calls.find(&call);
    if (own != b.calls.end() && overlap(own->second, what)) {
      wrong = "the two buffers overlap, of which the call reads one and writes the other";
    } else if (const user* const other = b.conflict(what); other != nullptr) {
      wrong = std::string("memory that this call ") + (what.writes ? "writes" : "reads") +
              " is in use: " + text_of(other->call, other->site) + ", has not been completed";
    } else {
      b.calls.try_emplace(&call, user{call.name, call.site, {}})
          .first->second.uses.push_back(std::move(what));
    }
  }
  if (!wrong.empty()) {
    found(call, MPI_ERR_BUFFER, wrong);
  }
}

bool is_active(void* handle) {
  const auto* const r = resolve<request_object>(handle);
  return r != nullptr && r->active;
}

/// The request stands for the call's buffers from now on.
void hand_over(buffer_ledger& b, const watch::call& call, void* request) {
  const auto of_call = b.calls.find(&call);
  if (of_call == b.calls.end() || value_of(request) < first_address) {
    return;
  }
  const auto [at, is_new] = b.requests.insert_or_assign(request, std::move(of_call->second));
  if (is_active(request)) {
    b.begin(at->second);
  } else {
    at->second.active = false;
  }
}

/// Of a request that a call may have started or completed.
void settle(buffer_ledger& b, void* before, void* now, std::string& wrong) {
  const auto at = b.requests.find(before);
  if (at == b.requests.end()) {
    return;
  }
  user& u = at->second;
  const bool active = now == before && is_active(now);
  if (active && !u.active) {
    b.begin(u);
  }
  if (!active && u.active) {
    wrong = b.end(u, wrong);
  }
  if (now != before) {
    b.requests.erase(at);
  }
}

/// An access that has no request is under way until its rank says so in a call of its window.
void keep_access(buffer_ledger& b, const watch::call& call) {
  const auto of_call = b.calls.find(&call);
  const bool has_request =
      std::any_of(call.touched.begin(), call.touched.begin() + call.touched_count,
                  [](const watch::handles& h) { return h.kind == watch::handle_kind::request; });
  if (of_call != b.calls.end() && call.given.win != MPI_WIN_NULL && !has_request &&
      call.succeeded) {
    b.begin(b.accesses[{call.given.win, call.given.peer}].emplace_back(std::move(of_call->second)));
  }
}

void settle_accesses(buffer_ledger& b, const watch::call& call, std::string& wrong) {
  if (call.given.nature.completes == watch::completion::nothing) {
    return;
  }
  const bool of_one = call.given.peer != watch::nobody;
  for (auto at = b.accesses.begin(); at != b.accesses.end();) {
    auto& [of, users] = *at;
    if (of.first != call.given.win || (of_one && of.second != call.given.peer)) {
      ++at;
      continue;
    }
    for (user& u : users) {
      wrong = b.end(u, wrong);
    }
    at = b.accesses.erase(at);
  }
}

}  // namespace

void reads(const watch::call& call, const bytes_of_buffer& what) { take(call, {what, false}); }
void writes(const watch::call& call, const bytes_of_buffer& what) { take(call, {what, true}); }

void settle_buffers(const watch::call& call) {
  buffer_ledger& b = buffers_in_use();
  std::string wrong;
  {
    const std::lock_guard held(b.lock);
    for (int t = 0; t < call.touched_count; ++t) {
      const watch::handles& touched = call.touched[static_cast<std::size_t>(t)];
      for (int i = 0; touched.kind == watch::handle_kind::request && i < touched.count; ++i) {
        if (!touched.may_end && call.succeeded) {
          hand_over(b, call, touched.first[i]);
        } else if (touched.may_end) {
          settle(b, touched.before(i), touched.first[i], wrong);
        }
      }
    }
    keep_access(b, call);
    settle_accesses(b, call, wrong);
    b.calls.erase(&call);
  }
  if (!wrong.empty()) {
    found(call, MPI_ERR_BUFFER, wrong);
  }
}

}  // namespace sinew::mpi::check
