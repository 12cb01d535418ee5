// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 15.3.7: performance variables. Three kinds: what matching has cost, which it
// counts anyhow and which are only read; what messages and one-sided operations do, counted in
// each handle while it is started; and how often this rank has slept.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "abi/mpi/tool.hpp"
#include "abi/mpi/tool_watch.hpp"
#include "abi/mpi/window.hpp"

// What the standard's opaque handles point to.
struct MPI_ABI_T_pvar_handle {
  int variable = 0;
  MPI_Comm comm = MPI_COMM_NULL;  ///< these two: what it is bound to
  MPI_Win win = MPI_WIN_NULL;
  bool started = false;
  unsigned long long value = 0;
};
struct MPI_ABI_T_pvar_session {
  std::vector<std::unique_ptr<MPI_ABI_T_pvar_handle>> handles;
};

namespace sinew::mpi {
namespace {

using value = unsigned long long;
using handle_type = MPI_ABI_T_pvar_handle;

/// One of the three functions is there. The last two say what one message, or one operation of
/// that many bytes, adds.
struct performance_variable {
  const char* name;
  const char* module;
  const char* description;
  int kind;
  value (*matching)(const p2p::match_report&) = nullptr;
  value (*message)(const p2p::incident&) = nullptr;
  value (*access)(tool::access, std::size_t) = nullptr;

  [[nodiscard]] bool counted() const { return message != nullptr || access != nullptr; }
  [[nodiscard]] int bind() const {
    return access != nullptr                           ? MPI_T_BIND_MPI_WIN
           : matching != nullptr || message != nullptr ? MPI_T_BIND_MPI_COMM
                                                       : MPI_T_BIND_NO_OBJECT;
  }
};

constexpr int counter = MPI_T_PVAR_CLASS_COUNTER;
constexpr int sum = MPI_T_PVAR_CLASS_AGGREGATE;
constexpr int high = MPI_T_PVAR_CLASS_HIGHWATERMARK;
constexpr int level = MPI_T_PVAR_CLASS_LEVEL;
using report = p2p::match_report;
using message = p2p::incident;

constexpr performance_variable performance_variables[] = {
    {"sinew_match_searches", "match", "searches for a matching receive or message", counter,
     [](const report& r) -> value { return r.counts.searches; }},
    {"sinew_match_examined", "match", "entries whose envelope was compared in all searches",
     counter, [](const report& r) -> value { return r.counts.examined; }},
    {"sinew_match_longest", "match", "entries examined in the longest search", high,
     [](const report& r) -> value { return r.counts.longest; }},
    {"sinew_match_most_posted", "match", "receives posted at the fullest moment", high,
     [](const report& r) -> value { return r.counts.most_posted; }},
    {"sinew_match_most_unexpected", "match", "unexpected messages at the fullest moment", high,
     [](const report& r) -> value { return r.counts.most_unexpected; }},
    {"sinew_match_posted", "match", "receives posted now", level,
     [](const report& r) -> value { return r.posted; }},
    {"sinew_match_unexpected", "match", "unexpected messages now", level,
     [](const report& r) -> value { return r.unexpected; }},
    {"sinew_p2p_sent", "p2p", "messages that this rank has sent in the communicator", counter,
     nullptr, [](const message& m) -> value { return !m.arrived && !m.collective; }},
    {"sinew_p2p_sent_bytes", "p2p", "bytes of the messages sent", sum, nullptr,
     [](const message& m) -> value { return !m.arrived && !m.collective ? m.bytes : 0; }},
    {"sinew_p2p_arrived", "p2p", "messages of the communicator that have arrived", counter, nullptr,
     [](const message& m) -> value { return m.arrived && !m.collective; }},
    {"sinew_p2p_arrived_bytes", "p2p", "bytes of the messages that have arrived", sum, nullptr,
     [](const message& m) -> value { return m.arrived && !m.collective ? m.bytes : 0; }},
    {"sinew_p2p_unexpected", "p2p", "messages that arrived before their receive was posted",
     counter, nullptr, [](const message& m) -> value { return m.unexpected && !m.collective; }},
    {"sinew_p2p_most_unexpected", "p2p", "unexpected messages at the fullest moment while started",
     high, nullptr, [](const message& m) -> value { return m.collective ? 0 : m.waiting; }},
    {"sinew_p2p_rendezvous", "p2p", "messages sent whose data wait for the receive", counter,
     nullptr,
     [](const message& m) -> value { return m.rendezvous && !m.arrived && !m.collective; }},
    {"sinew_coll_sent", "coll", "messages that collectives have sent for this rank", counter,
     nullptr, [](const message& m) -> value { return !m.arrived && m.collective; }},
    {"sinew_coll_sent_bytes", "coll", "bytes of the messages that collectives have sent", sum,
     nullptr, [](const message& m) -> value { return !m.arrived && m.collective ? m.bytes : 0; }},
    {"sinew_rma_puts", "rma", "puts of this rank into the window", counter, nullptr, nullptr,
     [](tool::access a, std::size_t) -> value { return a == tool::access::put; }},
    {"sinew_rma_gets", "rma", "gets of this rank from the window", counter, nullptr, nullptr,
     [](tool::access a, std::size_t) -> value { return a == tool::access::get; }},
    {"sinew_rma_atomics", "rma", "accumulates, fetches and compare-and-swaps of this rank", counter,
     nullptr, nullptr,
     [](tool::access a, std::size_t) -> value {
       return a == tool::access::accumulate || a == tool::access::compare;
     }},
    {"sinew_rma_bytes", "rma", "bytes at the targets of this rank's operations", sum, nullptr,
     nullptr, [](tool::access, std::size_t bytes) -> value { return bytes; }},
    {"sinew_core_sleeps", "core", "how often this rank has slept for want of messages", counter},
};
constexpr int variable_count = static_cast<int>(std::size(performance_variables));

const performance_variable& variable_of(const handle_type& h) {
  SINEW_EXPECT(h.variable >= 0 && h.variable < variable_count);
  return performance_variables[h.variable];
}

/// Under tool::lock(), as all below.
std::vector<std::unique_ptr<MPI_ABI_T_pvar_session>>& sessions() {
  static auto& all = *new std::vector<std::unique_ptr<MPI_ABI_T_pvar_session>>;
  return all;
}

bool is_session(MPI_T_pvar_session session) {
  return std::any_of(sessions().begin(), sessions().end(),
                     [&](const auto& s) { return s.get() == session; });
}

/// MPI_SUCCESS if `handle` is one of `session`.
int check(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (!is_session(session)) {
    return MPI_T_ERR_INVALID_SESSION;
  }
  const auto& all = session->handles;
  const bool its = std::any_of(all.begin(), all.end(), [&](auto& h) { return h.get() == handle; });
  return its ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

bool running() { return process.now.load(std::memory_order_relaxed) == phase::running; }

/// Whether what it is bound to is still there.
bool is_bound(const handle_type& h) {
  switch (variable_of(h).bind()) {
    case MPI_T_BIND_MPI_COMM:
      return running() && find_comm(h.comm) != nullptr;
    case MPI_T_BIND_MPI_WIN:
      return running() && resolve<window_object>(h.win) != nullptr;
    default:
      return true;
  }
}

value value_now(const handle_type& h) {
  SINEW_EXPECT(is_bound(h));
  const performance_variable& v = variable_of(h);
  if (v.counted()) {
    return h.value;
  }
  if (v.matching != nullptr) {
    return v.matching(process.engine->matching(*find_comm(h.comm)->comm));
  }
  return process.runtime != nullptr ? process.runtime->sleeps() : 0;
}

template <class Visit>
void each_started(Visit visit) {
  for (const auto& session : sessions()) {
    for (const auto& h : session->handles) {
      if (h->started) {
        visit(*h);
      }
    }
  }
}

/// A window is observed while a started handle is bound to it.
void mark_window(MPI_Win win) {
  auto* w = win != MPI_WIN_NULL && running() ? resolve<window_object>(win) : nullptr;
  if (w == nullptr) {
    return;
  }
  bool wanted = false;
  each_started([&](const handle_type& h) { wanted |= h.win == win; });
  w->observe(wanted);
}

/// Runs `change` on one handle, or on all to which it applies.
template <class Applies, class Change>
int change(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int otherwise, Applies applies,
           Change what) {
  if (handle == MPI_T_PVAR_ALL_HANDLES && is_session(session)) {
    for (const auto& h : session->handles) {
      if (applies(*h)) {
        what(*h);
      }
    }
    return MPI_SUCCESS;
  }
  if (const int wrong = check(session, handle); wrong != MPI_SUCCESS) {
    return wrong;
  }
  if (!applies(*handle)) {
    return otherwise;
  }
  what(*handle);
  return MPI_SUCCESS;
}

bool is_counted(const handle_type& h) { return variable_of(h).counted(); }

int start_or_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle, bool started) {
  const int ended = tool::enter([&] {
    return change(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, is_counted, [&](handle_type& h) {
      h.started = started;
      mark_window(h.win);
    });
  });
  tool::settle_observation();
  return ended;
}

/// What a handle begins with: nothing counted; a watermark is where the level is.
void reset(handle_type& h) {
  const performance_variable& v = variable_of(h);
  SINEW_EXPECT(v.counted());
  h.value = 0;
  if (v.kind == high && is_bound(h)) {
    h.value = process.engine->matching(*find_comm(h.comm)->comm).unexpected;
  }
}

}  // namespace

std::vector<int> tool::pvars_of(const std::string& module) {
  std::vector<int> found;
  for (int i = 0; i < variable_count; ++i) {
    if (module == performance_variables[i].module) {
      found.push_back(i);
    }
  }
  return found;
}

bool tool::variables_listen() {
  bool any = false;
  each_started([&](const handle_type& h) { any |= variable_of(h).message != nullptr; });
  return any;
}

void tool::count_message(const p2p::incident& it) {
  const std::lock_guard held(lock());
  each_started([&](handle_type& h) {
    const performance_variable& v = variable_of(h);
    const comm_object* c = v.message != nullptr ? find_comm(h.comm) : nullptr;
    if (c != nullptr && c->comm == it.comm) {
      const value more = v.message(it);
      h.value = v.kind == high ? std::max(h.value, more) : h.value + more;
    }
  });
}

void tool::count_access(const window_object& w, access what, std::size_t bytes) {
  const std::lock_guard held(lock());
  each_started([&](handle_type& h) {
    const performance_variable& v = variable_of(h);
    if (v.access != nullptr && resolve<window_object>(h.win) == &w) {
      h.value += v.access(what, bytes);
    }
  });
}

int impl::T_pvar_get_num(int* num_pvar) {
  return tool::enter([&]() -> int {
    if (num_pvar == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    *num_pvar = variable_count;
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                          MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                          int* bind, int* readonly, int* continuous, int* atomic) {
  return tool::enter([&]() -> int {
    if (pvar_index < 0 || pvar_index >= variable_count) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    const performance_variable& v = performance_variables[pvar_index];
    tool::give_text(name, name_len, v.name);
    tool::give_text(desc, desc_len, v.description);
    tool::give<int>(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    tool::give(var_class, v.kind);
    tool::give(datatype, MPI_UNSIGNED_LONG_LONG);
    tool::give(enumtype, MPI_T_ENUM_NULL);
    tool::give(bind, v.bind());
    tool::give(readonly, v.counted() ? 0 : 1);
    tool::give(continuous, v.counted() ? 0 : 1);
    tool::give(atomic, v.counted() ? 1 : 0);
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  return tool::enter([&]() -> int {
    if (name == nullptr || pvar_index == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    const int found = tool::index_of(performance_variables, name);
    if (found < 0 || performance_variables[found].kind != var_class) {
      return MPI_T_ERR_INVALID_NAME;
    }
    *pvar_index = found;
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_session_create(MPI_T_pvar_session* pe_session) {
  return tool::enter([&]() -> int {
    if (pe_session == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    sessions().emplace_back(new MPI_ABI_T_pvar_session);
    *pe_session = sessions().back().get();
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_session_free(MPI_T_pvar_session* pe_session) {
  const int ended = tool::enter([&]() -> int {
    if (pe_session == nullptr || !is_session(*pe_session)) {
      return MPI_T_ERR_INVALID_SESSION;
    }
    for (const auto& h : (*pe_session)->handles) {
      h->started = false;
      mark_window(h->win);
    }
    std::erase_if(sessions(), [&](const auto& s) { return s.get() == *pe_session; });
    *pe_session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
  });
  tool::settle_observation();
  return ended;
}

int impl::T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle,
                              MPI_T_pvar_handle* handle, int* count) {
  return tool::enter([&]() -> int {
    if (!is_session(pe_session)) {
      return MPI_T_ERR_INVALID_SESSION;
    }
    if (pvar_index < 0 || pvar_index >= variable_count) {
      return MPI_T_ERR_INVALID_INDEX;
    }
    const int bind = performance_variables[pvar_index].bind();
    const bool unbound = bind == MPI_T_BIND_NO_OBJECT;
    if ((obj_handle == nullptr && !unbound) || handle == nullptr || count == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    auto made = std::make_unique<handle_type>();
    made->variable = pvar_index;
    if (bind == MPI_T_BIND_MPI_COMM) {
      made->comm = *static_cast<const MPI_Comm*>(obj_handle);
    } else if (bind == MPI_T_BIND_MPI_WIN) {
      made->win = *static_cast<const MPI_Win*>(obj_handle);
    }
    if (!is_bound(*made)) {
      return MPI_T_ERR_INVALID_HANDLE;
    }
    if (is_counted(*made)) {
      reset(*made);
    }
    pe_session->handles.push_back(std::move(made));
    *handle = pe_session->handles.back().get();
    *count = 1;
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  const int ended = tool::enter([&]() -> int {
    if (handle == nullptr) {
      return MPI_T_ERR_INVALID;
    }
    if (const int wrong = check(pe_session, *handle); wrong != MPI_SUCCESS) {
      return wrong;
    }
    (*handle)->started = false;
    mark_window((*handle)->win);
    std::erase_if(pe_session->handles, [&](const auto& h) { return h.get() == *handle; });
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
  });
  tool::settle_observation();
  return ended;
}

int impl::T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return start_or_stop(pe_session, handle, true);
}
int impl::T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return start_or_stop(pe_session, handle, false);
}

int impl::T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  return tool::enter([&]() -> int {
    if (const int wrong = check(pe_session, handle); wrong != MPI_SUCCESS) {
      return wrong;
    }
    if (buf == nullptr || !is_bound(*handle)) {
      return buf == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE;
    }
    const value now = value_now(*handle);
    std::memcpy(buf, &now, sizeof now);
    return MPI_SUCCESS;
  });
}

int impl::T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  return tool::enter([&]() -> int {
    if (handle == MPI_T_PVAR_ALL_HANDLES || buf == nullptr) {
      return buf == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE;
    }
    return change(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE, is_counted,
                  [&](handle_type& h) { std::memcpy(&h.value, buf, sizeof h.value); });
  });
}

int impl::T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool::enter(
      [&] { return change(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE, is_counted, reset); });
}

int impl::T_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  return tool::enter([&]() -> int {
    if (handle == MPI_T_PVAR_ALL_HANDLES || buf == nullptr) {
      return buf == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_HANDLE;
    }
    return change(pe_session, handle, MPI_T_ERR_PVAR_NO_ATOMIC, is_counted, [&](handle_type& h) {
      std::memcpy(buf, &h.value, sizeof h.value);
      reset(h);
    });
  });
}

}  // namespace sinew::mpi
