// SPDX-License-Identifier: BSD-3-Clause
// What ranks of other nodes ask of this one: done when their messages are handled, by this rank's
// processor, so that it is atomic against all that is done here.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "rma/far.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/fabric/atomics.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::rma {
namespace {

template <class T>
T read(job_rank source, const fabric::arrival& m, std::size_t at = 0) {
  T value{};
  if (at > m.size || m.size - at < sizeof value) [[unlikely]] {
    fabric::corrupt_peer(source, "a request for a heap is too short", m.size);
  }
  std::memcpy(&value, m.data + at, sizeof value);
  return value;
}

/// Aligned words in one piece, also if the message has them at an odd address.
void write_element(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  if (bytes == sizeof word || bytes == sizeof(std::uint32_t)) {
    std::memcpy(&word, from, bytes);
    engine::move_out(to, &word, bytes);
  } else {
    engine::move_out(to, from, bytes);
  }
}
void read_element(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  if (bytes == sizeof word || bytes == sizeof(std::uint32_t)) {
    engine::move_in(&word, from, bytes);
    std::memcpy(to, &word, bytes);
  } else {
    copy_bytes(to, from, bytes);
  }
}

}  // namespace

status far_ranks::handle(const fabric::arrival& m) noexcept {
  const wire::head h = wire::unpacked(m.head);
  if (static_cast<std::uint8_t>(h.what) >= wire::kinds || h.in > wire::space::address)
      [[unlikely]] {
    fabric::corrupt_peer(m.source, "a request for a heap is unknown", m.head.word[0]);
  }
  try {
    serve(m.source, h, m);
    return status::ok();
  } catch (const std::bad_alloc&) {  // before anything was done
    return shortage_.again("serving another rank's access to this one's memory");
  }
}

void far_ranks::serve(job_rank source, const wire::head& h, const fabric::arrival& m) {
  switch (h.what) {
    case wire::kind::wake:
      return engine_.look_for_waiters();
    case wire::kind::hello:
      return take_greeting(source, h, m);
    case wire::kind::put:
      return write_element(here(source, h, h.where, m.size), m.data, m.size);
    case wire::kind::get:
      return serve_get(source, h, m);
    case wire::kind::put_runs:
      return serve_put_runs(source, h, m);
    case wire::kind::get_runs:
      return serve_get_runs(source, h, m);
    case wire::kind::change:
      return serve_change(source, h, m);
    case wire::kind::combine:
      return serve_combine(source, h, m);
    case wire::kind::flush:
      (void)new_answer(source, h.request, 0);
      return send_answers();
    case wire::kind::answer:
      return take_answer(source, h, m);
    case wire::kind::service:
      return serve_service(source, h, m);
  }
}

/// The bytes that another rank names. Addresses are the program's own affair.
std::byte* far_ranks::here(job_rank source, const wire::head& h, std::uint64_t where,
                           std::uint64_t bytes) const noexcept {
  if (h.in == wire::space::address) {
    return reinterpret_cast<std::byte*>(where);
  }
  const std::uint64_t all = engine_.shape_.bytes;
  if (where >= all || bytes > all - where) [[unlikely]] {
    fabric::corrupt_peer(source, "an access is outside of this rank's heap", where);
  }
  return engine_.at({rank_, where});
}

void far_ranks::take_greeting(job_rank source, const wire::head& h, const fabric::arrival& m) {
  const auto said = read<wire::greeting>(source, m);
  std::atomic<acquaintance*>& known = known_[source.index()];
  if (h.where == 1) {
    const wire::greeting mine = own_greeting();
    unsent& back = new_answer(source, 0, sizeof mine);
    std::memcpy(back.data(), &mine, sizeof mine);
    back.head = wire::packed({.what = wire::kind::hello});
  }
  if (known.load(std::memory_order_relaxed) == nullptr) {
    owned_.push_back(std::make_unique<acquaintance>(
        acquaintance{said, said.symmetric == sizes_.symmetric && said.local == sizes_.local}));
    known.store(owned_.back().get(), std::memory_order_release);
  }
  send_answers();
}

void far_ranks::serve_put_runs(job_rank source, const wire::head& h, const fabric::arrival& m) {
  for (std::size_t at = 0; at < m.size;) {
    const auto r = read<wire::run>(source, m, at);
    at += sizeof r;
    const std::uint64_t bytes = std::uint64_t{r.bytes} * r.count;
    if (bytes > m.size - at) [[unlikely]] {
      fabric::corrupt_peer(source, "a put is longer than its message", bytes);
    }
    for (std::uint32_t i = 0; i < r.count; ++i, at += r.bytes) {
      const std::uint64_t where = r.where + static_cast<std::uint64_t>(r.stride) * i;
      write_element(here(source, h, where, r.bytes), m.data + at, r.bytes);
    }
  }
}

void far_ranks::serve_get(job_rank source, const wire::head& h, const fabric::arrival& m) {
  const auto bytes = read<std::uint64_t>(source, m);
  if (bytes > room_) [[unlikely]] {
    fabric::corrupt_peer(source, "a get is longer than a message", bytes);
  }
  unsent& back = new_answer(source, h.request, bytes);
  read_element(back.data(), here(source, h, h.where, bytes), bytes);
  send_answers();
}

void far_ranks::serve_get_runs(job_rank source, const wire::head& h, const fabric::arrival& m) {
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < m.size; at += sizeof(wire::run)) {
    const auto r = read<wire::run>(source, m, at);
    bytes += std::size_t{r.bytes} * r.count;
    if (bytes > room_) [[unlikely]] {
      fabric::corrupt_peer(source, "a get is longer than a message", bytes);
    }
  }
  unsent& back = new_answer(source, h.request, bytes);
  std::byte* to = back.data();
  for (std::size_t at = 0; at < m.size; at += sizeof(wire::run)) {
    const auto r = read<wire::run>(source, m, at);
    for (std::uint32_t i = 0; i < r.count; ++i, to += r.bytes) {
      const std::uint64_t where = r.where + static_cast<std::uint64_t>(r.stride) * i;
      read_element(to, here(source, h, where, r.bytes), r.bytes);
    }
  }
  send_answers();
}

void far_ranks::serve_change(job_rank source, const wire::head& h, const fabric::arrival& m) {
  const auto with = read<wire::operands>(source, m);
  std::byte* const at = here(source, h, h.where, h.b);
  unsent* const back =
      h.request != 0 ? &new_answer(source, h.request, sizeof with.operand) : nullptr;
  const std::uint64_t before =
      fabric::apply_asked_atomic(source, h.a, at, h.b, with.operand, with.compare);
  engine_.alert(rank_);
  if (back != nullptr) {
    std::memcpy(back->data(), &before, sizeof before);
    send_answers();
  }
}

void far_ranks::serve_combine(job_rank source, const wire::head& h, const fabric::arrival& m) {
  const std::size_t width =
      h.b <= static_cast<std::uint8_t>(element::f64) ? size_of(static_cast<element>(h.b)) : 0;
  if (width == 0 || m.size % width != 0 || h.where % width != 0 ||
      h.a > static_cast<std::uint8_t>(combine::keep)) [[unlikely]] {
    fabric::corrupt_peer(source, "an accumulate is of no elements", h.where);
  }
  std::byte* const at = here(source, h, h.where, m.size);
  unsent* const back = h.request != 0 ? &new_answer(source, h.request, m.size) : nullptr;
  engine::accumulate_mapped(at, m.data, m.size / width, static_cast<element>(h.b),
                            static_cast<combine>(h.a), back != nullptr ? back->data() : nullptr);
  engine_.alert(rank_);
  send_answers();
}

namespace {

/// By service. Release and acquire: what the module has made before it serves is seen.
std::array<std::atomic<serve_function>, services> serving{};

}  // namespace

void engine::serve(service which, serve_function function) noexcept {
  SINEW_EXPECT(function != nullptr);
  serving[static_cast<std::size_t>(which)].store(function, std::memory_order_release);
}

void far_ranks::serve_service(job_rank source, const wire::head& h, const fabric::arrival& m) {
  const serve_function function =
      h.a < services ? serving[h.a].load(std::memory_order_acquire) : nullptr;
  if (function == nullptr || h.where > room_to(source)) [[unlikely]] {
    fabric::corrupt_peer(source, "a request is for no service of this rank", h.a);
  }
  unsent* const back = h.request != 0 ? &new_answer(source, h.request, h.where) : nullptr;
  function(source, {m.data, m.size},
           back != nullptr ? std::span(back->data(), h.where) : std::span<std::byte>());
  send_answers();
}

// --- answers: made before anything is changed, and kept while the fabric does not take them ---

far_ranks::unsent& far_ranks::new_answer(job_rank to, std::uint32_t id, std::size_t bytes) {
  SINEW_EXPECT(bytes <= room_to(to));
  std::vector<std::byte> large(bytes > sizeof unsent::small ? bytes : 0);
  unsent& made = unsent_.emplace_back();
  made.large = std::move(large);
  made.to = to;
  made.size = bytes;
  made.head = wire::packed({.what = wire::kind::answer, .request = id});
  return made;
}

void far_ranks::send_answers() {
  (void)send_kept();
  if (!unsent_.empty()) {
    runtime_.want_chore(chore_, true);
  }
}

int far_ranks::send_kept() {
  int sent = 0;
  while (!unsent_.empty() && try_send(unsent_.front().to, unsent_.front().head,
                                      unsent_.front().data(), unsent_.front().size)) {
    unsent_.pop_front();
    ++sent;
  }
  if (unsent_.empty()) {
    runtime_.want_chore(chore_, false);
  }
  return sent;
}

}  // namespace sinew::rma
