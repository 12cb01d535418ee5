// SPDX-License-Identifier: BSD-3-Clause
// The C binding of multipath transfers: checks arguments, catches what is thrown.
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "abi/c/failure.hpp"
#include "sinew/core/job.hpp"
#include "sinew/multipath/transfer.hpp"
#include "sinew_route.h"

struct sinew_alltoallv {
  sinew::multipath::transfer plan;
};

namespace {

using sinew::c_binding::fail;
using sinew::rma::part;

/// Of this process; null before sinew_route_join().
constinit sinew::rma::engine* the_engine = nullptr;

int not_joined() noexcept { return fail(SINEW_NOT_STARTED, "sinew_route_join() comes first"); }

template <class Body>
int caught(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(SINEW_NO_MEMORY);
  } catch (const std::exception& e) {
    return fail(SINEW_FAILED, e.what());
  }
}

bool sensible(const sinew_alltoallv_options& o) noexcept {
  return o.ranks_per_node >= 0 && o.slots >= 0 && o.max_paths >= 0 && o.max_paths <= 16 &&
         o.patience >= 0;
}

sinew::multipath::transfer_options options_of(const sinew_alltoallv_options* how) {
  sinew::multipath::transfer_options o;
  if (how == nullptr) {
    return o;
  }
  if (how->chunk != 0) {
    o.plan.costs.chunk = how->chunk;
  }
  if (how->ranks_per_node != 0) {
    o.ranks_per_node = static_cast<std::uint32_t>(how->ranks_per_node);
  }
  if (how->slots != 0) {
    o.slots = static_cast<std::uint32_t>(how->slots);
  }
  if (how->memory != 0) {
    o.memory = how->memory;
  }
  if (how->max_paths != 0) {
    o.plan.most_paths = static_cast<std::uint32_t>(how->max_paths);
  }
  o.every_hop = how->every_hop != 0;
  o.patience_s = how->patience;
  return o;
}

}  // namespace

extern "C" {

int sinew_route_join(int* rank, int* size) {
  return caught([&] {
    if (the_engine == nullptr) {
      the_engine =
          &sinew::rma::engine::of_process(sinew::core::join_job(sinew::core::threading::one));
    }
    if (rank != nullptr) {
      *rank = the_engine->rank().value();
    }
    if (size != nullptr) {
      *size = the_engine->size();
    }
    return int{SINEW_OK};
  });
}

int sinew_route_leave() {
  if (the_engine == nullptr) {
    return not_joined();
  }
  return caught([] {
    the_engine->sync_all();
    the_engine = nullptr;
    sinew::core::leave_job();
    return int{SINEW_OK};
  });
}

void* sinew_route_malloc(size_t bytes) {
  if (the_engine == nullptr) {
    not_joined();
    return nullptr;
  }
  void* found = nullptr;
  caught([&] {
    const std::uint64_t at = the_engine->memory().try_allocate(part::local, bytes);
    if (at == 0) {
      return fail(SINEW_NO_MEMORY);
    }
    found = the_engine->at({the_engine->rank(), at});
    return int{SINEW_OK};
  });
  return found;
}

int sinew_route_free(void* memory) {
  if (memory == nullptr) {
    return SINEW_OK;
  }
  if (the_engine == nullptr) {
    return not_joined();
  }
  return caught([&] {
    const std::uint64_t at = the_engine->offset_of(memory);
    if (at == 0 || the_engine->memory().bytes_of(at) == 0) {
      return fail(SINEW_INVALID, "the memory does not come from sinew_route_malloc()");
    }
    the_engine->memory().release(at);
    return int{SINEW_OK};
  });
}

int sinew_alltoallv_init(const char* topology, const size_t* send_bytes,
                         const struct sinew_alltoallv_options* how, sinew_alltoallv** made) {
  if (the_engine == nullptr) {
    return not_joined();
  }
  if (topology == nullptr || send_bytes == nullptr || made == nullptr) {
    return fail(SINEW_INVALID, "topology, send_bytes and made must not be null");
  }
  if (how != nullptr && !sensible(*how)) {
    return fail(SINEW_INVALID, "an option is negative, or max_paths above 16");
  }
  return caught([&] {
    const auto net = sinew::route::parse_topology(topology);
    const std::vector<std::uint64_t> row(send_bytes, send_bytes + the_engine->size());
    *made = new sinew_alltoallv{{*the_engine, net, row, options_of(how)}};
    return int{SINEW_OK};
  });
}

size_t sinew_alltoallv_receives(const sinew_alltoallv* plan, int from) {
  return the_engine != nullptr && plan != nullptr && from >= 0 && from < the_engine->size()
             ? plan->plan.bytes_from(sinew::job_rank{from})
             : 0;
}

int sinew_alltoallv_run(sinew_alltoallv* plan, const void* send, const size_t* send_at,
                        void* receive, const size_t* receive_at) {
  if (the_engine == nullptr) {
    return not_joined();
  }
  if (plan == nullptr || send_at == nullptr || receive_at == nullptr) {
    return fail(SINEW_INVALID, "the plan and the two lists of places must not be null");
  }
  return caught([&] {
    const auto ranks = static_cast<size_t>(the_engine->size());
    const auto how = plan->plan.alltoallv(send, {send_at, ranks}, receive, {receive_at, ranks});
    return how.ok() ? int{SINEW_OK} : fail(SINEW_TIMED_OUT, how.sentence());
  });
}

int sinew_alltoallv_free(sinew_alltoallv* plan) {
  if (plan == nullptr) {
    return fail(SINEW_INVALID, "there is no plan");
  }
  return caught([&] {
    delete plan;
    return int{SINEW_OK};
  });
}

}  // extern "C"
