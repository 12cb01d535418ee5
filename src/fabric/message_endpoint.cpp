// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/message_endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/fabric/atomics.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric {
namespace {

// The second word of a header: what the message is, and above that a key (put, get, atomic) or the
// number of a request (data, result). The first: an address, a count, or the old value.
constexpr unsigned kind_bits = 8;

template <class Kind>
std::uint64_t packed(Kind what, std::uint64_t number) noexcept {
  SINEW_EXPECT(number << kind_bits >> kind_bits == number);
  return static_cast<std::uint64_t>(what) | number << kind_bits;
}
std::uint64_t number_of(const header& head) noexcept { return head.word[1] >> kind_bits; }

}  // namespace

void message_endpoint::set_handler(handler_id id, handler function, void* context) {
  SINEW_EXPECT(id < max_handlers && function != nullptr);
  handlers_[id] = {function, context};
}

remote_key message_endpoint::expose(void* address, std::size_t bytes) {
  const std::lock_guard held(mutex_);
  return {{exposed_.add(reinterpret_cast<std::uintptr_t>(address), bytes), bytes}};
}

void message_endpoint::withdraw(const remote_key& key) {
  const std::lock_guard held(mutex_);
  exposed_.remove(key.word[0]);
}

// --- of this rank: what it asks for ---

status message_endpoint::put(job_rank peer, const void* local, const remote_address& to,
                             std::size_t bytes, callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  SINEW_EXPECT(local != nullptr);
  if (peer == rank()) {
    std::memmove(reinterpret_cast<void*>(to.address), local, bytes);
    return status::ok();
  }
  const std::lock_guard held(mutex_);
  if (given_up_.contains(peer)) {
    return status::ok();
  }
  if (streams_.size() >= most_requests) {
    return status::again(retry_reason::busy);
  }
  stream s{peer,
           kind::put,
           {{to.address, packed(kind::put, to.key.word[0])}},
           static_cast<const std::byte*>(local),
           bytes};
  s.when_done = when_done;
  int sent = 0;
  if (send_on(s, sent)) {
    return status::ok();
  }
  if (sent == 0) {
    return status::again(retry_reason::no_slot);
  }
  streams_.push_back(s);
  return status::pending();
}

status message_endpoint::get(job_rank peer, void* local, const remote_address& from,
                             std::size_t bytes, callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  SINEW_EXPECT(local != nullptr);
  if (peer == rank()) {
    std::memmove(local, reinterpret_cast<const void*>(from.address), bytes);
    return status::ok();
  }
  return ask(peer, kind::get, from, static_cast<std::byte*>(local), bytes, {.bytes = bytes},
             when_done);
}

status message_endpoint::atomic(job_rank peer, atomic_op op, const remote_address& at,
                                std::size_t width, std::uint64_t operand, std::uint64_t compare,
                                std::uint64_t* result, callback when_done) {
  SINEW_EXPECT((width == 4 || width == 8) && at.address % width == 0);
  if (peer == rank()) {
    const std::uint64_t old =
        apply_atomic(op, reinterpret_cast<void*>(at.address), width, operand, compare);
    if (result != nullptr) {
      *result = old;
    }
    return status::ok();
  }
  return ask(
      peer, kind::atomic, at, reinterpret_cast<std::byte*>(result), sizeof *result,
      {.bytes = width, .operand = operand, .compare = compare, .op = static_cast<std::uint8_t>(op)},
      when_done);
}

status message_endpoint::ask(job_rank peer, kind what, const remote_address& at, std::byte* local,
                             std::size_t left, question q, callback when_done) {
  static_assert(std::is_trivially_copyable_v<question>);
  const std::lock_guard held(mutex_);
  if (given_up_.contains(peer)) {
    return status::ok();
  }
  const auto r = std::find_if(requests_.begin(), requests_.end(),
                              [](const request& each) { return each.peer == no_job_rank; });
  if (r == requests_.end()) {
    return status::again(retry_reason::busy);
  }
  q.request = static_cast<std::uint32_t>(r - requests_.begin());
  const status sent =
      send_medium(peer, own, {{at.address, packed(what, at.key.word[0])}}, &q, sizeof q);
  if (!sent.done()) {
    return sent;
  }
  *r = {peer, local, left, when_done};
  return status::pending();
}

status message_endpoint::flush(job_rank peer) {
  const std::lock_guard held(mutex_);
  const auto p = puts_.find(peer);
  return p == puts_.end() || p->second.known_done == p->second.sent || given_up_.contains(peer)
             ? status::ok()
             : status::again(retry_reason::busy);
}

// --- progress ---

int message_endpoint::progress(int budget) {
  SINEW_EXPECT(budget > 0);
  const int taken = take(budget);
  return taken + send_all();
}

void message_endpoint::sleep(std::uint64_t timeout_ns) {
  {
    const std::lock_guard held(mutex_);
    if (!finished_.empty()) {
      return;
    }
  }
  rest(timeout_ns);  // what is still to be sent was refused: that a send may succeed ends the sleep
}

/// Sends as much of `s` as goes: true if that is all. Counts the messages.
bool message_endpoint::send_on(stream& s, int& sent) {
  const bool is_result = s.what == kind::result;
  const std::size_t most = longest_to(s.to);
  do {
    const std::size_t size = std::min(s.left, most);
    const void* const data = is_result ? static_cast<const void*>(&s.result) : s.from;
    if (!send_medium(s.to, own, s.head, data, size).done()) {
      return false;
    }
    ++sent;
    s.left -= size;
    if (s.what == kind::put) {
      ++puts_[s.to].sent;
      s.head.word[0] += size;
    }
    if (!is_result) {
      s.from += size;
    }
  } while (s.left != 0);
  return true;
}

/// What is left of puts, answers, and how many puts have come; then the callbacks.
int message_endpoint::send_all() {
  int happened = 0;
  std::vector<callback> finished;
  {
    const std::lock_guard held(mutex_);
    std::erase_if(streams_, [&](stream& s) {
      const bool all = send_on(s, happened);
      if (all && s.when_done.call != nullptr) {
        finished_.push_back(s.when_done);
      }
      return all;
    });
    for (auto& [peer, p] : puts_) {
      if (p.told != p.done &&
          send_medium(peer, own, {{p.done, packed(kind::put_done, 0)}}, nullptr, 0).done()) {
        p.told = p.done;
        ++happened;
      }
    }
    finished.swap(finished_);
  }
  for (const callback& each : finished) {
    each.call(each.argument);
  }
  return happened + static_cast<int>(finished.size());
}

// --- what has come ---

status message_endpoint::deliver(handler_id id, const arrival& m) noexcept {
  if (id < max_handlers) {
    return handlers_[id].function(handlers_[id].context, m);
  }
  base::must_have_memory("serving a request for memory", [&] { serve(m); });
  return status::ok();
}

void message_endpoint::serve(const arrival& m) {
  const std::lock_guard held(mutex_);
  const auto what = static_cast<kind>(m.head.word[1] & ((1u << kind_bits) - 1));
  switch (what) {
    case kind::put:
      std::memcpy(exposed_.at(m.source, number_of(m.head), m.head.word[0], m.size), m.data, m.size);
      ++puts_[m.source].done;
      return;
    case kind::put_done:
      puts_[m.source].known_done = m.head.word[0];
      return;
    case kind::get:
    case kind::atomic:
      return serve_question(m, what);
    case kind::data:
    case kind::result:
      return take_answer(m, what);
  }
  corrupt_peer(m.source, "a message about memory is unknown", m.head.word[1]);
}

void message_endpoint::serve_question(const arrival& m, kind what) {
  question q{};
  if (m.size != sizeof q) [[unlikely]] {
    corrupt_peer(m.source, "a request for memory has a wrong size", m.size);
  }
  std::memcpy(&q, m.data, sizeof q);
  std::byte* const at = exposed_.at(m.source, number_of(m.head), m.head.word[0], q.bytes);
  if (what == kind::get) {
    streams_.push_back({m.source, kind::data, {{0, packed(kind::data, q.request)}}, at, q.bytes});
    return;
  }
  const std::uint64_t old = apply_asked_atomic(m.source, q.op, at, q.bytes, q.operand, q.compare);
  streams_.push_back(
      {m.source, kind::result, {{0, packed(kind::result, q.request)}}, nullptr, sizeof old, old});
}

void message_endpoint::take_answer(const arrival& m, kind what) {
  if (given_up_.contains(m.source)) {
    return;  // it was under way when its request ended
  }
  const std::uint64_t number = number_of(m.head);
  if (number >= requests_.size() || requests_[number].peer != m.source ||
      requests_[number].left < m.size || (what == kind::result && m.size != sizeof(std::uint64_t)))
      [[unlikely]] {
    corrupt_peer(m.source, "an answer fits no request", number);
  }
  request& r = requests_[number];
  if (r.local != nullptr) {  // null: an atomic whose old value nobody wants
    std::memcpy(r.local, m.data, m.size);
    r.local += m.size;
  }
  r.left -= m.size;
  if (r.left == 0) {
    finish(r);
  }
}

void message_endpoint::finish(request& r) {
  SINEW_EXPECT(r.peer != no_job_rank);
  finished_.push_back(r.when_done);
  r.peer = no_job_rank;
}

void message_endpoint::give_up(job_rank peer) {
  const std::lock_guard held(mutex_);
  if (!given_up_.insert(peer).second) {
    return;
  }
  std::erase_if(streams_, [&](const stream& s) {
    if (s.to == peer && s.when_done.call != nullptr) {
      finished_.push_back(s.when_done);
    }
    return s.to == peer;
  });
  for (request& r : requests_) {
    if (r.peer == peer) {
      finish(r);
    }
  }
}

}  // namespace sinew::fabric
