// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "abi/mpi/op.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::mpi::check {
namespace {

// In the collectives' context, beyond all tags of coll. Messages of one tag stay in order, and the
// calls on a communicator have one order on all its ranks, so one tag each is enough.
constexpr message_tag signature_tag{p2p::max_tag.value() - 1};
constexpr message_tag verdict_tag{p2p::max_tag.value() - 2};

/// What rank 0 answers. `rank` -1: all is well.
struct verdict {
  std::int32_t rank = -1;
  signature here;
  signature there;
};
static_assert(std::is_trivially_copyable_v<verdict>);  // it travels as bytes

/// A call that rank 0 did not wait for. Never moves: receives point into it.
struct pending {
  MPI_Comm handle;
  coll::communicator_ref comm;
  signature mine;
  std::vector<signature> others;
  std::vector<p2p::request*> receives;

  [[nodiscard]] bool done() const {
    return std::all_of(receives.begin(), receives.end(), [](auto* r) { return r->done(); });
  }
};

/// What was found wrong with a call that rank 0 did not wait for.
struct finding {
  MPI_Comm handle;
  coll::communicator_ref comm;
  verdict what;
};

/// A difference on its way to a rank that waits for it. Never moves: the request reads it.
struct answer {
  coll::communicator_ref comm;
  verdict what;
  p2p::request* sending = nullptr;
};

/// Rank 0's calls that others have not all made yet, in order; what was found wrong with some.
struct ledger {
  std::mutex lock;  ///< guards all; nobody makes progress with it
  std::list<pending> open;
  std::list<finding> found;
  std::list<answer> answers;
  int chore = -1;
};
ledger& books() {
  static auto& it = *new ledger;
  return it;
}

bool same_kind(const signature& a, const signature& b) {
  const auto any = [](const signature& s) {
    return s.kind == layout::element::none || s.kind == layout::element::byte || s.bytes == 0;
  };
  return a.kind == b.kind || any(a) || any(b);
}

int class_of_difference(const signature& a, const signature& b) {
  if (std::strcmp(a.name, b.name) != 0) {
    return MPI_ERR_OTHER;
  }
  return a.root != b.root     ? MPI_ERR_ROOT
         : a.op != b.op       ? MPI_ERR_OP
         : !same_kind(a, b)   ? MPI_ERR_TYPE
         : a.bytes != b.bytes ? MPI_ERR_COUNT
                              : MPI_SUCCESS;
}

std::string words_of(const signature& s, int difference) {
  switch (difference) {
    case MPI_ERR_ROOT:
      return " with root " + std::to_string(s.root);
    case MPI_ERR_OP:
      return s.op == 0 ? " with an operation of the program"
                       : " with operation " + std::to_string(s.op);
    case MPI_ERR_TYPE:
      return " with data of kind " + std::to_string(static_cast<int>(s.kind));
    case MPI_ERR_COUNT:
      return " with " + std::to_string(s.bytes) + " bytes";
    default:
      return "";
  }
}

failure failure_of(const verdict& v) {
  if (v.there.overlap) {
    return {MPI_ERR_BUFFER, std::string("the send and receive buffers of rank ") +
                                std::to_string(v.rank) + " overlap in " + v.there.name +
                                "; MPI_IN_PLACE is for results that replace the data"};
  }
  const int difference = class_of_difference(v.here, v.there);
  SINEW_EXPECT(v.rank > 0 && difference != MPI_SUCCESS);
  return {difference, std::string("the ranks' collectives differ: rank ") + std::to_string(v.rank) +
                          " calls " + v.there.name + words_of(v.there, difference) +
                          ", rank 0 calls " + v.here.name + words_of(v.here, difference)};
}

verdict judge(const signature& mine, const std::vector<signature>& others) {
  if (mine.overlap) {
    return {0, mine, mine};
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i].overlap || class_of_difference(mine, others[i]) != MPI_SUCCESS) {
      return {static_cast<std::int32_t>(i) + 1, mine, others[i]};
    }
  }
  return {};
}

/// Ends a call of which all is known.
verdict end(pending& p) {
  for (p2p::request* r : p.receives) {
    process.engine->release(r);
  }
  return judge(p.mine, p.others);
}

p2p::buffer bytes_of(const auto& what) { return p2p::buffer::of_bytes(&what, sizeof what); }

/// Ranks that have called something blocking wait for rank 0's word, which did not wait for them.
/// (Such a call always differs: its name does.) Under the lock.
void answer_those_who_wait(ledger& b, const pending& p, const verdict& v) {
  for (std::size_t i = 0; i < p.others.size(); ++i) {
    if (p.others[i].how != form::blocking) {
      continue;
    }
    answer& a = b.answers.emplace_back(answer{p.comm, v});
    a.sending = process.engine->isend(*a.comm, p2p::collectives_of(*a.comm), bytes_of(a.what),
                                      comm_rank{static_cast<int>(i) + 1}, verdict_tag);
  }
}

/// Ends the calls of which all is known. Under the lock.
int settle(ledger& b) {
  int ended = 0;
  b.answers.remove_if([](const answer& a) {
    const bool over = a.sending == nullptr || a.sending->done();
    if (over && a.sending != nullptr) {
      process.engine->release(a.sending);
    }
    return over;
  });
  for (auto it = b.open.begin(); it != b.open.end();) {
    if (!it->done()) {
      ++it;
      continue;
    }
    if (const verdict v = end(*it); v.rank >= 0) {
      b.found.push_back({it->handle, it->comm, v});
      answer_those_who_wait(b, *it, v);
    }
    it = b.open.erase(it);
    ++ended;
  }
  return ended;
}

/// By whoever polls: the difference may be why everybody waits, so fatal errors end the job here.
int look(void*) noexcept {
  ledger& b = books();
  const std::unique_lock held(b.lock, std::try_to_lock);
  if (!held.owns_lock()) {
    return 0;
  }
  return base::must_have_memory("comparing collectives", [&] {
    const int ended = settle(b);
    for (const finding& f : b.found) {
      comm_object* c = find_comm(f.handle);
      if (c != nullptr && c->together() == f.comm &&
          (c->errors->act == errhandler_object::action::fatal ||
           c->errors->act == errhandler_object::action::abort)) {
        const failure told = failure_of(f.what);
        raise_error(c, told.code, told.sentence);
      }
    }
    if (b.open.empty() && b.answers.empty()) {
      process.runtime->want_chore(b.chore, false);
    }
    return ended;
  });
}

void begin_at_first(comm_object& c, const signature& mine) {
  ledger& b = books();
  const core::communicator& comm = *c.together();
  const std::lock_guard held(b.lock);
  pending& p = b.open.emplace_back(pending{c.handle, c.together(), mine, {}, {}});
  p.others.resize(static_cast<std::size_t>(comm.size() - 1));
  for (int r = 1; r < comm.size(); ++r) {
    p.receives.push_back(process.engine->irecv(comm, p2p::collectives_of(comm),
                                               bytes_of(p.others[static_cast<std::size_t>(r - 1)]),
                                               comm_rank{r}, signature_tag));
  }
  if (b.chore < 0) {
    b.chore = process.runtime->add_chore(look, nullptr);
  }
  process.runtime->want_chore(b.chore, true);
}

/// The first thing wrong with the communicator's calls that rank 0 did not wait for. The others
/// have made a later call, so what is awaited of them comes.
verdict verdict_of_earlier(const comm_object& c) {
  ledger& b = books();
  const auto of_c = [&](const auto& one) { return one.comm == c.together(); };
  std::list<pending> rest;
  verdict first;
  {
    const std::lock_guard held(b.lock);
    for (auto it = b.open.begin(); it != b.open.end();) {
      const auto next = std::next(it);
      if (of_c(*it)) {
        rest.splice(rest.end(), b.open, it);
      }
      it = next;
    }
    if (const auto f = std::find_if(b.found.begin(), b.found.end(), of_c); f != b.found.end()) {
      first = f->what;
    }
    b.found.remove_if(of_c);
  }
  for (pending& p : rest) {
    for (p2p::request* r : p.receives) {
      process.engine->wait(*r);
    }
    const verdict v = end(p);
    first = first.rank >= 0 ? first : v;
  }
  return first;
}

verdict decide_at_first(const comm_object& c, const signature& mine) {
  const core::communicator& comm = *c.together();
  p2p::engine& engine = *process.engine;
  std::vector<signature> others(static_cast<std::size_t>(comm.size() - 1));
  bool all_live = true;
  for (int r = 1; r < comm.size(); ++r) {
    const p2p::result heard =
        engine.recv(comm, p2p::collectives_of(comm),
                    bytes_of(others[static_cast<std::size_t>(r - 1)]), comm_rank{r}, signature_tag);
    all_live = all_live && heard.error == p2p::fault::none;
  }
  const verdict earlier = verdict_of_earlier(c);
  // The collective itself says what has become of the others.
  const verdict v = !all_live ? verdict{} : earlier.rank >= 0 ? earlier : judge(mine, others);
  for (int r = 1; r < comm.size(); ++r) {
    if (others[static_cast<std::size_t>(r - 1)].how == form::blocking) {
      engine.send(comm, p2p::collectives_of(comm), bytes_of(v), comm_rank{r}, verdict_tag);
    }
  }
  return v;
}

}  // namespace

signature amount(MPI_Count count, MPI_Datatype type, int root) {
  check_count(count);
  const layout::datatype& t = layout_of(type, count == 0);
  signature s;
  s.root = root;
  s.has_amount = true;
  s.bytes = static_cast<std::uint64_t>(count) * t.size();
  s.kind = t.base();
  return s;
}

signature with_op(signature s, MPI_Op op) {
  const std::uintptr_t value = value_of(op);
  s.op = value < first_address ? static_cast<std::int32_t>(value) : 0;
  return s;
}

void compare(of_call of, comm_object& c, signature mine) {
  const core::communicator& comm = *c.together();
  const form how = of.how;
  const char* const name = of.call.name;
  const std::size_t length = std::strlen(name);
  SINEW_ASSERT(length < sizeof mine.name);
  // The form of large counts matches the other one.
  const bool large = length > 2 && std::strcmp(name + length - 2, "_c") == 0;
  std::memcpy(mine.name, name, large ? length - 2 : length);
  mine.how = how;
  verdict v;
  const bool waits = how == form::blocking && comm.size() > 1;
  if (mine.overlap && !waits) {  // this rank alone says so
    v = {comm.rank().value(), mine, mine};
    mine.overlap = false;
  }
  if (comm.size() > 1 && comm.rank() == 0) {
    if (waits) {
      v = decide_at_first(c, mine);
    } else {
      begin_at_first(c, mine);
    }
  } else if (comm.size() > 1) {
    process.engine->send(comm, p2p::collectives_of(comm), bytes_of(mine), 0, signature_tag);
    if (waits) {
      process.engine->recv(comm, p2p::collectives_of(comm), bytes_of(v), 0, verdict_tag);
    }
  }
  if (v.rank >= 0) {
    const failure told = failure_of(v);
    found(of.call, told.code, told.sentence);
  }
}

}  // namespace sinew::mpi::check
