// SPDX-License-Identifier: BSD-3-Clause
// The C binding of jobs, events and tasks.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "abi/job/binding.hpp"
#include "abi/job/operators.hpp"
#include "sinew/base/check.hpp"

namespace sinew::job_binding {
namespace {

constinit region::job* the_job = nullptr;

int code_of(event::state how) noexcept {
  if (how == event::state::poisoned) {
    return fail(SINEW_POISONED);
  }
  return how == event::state::triggered ? SINEW_OK : SINEW_BUSY;
}

std::vector<event::event> events_of(const sinew_event* of, size_t count) {
  std::vector<event::event> all(count);
  std::transform(of, of + count, all.begin(), event_of);
  return all;
}

region::job_options options_of(const sinew_job_options* how) {
  region::job_options o;
  if (how != nullptr) {
    SINEW_CHECK(how->workers >= 0, "a job cannot be opened", "its number of workers is negative",
                "0 stands for one per core");
    o.workers = how->workers;
    for (size_t k = 0; k < how->kind_count; ++k) {
      o.kinds.push_back({how->kinds[k].name, how->kinds[k].workers});
    }
  }
  return o;
}

/// A C program's function in front of tasks: its address is the key.
bool call_task(event::task_context& context, std::span<const std::byte> arguments,
               const void* key) {
  const sinew_task self{context.here.bits(), context.done.bits()};
  auto* const function = reinterpret_cast<sinew_task_function*>(const_cast<void*>(key));
  return function(&self, arguments.data(), arguments.size()) == 0;
}

const void* key_of(sinew_task_function* function) noexcept {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

region::job* open_job() noexcept { return the_job; }

}  // namespace sinew::job_binding

using namespace sinew::job_binding;
using sinew::event::processor;

extern "C" {

int sinew_job_open(const struct sinew_job_options* how, int* rank, int* size) {
  if (the_job != nullptr) {
    return fail(SINEW_BUSY, "a job is open: sinew_job_close() comes first");
  }
  try {
    the_job = new sinew::region::job(options_of(how));
  } catch (const std::bad_alloc&) {
    return fail(SINEW_NO_MEMORY);
  } catch (const std::exception& e) {
    return fail(SINEW_FAILED, e.what());
  }
  return with_job([&](sinew::region::job& job) {
    add_operators(job.regions());
    give(job.rank().value(), rank);
    return give(job.size(), size);
  });
}

int sinew_job_start() {
  return with_job([](sinew::region::job& job) {
    job.start();
    return int{SINEW_OK};
  });
}

int sinew_job_meet() {
  return with_job([](sinew::region::job& job) {
    job.meet();
    return int{SINEW_OK};
  });
}

int sinew_job_gather(uint64_t mine, uint64_t* all) {
  return with_job([&](sinew::region::job& job) {
    const std::vector<std::uint64_t> words = job.gather(mine);
    if (all != nullptr) {
      std::copy(words.begin(), words.end(), all);
    }
    return int{SINEW_OK};
  });
}

int sinew_job_close() {
  return with_job([](sinew::region::job& job) {
    delete &job;  // tasks that have not ended use it still
    the_job = nullptr;
    return int{SINEW_OK};
  });
}

// --- events ---

int sinew_event_create(sinew_event* made) {
  if (made == nullptr) {
    return fail(SINEW_INVALID, "there is no place for the event");
  }
  return with_job([&](auto& job) { return give(job.events().create().bits(), made); });
}

int sinew_event_trigger(sinew_event event, sinew_event after) {
  return with_job([&](auto& job) {
    job.events().trigger(sinew::event::user_event(event_of(event)), event_of(after));
    return int{SINEW_OK};
  });
}

int sinew_event_poison(sinew_event event) {
  return with_job([&](auto& job) {
    job.events().poison(sinew::event::user_event(event_of(event)));
    return int{SINEW_OK};
  });
}

int sinew_event_cancel(sinew_event event) {
  return with_job([&](auto& job) {
    (void)job.events().cancel(event_of(event));
    return int{SINEW_OK};
  });
}

int sinew_event_merge(const sinew_event* of, size_t count, sinew_event* merged) {
  return with_job(
      [&](auto& job) { return give(job.events().merge(events_of(of, count)).bits(), merged); });
}

int sinew_event_settled(const sinew_event* of, size_t count, sinew_event* settled) {
  return with_job(
      [&](auto& job) { return give(job.events().settled(events_of(of, count)).bits(), settled); });
}

int sinew_event_test(sinew_event event) {
  return with_job([&](auto& job) { return code_of(job.events().look(event_of(event))); });
}

int sinew_event_wait(sinew_event event) {
  return with_job([&](auto& job) { return code_of(job.events().wait(event_of(event))); });
}

// --- tasks ---

int sinew_task_register(const char* name, sinew_task_function* function) {
  if (name == nullptr || function == nullptr) {
    return fail(SINEW_INVALID, "a task needs a name and a function");
  }
  return with_job([&](auto& job) {
    job.tasks().add_raw(name, key_of(function), call_task);
    return int{SINEW_OK};
  });
}

int sinew_task_spawn(sinew_task_function* function, sinew_processor where,
                     const struct sinew_spawn_options* how, const void* arguments, size_t bytes,
                     sinew_event* done) {
  if (function == nullptr || (arguments == nullptr && bytes != 0)) {
    return fail(SINEW_INVALID, "there is no function, or no arguments");
  }
  return with_job([&](auto& job) {
    sinew::event::spawn_how start;
    if (how != nullptr) {
      start = {event_of(how->after), how->priority, how->stack_bytes};
    }
    const auto* const values = static_cast<const std::byte*>(arguments);
    return give(
        job.tasks()
            .spawn_raw(processor::from_bits(where), start, key_of(function), {values, bytes})
            .bits(),
        done);
  });
}

sinew_processor sinew_processor_at(int rank, unsigned index) {
  // A rank that there cannot be gives a processor that there is not.
  return processor(sinew::job_rank{rank < 0 ? 0x7fffffff : rank}, index).bits();
}

unsigned sinew_processors(int rank) {
  unsigned found = 0;
  (void)with_job([&](auto& job) {
    for (const auto& p : job.tasks().all().processors) {
      found += p.where.rank() == sinew::job_rank{rank} ? 1 : 0;
    }
    return int{SINEW_OK};
  });
  return found;
}

int sinew_processor_group(const sinew_processor* members, size_t count, sinew_processor* made) {
  return with_job([&](auto& job) {
    std::vector<processor> all(count);
    std::transform(members, members + count, all.begin(), processor::from_bits);
    return give(job.tasks().group(all).bits(), made);
  });
}

int sinew_processor_of_kind(const char* kind, sinew_processor* made) {
  if (kind == nullptr) {
    return fail(SINEW_INVALID, "a kind has a name");
  }
  return with_job([&](auto& job) { return give(job.tasks().of_kind(kind).bits(), made); });
}

}  // extern "C"
