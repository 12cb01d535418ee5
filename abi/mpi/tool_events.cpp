// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 15.3.8: events, of one source. Messages are told from within progress, where a
// callback may make no call that communicates: it is the one registered for
// MPI_T_CB_REQUIRE_MPI_RESTRICTED or for more that is called then, and if there is only one for
// less, the event counts as dropped.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "abi/mpi/info.hpp"
#include "abi/mpi/tool.hpp"
#include "abi/mpi/tool_watch.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::mpi {
namespace {

/// What MPI_T_event_copy copies.
struct message_data {
  MPI_Count bytes;
  int peer;
  int tag;
};
struct error_data {
  int code;
};

const MPI_Datatype message_types[] = {MPI_COUNT, MPI_INT, MPI_INT};
constexpr MPI_Aint message_places[] = {offsetof(message_data, bytes), offsetof(message_data, peer),
                                       offsetof(message_data, tag)};
const MPI_Datatype error_types[] = {MPI_INT};
constexpr MPI_Aint error_places[] = {0};

enum event : int { arrived_unexpected, rendezvous_started, error_raised };

struct event_type {
  const char* name;
  const char* module;
  const char* description;
  int elements;
  const MPI_Datatype* types;
  const MPI_Aint* places;
  std::size_t bytes;
};
const event_type events[] = {
    {"sinew_p2p_arrived_unexpected", "p2p",
     "a message has arrived before its receive: its bytes, its source in the job, its tag", 3,
     message_types, message_places, sizeof(message_data)},
    {"sinew_p2p_rendezvous_started", "p2p",
     "a message is sent whose data wait for the receive: its bytes, its target in the job, its tag",
     3, message_types, message_places, sizeof(message_data)},
    {"sinew_mpi_error", "mpi", "a call has failed: its error code", 1, error_types, error_places,
     sizeof(error_data)},
};
constexpr int event_count = static_cast<int>(std::size(events));
static_assert(event_count == error_raised + 1);

constexpr MPI_T_cb_safety levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                      MPI_T_CB_REQUIRE_THREAD_SAFE,
                                      MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

struct callback {
  MPI_T_event_cb_function* function = nullptr;
  void* user_data = nullptr;
};

}  // namespace
}  // namespace sinew::mpi

// What the standard's opaque handles point to.
struct MPI_ABI_T_event_registration {
  int event = 0;
  sinew::mpi::callback callbacks[4];  ///< by level
  MPI_T_event_dropped_cb_function* dropped_handler = nullptr;
  MPI_Count dropped = 0;
  bool freed = false;  ///< by a callback: it goes when the last has returned
};
struct MPI_ABI_T_event_instance {
  int event;
  MPI_Count timestamp;
  const std::byte* data;
};

namespace sinew::mpi {
namespace {

using registration = MPI_ABI_T_event_registration;

/// Under tool::lock(), which is held while callbacks run: after MPI_T_event_handle_free none does.
std::vector<std::unique_ptr<registration>>& registrations() {
  static auto& all = *new std::vector<std::unique_ptr<registration>>;
  return all;
}
int callbacks_running = 0;
/// How many there are; looked at without the lock only for being 0, and a registration need not
/// hear of what happens at the same time: relaxed.
std::atomic<int> registered{0};

int level_of(MPI_T_cb_safety safety) {
  const auto* at = std::find(std::begin(levels), std::end(levels), safety);
  return at == std::end(levels) ? -1 : static_cast<int>(at - std::begin(levels));
}

bool is_registration(MPI_T_event_registration one) {
  const auto& all = registrations();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& r) { return r.get() == one && !r->freed; });
}

void sweep() {
  if (callbacks_running == 0) {
    std::erase_if(registrations(), [](const auto& r) { return r->freed; });
  }
}

/// Calls the callback of the lowest level that suffices, and before it the handler that is told of
/// those dropped.
void deliver(registration& to, int level, MPI_ABI_T_event_instance& what) {
  SINEW_EXPECT(level >= 0 && level < static_cast<int>(std::size(levels)));
  const callback* const end = std::end(to.callbacks);
  const auto has = [](const callback& c) { return c.function != nullptr; };
  const auto* const found = std::find_if(std::cbegin(to.callbacks) + level, end, has);
  if (found == end) {
    to.dropped += std::any_of(std::cbegin(to.callbacks), end, has) ? 1 : 0;
  }
  const callback chosen = found == end ? callback{} : *found;
  if (to.dropped != 0 && to.dropped_handler != nullptr) {
    const MPI_Count lost = std::exchange(to.dropped, 0);
    to.dropped_handler(lost, &to, 0, levels[level], chosen.user_data);
  }
  if (chosen.function != nullptr && !to.freed) {
    chosen.function(&what, &to, levels[level], chosen.user_data);
  }
}

template <class Data>
void tell(event which, MPI_T_cb_safety safety, const Data& data) {
  static_assert(std::is_trivially_copyable_v<Data>);
  const std::lock_guard held(tool::lock());
  SINEW_ASSERT(events[which].bytes == sizeof data);
  MPI_ABI_T_event_instance instance{which, now_ns(), reinterpret_cast<const std::byte*>(&data)};
  ++callbacks_running;
  for (std::size_t i = 0; i < registrations().size(); ++i) {  // a callback may add some
    registration& to = *registrations()[i];
    if (to.event == which && !to.freed) {
      deliver(to, level_of(safety), instance);
    }
  }
  --callbacks_running;
  sweep();
}

template <class T>
void copy_out(void* to, const T* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

int empty_info(MPI_Info* info) {
  if (info == nullptr) {
    return MPI_T_ERR_INVALID;
  }
  *info = handle_of<MPI_Info>(arena<info_object>::make());
  return MPI_SUCCESS;
}

int with_registration(MPI_T_event_registration one, auto call) {
  return tool::enter(
      [&]() -> int { return is_registration(one) ? call(*one) : MPI_T_ERR_INVALID_HANDLE; });
}

}  // namespace

bool tool::events_listen() {
  const auto& all = registrations();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& r) { return !r->freed && r->event != error_raised; });
}

std::vector<int> tool::events_of(const std::string& module) {
  std::vector<int> found;
  for (int i = 0; i < event_count; ++i) {
    if (module == events[i].module) {
      found.push_back(i);
    }
  }
  return found;
}

void tool::tell_message(const p2p::incident& it) noexcept {
  if (it.collective || registered.load(std::memory_order_relaxed) == 0) {
    return;
  }
  const message_data data{static_cast<MPI_Count>(it.bytes), it.peer.value(), it.tag.value()};
  if (it.unexpected) {
    tell(arrived_unexpected, MPI_T_CB_REQUIRE_MPI_RESTRICTED, data);
  } else if (it.rendezvous && !it.arrived) {
    tell(rendezvous_started, MPI_T_CB_REQUIRE_MPI_RESTRICTED, data);
  }
}

void tool::tell_error(int code) noexcept {
  if (registered.load(std::memory_order_relaxed) != 0) {
    tell(error_raised, MPI_T_CB_REQUIRE_NONE, error_data{code});
  }
}

int impl::T_event_get_num(int* num_events) {
  return tool::enter([&]() -> int {
    if (num_events == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_events = event_count;
    return MPI_SUCCESS;
  });
}

int impl::T_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                           MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                           int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                           int* desc_len, int* bind) {
  return tool::enter([&]() -> int {
    if (event_index < 0 || event_index >= event_count) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    const event_type& e = events[event_index];
    tool::give_text(name, name_len, e.name);
    tool::give_text(desc, desc_len, e.description);
    tool::give<int>(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
    if (num_elements != nullptr) {
      const int room = std::clamp(*num_elements, 0, e.elements);
      if (array_of_datatypes != nullptr) {
        std::copy_n(e.types, room, array_of_datatypes);
      }
      if (array_of_displacements != nullptr) {
        std::copy_n(e.places, room, array_of_displacements);
      }
      *num_elements = e.elements;
    }
    tool::give(enumtype, MPI_T_ENUM_NULL);
    tool::give<int>(bind, MPI_T_BIND_NO_OBJECT);
    return info != nullptr ? empty_info(info) : MPI_SUCCESS;
  });
}

int impl::T_event_get_index(const char* name, int* event_index) {
  return tool::enter([&]() -> int {
    if (name == nullptr || event_index == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    const int found = tool::index_of(events, name);
    if (found < 0) {
      return MPI_T_ERR_INVALID_NAME;
    }
    *event_index = found;
    return MPI_SUCCESS;
  });
}

int impl::T_event_handle_alloc(int event_index, void* obj_handle, MPI_Info info,
                               MPI_T_event_registration* event_registration) {
  (void)obj_handle;  // events are bound to no object
  (void)info;        // and there are no hints
  const int ended = tool::enter([&]() -> int {
    if (event_index < 0 || event_index >= event_count) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    if (event_registration == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    registrations().push_back(std::make_unique<registration>());
    *event_registration = registrations().back().get();
    (*event_registration)->event = event_index;
    registered.fetch_add(1, std::memory_order_relaxed);
    return MPI_SUCCESS;
  });
  tool::settle_observation();
  return ended;
}

int impl::T_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                              MPI_T_event_free_cb_function free_cb_function) {
  bool in_callback = false;  // then observation ends later: no progress can be made here
  const int ended = with_registration(event_registration, [&](registration& r) -> int {
    in_callback = callbacks_running != 0;
    r.freed = true;
    registered.fetch_sub(1, std::memory_order_relaxed);
    if (free_cb_function != nullptr) {
      free_cb_function(&r, MPI_T_CB_REQUIRE_NONE, user_data);
    }
    sweep();
    return MPI_SUCCESS;
  });
  if (!in_callback) {
    tool::settle_observation();
  }
  return ended;
}

int impl::T_event_register_callback(MPI_T_event_registration event_registration,
                                    MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                                    MPI_T_event_cb_function event_cb_function) {
  (void)info;
  return with_registration(event_registration, [&](registration& r) -> int {
    const int level = level_of(cb_safety);
    if (level < 0) {
      return MPI_T_ERR_INVALID;
    }
    r.callbacks[level] = {event_cb_function, user_data};
    return MPI_SUCCESS;
  });
}

int impl::T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                      MPI_T_event_dropped_cb_function dropped_cb_function) {
  return with_registration(event_registration, [&](registration& r) -> int {
    r.dropped_handler = dropped_cb_function;
    return MPI_SUCCESS;
  });
}

// No hint is known: none is set, and none is told.

int impl::T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info) {
  return with_registration(event_registration, [](registration&) -> int { return MPI_SUCCESS; });
}
int impl::T_event_handle_get_info(MPI_T_event_registration event_registration,
                                  MPI_Info* info_used) {
  return with_registration(event_registration,
                           [&](registration&) -> int { return empty_info(info_used); });
}
int impl::T_event_callback_set_info(MPI_T_event_registration event_registration,
                                    MPI_T_cb_safety cb_safety, MPI_Info) {
  return with_registration(event_registration, [&](registration&) -> int {
    return level_of(cb_safety) < 0 ? MPI_T_ERR_INVALID : MPI_SUCCESS;
  });
}
int impl::T_event_callback_get_info(MPI_T_event_registration event_registration,
                                    MPI_T_cb_safety cb_safety, MPI_Info* info_used) {
  return with_registration(event_registration, [&](registration&) -> int {
    return level_of(cb_safety) < 0 ? MPI_T_ERR_INVALID : empty_info(info_used);
  });
}

// An instance lives while its callback runs.

int impl::T_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  return tool::enter([&]() -> int {
    if (event_instance == nullptr || buffer == nullptr) {
      return event_instance == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    const event_type& e = events[event_instance->event];
    if (element_index < 0 || element_index >= e.elements) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    const std::size_t bytes = e.types[element_index] == MPI_COUNT ? sizeof(MPI_Count) : sizeof(int);
    copy_out(buffer, event_instance->data + e.places[element_index], bytes);
    return MPI_SUCCESS;
  });
}

int impl::T_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  return tool::enter([&]() -> int {
    if (event_instance == nullptr || buffer == nullptr) {
      return event_instance == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    copy_out(buffer, event_instance->data, events[event_instance->event].bytes);
    return MPI_SUCCESS;
  });
}

int impl::T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  return tool::enter([&]() -> int {
    if (event_instance == nullptr || event_timestamp == nullptr) {
      return event_instance == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    *event_timestamp = event_instance->timestamp;
    return MPI_SUCCESS;
  });
}

int impl::T_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  return tool::enter([&]() -> int {
    if (event_instance == nullptr || source_index == nullptr) {
      return event_instance == nullptr ? MPI_T_ERR_INVALID_HANDLE : MPI_T_ERR_INVALID;
    }
    *source_index = 0;
    return MPI_SUCCESS;
  });
}

int impl::T_source_get_num(int* num_sources) {
  return tool::enter([&]() -> int {
    if (num_sources == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_sources = 1;
    return MPI_SUCCESS;
  });
}

int impl::T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                            MPI_T_source_order* ordering, MPI_Count* ticks_per_second,
                            MPI_Count* max_ticks, MPI_Info* info) {
  return tool::enter([&]() -> int {
    if (source_index != 0) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    tool::give_text(name, name_len, "sinew");
    tool::give_text(desc, desc_len, "this rank; its clock is the one of MPI_Wtime");
    tool::give(ordering, MPI_T_SOURCE_ORDERED);
    tool::give<MPI_Count>(ticks_per_second, 1'000'000'000);
    tool::give<MPI_Count>(max_ticks, INT64_MAX);
    return info != nullptr ? empty_info(info) : MPI_SUCCESS;
  });
}

int impl::T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  return tool::enter([&]() -> int {
    if (source_index != 0 || timestamp == nullptr) {
      return source_index != 0 ? MPI_T_ERR_INVALID_INDEX : MPI_T_ERR_INVALID;
    }
    *timestamp = now_ns();
    return MPI_SUCCESS;
  });
}

}  // namespace sinew::mpi
