// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/inflows.hpp"

#include <algorithm>
#include <cstring>

#include "p2p/receive.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::p2p {

// Bytes [at, at + n) of a message.
void inflows::put(const inflow& into, std::size_t at, const std::byte* data,
                  std::size_t n) noexcept {
  if (into.op == nullptr || into.op->data.type->dense()) {
    copy_bytes(into.to + at, data, n);
  } else {
    const buffer& b = into.op->data;
    layout::unpack(*b.type, b.count, b.base, at, {data, n});
  }
}

bool inflows::arrived_push(const fabric::arrival& a) {
  announcement said;
  if (a.size != sizeof said) [[unlikely]] {
    fabric::corrupt_peer(a.source, "the announcement of a long message has a wrong size", a.size);
  }
  std::memcpy(&said, a.data, sizeof said);
  inflow coming{a.source, said.operation, said.bytes};
  // Held before the message can be found: whoever finds it looks for the rest of it.
  const base::guard held(lock_, threaded_);
  if (coming_.size() == coming_.capacity()) {
    coming_.reserve(2 * coming_.size() + 8);  // before anything has happened
  }
  const receiver::meeting found = receives_.meet(a, said.bytes, [](matched& m) {
    m.how = matched::way::pushed;
    m.sender_operation = 0;
  });
  if (found.met != nullptr) {
    lead(coming, *found.met);
  } else if (found.stored != nullptr) {
    coming.stored = found.stored;
    coming.to = found.stored->data();
    coming.room = said.bytes;
  } else {
    return false;
  }
  coming_.push_back(coming);
  return true;
}

// The message goes on into the buffer of a receive.
void inflows::lead(inflow& coming, operation& op) noexcept {
  learn_length(op, coming.bytes);
  coming.op = &op;
  coming.stored = nullptr;
  coming.to = static_cast<std::byte*>(op.data.base);
  coming.room = op.outcome.bytes;
  SINEW_ENSURE(coming.room <= coming.bytes);
}

void inflows::arrived_piece(const fabric::arrival& a) noexcept {
  base::guard held(lock_, threaded_);
  const auto it = std::find_if(coming_.begin(), coming_.end(), [&](const inflow& i) {
    return i.name == a.head.word[0] && i.source == a.source;
  });
  if (it == coming_.end() || a.size > it->bytes - it->arrived) [[unlikely]] {
    fabric::corrupt_peer(a.source, "a piece belongs to no message that was announced", a.size);
  }
  if (it->arrived < it->room) {
    put(*it, it->arrived, a.data, std::min(a.size, it->room - it->arrived));
  }
  it->arrived += a.size;
  if (it->arrived != it->bytes) {
    return;
  }
  operation* const op = it->op;
  SINEW_ASSERT((op == nullptr) == (it->stored != nullptr));
  *it = coming_.back();
  coming_.pop_back();
  held.unlock();
  if (op != nullptr) {
    operations_.finish(*op);
  }
}

bool inflows::take_over(operation& op, matched& m) noexcept {
  const base::guard held(lock_, threaded_);
  const auto it =
      std::find_if(coming_.begin(), coming_.end(), [&](const inflow& i) { return i.stored == &m; });
  if (it == coming_.end()) {
    return false;
  }
  SINEW_ASSERT(it->op == nullptr && it->arrived < it->bytes);
  const std::byte* const before = it->to;
  lead(*it, op);
  put(*it, 0, before, std::min(it->arrived, it->room));
  return true;
}

void inflows::take(job_rank source, std::vector<operation*>& to) {
  const auto is_lost = [&](const inflow& i) { return i.source == source && i.op != nullptr; };
  const base::guard held(lock_, threaded_);
  for (const inflow& i : coming_) {
    if (is_lost(i)) {
      to.push_back(i.op);
    }
  }
  std::erase_if(coming_, is_lost);
}

}  // namespace sinew::p2p
