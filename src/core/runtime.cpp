#include "sinew/core/runtime.hpp"

#include <sched.h>
#include <unistd.h>

#include "core/fibers.hpp"
#include "core/idler.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/base/trace.hpp"

namespace sinew::core {
namespace {

/// By what is the same for all ranks of a node: a rank's own affinity may be a single core.
bool is_crowded(const boot::place& at) {
  const long cpus = at.local_cpus > 0 ? at.local_cpus : sysconf(_SC_NPROCESSORS_ONLN);
  return at.local_size > cpus;
}

constexpr int round_budget = 64;
}  // namespace

std::unique_ptr<runtime> runtime::open(std::unique_ptr<boot::session> session, threading threads) {
  const boot::place& at = session->where();
  const bool many = threads == threading::many;
  trace::start(at.rank);
  std::unique_ptr<fabric::endpoint> endpoint;
  if (at.size == 1) {
    endpoint = std::move(fabric::open_inproc(1, many).front());
  } else {
    SINEW_CHECK(at.local_size == at.size, "cannot connect the ranks of this job",
                "they are on several nodes (" + std::to_string(at.local_size) + " of " +
                    std::to_string(at.size) + " here), and only shared memory is built in yet",
                "start all ranks on one node");
    fabric::node_memory where{};
    where.bytes_per_rank = fabric::shm_bytes_per_rank(at.local_size);
    where.base = session->map_node_memory(where.bytes_per_rank);
    where.rank = at.rank;
    where.local_rank = at.local_rank;
    where.local_ranks = at.local_ranks;
    where.crowded = is_crowded(at);
    endpoint = fabric::open_shm(where, many);
  }
  return std::make_unique<runtime>(std::move(session), std::move(endpoint), threads);
}

runtime::runtime(std::unique_ptr<boot::session> session, std::unique_ptr<fabric::endpoint> endpoint,
                 threading threads)
    : session_(std::move(session)), endpoint_(std::move(endpoint)), threads_(threads) {
  crowded_ = session_ != nullptr && is_crowded(session_->where());
  processors_ = topology::usable_cpus();
  fiber_poller::add(*this);
}

runtime::~runtime() { fiber_poller::remove(*this); }

void runtime::set_chore(int (*chore)(void*), void* context) noexcept {
  chore_ = chore;
  chore_context_ = context;
}

void runtime::set_diagnosis(void (*print)(void*), void* context) noexcept {
  diagnose_ = print;
  diagnose_context_ = context;
}

int runtime::round() {
  int happened = endpoint_->progress(round_budget);
  if (chore_wanted_.load(std::memory_order_relaxed)) [[unlikely]] {
    happened += chore_(chore_context_);
  }
  return happened;
}

int runtime::poll() {
  int happened = 0;
  if (!threaded()) {
    happened = lead_round();
  } else if (try_lead()) {
    happened = lead_round();
    follow();
  }
  if (happened == 0 && fiber::self() != nullptr) {
    fiber::yield();
  }
  return happened;
}

void runtime::wait(completion& c) {
  if (c.done()) {
    return;
  }
  if (in_fiber()) {
    wait_as_fiber(c);
  } else if (threaded()) {
    wait_among_threads(c);
  } else {
    poll_until([&c] { return c.done(); });
  }
}

void runtime::wait_until(bool (*ready)(void*), void* context) {
  if (threaded() || in_fiber()) {
    wait_as_watcher(ready, context);
  } else {
    poll_until([=] { return ready(context); });
  }
}

template <class Ready>
void runtime::poll_until(Ready ready) {
  idler idle(*this);
  while (!ready()) {
    if (round() != 0) {
      idle.busy();
      continue;
    }
    switch (idle.quiet()) {
      case idler::next::look:
        break;
      case idler::next::yield:
        sched_yield();
        break;
      case idler::next::rest:
        idle.sleep();
        break;
    }
  }
}

}  // namespace sinew::core
