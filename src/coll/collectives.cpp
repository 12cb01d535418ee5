// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls: over the node's memory, or a plan that is carried out in place.
#include "sinew/coll/collectives.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "coll/algorithms.hpp"
#include "coll/over_node.hpp"
#include "coll/tuning.hpp"

namespace sinew::coll {
namespace {

/// Plans that no call uses now, with their memory, for the next calls of this process. What is
/// taken is its taker's alone. (Of a thread's own there would be a destructor for each thread, for
/// which the C library ends the process if there is no memory.)
class spare_plans {
 public:
  spare_plans() = default;
  spare_plans(const spare_plans&) = delete;
  spare_plans& operator=(const spare_plans&) = delete;
  ~spare_plans() {
    for (std::atomic<plan*>& each : kept_) {
      delete each.exchange(nullptr, std::memory_order_acquire);
    }
  }
  [[nodiscard]] std::unique_ptr<plan> take() {
    for (std::atomic<plan*>& each : kept_) {
      // acquire: what its last call has done to it.
      if (plan* const p = each.exchange(nullptr, std::memory_order_acquire); p != nullptr) {
        return std::unique_ptr<plan>(p);
      }
    }
    return std::make_unique<plan>(plan::lasts::in_call);
  }
  void give(std::unique_ptr<plan> p) noexcept {
    for (std::atomic<plan*>& each : kept_) {
      plan* none = nullptr;
      // release: for take().
      if (each.compare_exchange_strong(none, p.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
        (void)p.release();
        return;
      }
    }
  }

 private:
  std::array<std::atomic<plan*>, 4> kept_{};
};
spare_plans spares;

/// A plan of a call that waits.
class plan_in_call {
 public:
  plan_in_call() : plan_(spares.take()) {}
  plan_in_call(const plan_in_call&) = delete;
  plan_in_call& operator=(const plan_in_call&) = delete;
  ~plan_in_call() {
    plan_->clear();
    spares.give(std::move(plan_));
  }
  [[nodiscard]] plan& operator*() const noexcept { return *plan_; }

 private:
  std::unique_ptr<plan> plan_;
};

bool is_wait(const std::vector<step>& steps, std::size_t i) noexcept {
  return i >= steps.size() || steps[i].what == step::kind::wait;
}

/// Messages that nothing else is under way with need no requests: how many steps were carried out
/// as one, if they are that.
std::size_t alone(collective_messages& t, const std::vector<step>& steps, std::size_t i) {
  const step& s = steps[i];
  if (s.what == step::kind::send && is_wait(steps, i + 1)) {
    t.send(s.from, s.peer);
    return 1;
  }
  if (s.what != step::kind::receive) {
    return 0;
  }
  if (is_wait(steps, i + 1)) {
    t.recv(s.into, s.peer);
    return 1;
  }
  const step& then = steps[i + 1];
  if (then.what == step::kind::send && is_wait(steps, i + 2)) {
    t.exchange(then.from, then.peer, s.into, s.peer);
    return 2;
  }
  return 0;
}

void carry_out(collective_messages& t, const plan& p) {
  batch under_way(t);
  const std::vector<step>& steps = p.steps();
  for (std::size_t i = 0; i < steps.size();) {
    if (const std::size_t done = under_way.empty() ? alone(t, steps, i) : 0; done != 0) {
      i += done;
      continue;
    }
    const step& s = steps[i++];
    switch (s.what) {
      case step::kind::send:
        under_way.send(s.from, s.peer);
        break;
      case step::kind::receive:
        under_way.recv(s.into, s.peer);
        break;
      case step::kind::wait:
        under_way.wait();
        break;
      case step::kind::copy:
        t.note(copy(s.from, s.into));
        break;
      case step::kind::combine:
        p.operation().apply(s.from.base, s.into.base, s.into.count, *s.into.type);
        break;
      case step::kind::work:
        t.note(p.do_work(s));
        break;
    }
  }
}

}  // namespace

int collective_messages::fan() const noexcept { return tuning::short_fan(runtime(), spans_jobs()); }

void run_among(collective_messages& t, const call& c) {
  const plan_in_call p;
  make(*p, {t.rank(), t.size(), nullptr, nullptr, t.fan()}, c);
  carry_out(t, *p);
}

/// By what the table chooses.
fault run_chosen(collective_messages& t, const position& here, const call& c) {
  if (is_empty(here, c)) {
    return fault::none;
  }
  const algorithm& a = choose(facts_of(here, c, true));
  if (a.run != nullptr) {
    return a.run(t, here, c);
  }
  {
    const plan_in_call p;
    if (c.o != nullptr) {
      (*p).use(c.o);
    }
    a.make(*p, here, c);
    carry_out(t, *p);
  }
  return t.outcome();
}

const char* name_of(const call& c) noexcept {
  if (c.part_of != nullptr) {
    return c.part_of;
  }
  static constexpr auto forms = std::to_array<std::array<const char*, 3>>({
      {"MPI_Barrier", "", ""},
      {"MPI_Bcast", "", ""},
      {"MPI_Reduce", "", ""},
      {"MPI_Allreduce", "", ""},
      {"MPI_Scan", "", ""},
      {"MPI_Exscan", "", ""},
      {"MPI_Reduce_scatter_block", "MPI_Reduce_scatter", ""},
      {"MPI_Gather", "MPI_Gatherv", ""},
      {"MPI_Scatter", "MPI_Scatterv", ""},
      {"MPI_Allgather", "MPI_Allgatherv", ""},
      {"MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"},
      {"MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv", ""},
      {"MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw"},
  });
  static_assert(forms.size() == collectives);
  const blocks& b = c.what == collective::scatter ? c.send : c.recv;
  return forms[static_cast<std::size_t>(c.what)][static_cast<std::size_t>(b.form())];
}

}  // namespace sinew::coll
