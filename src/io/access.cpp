// SPDX-License-Identifier: BSD-3-Clause
// What accesses share: the checks of their arguments, where they begin, the data's representation.
#include <cstring>
#include <numeric>
#include <vector>

#include "io/transfer.hpp"
#include "sinew/base/check.hpp"
#include "sinew/io/agreement.hpp"

namespace sinew::io {

void file::check_not_sequential() const {
  if (state_->mode.sequential) [[unlikely]] {
    throw failure(error_kind::unsupported,
                  "\"" + path() +
                      "\" was opened with MPI_MODE_SEQUENTIAL: only accesses by the shared pointer "
                      "are allowed");
  }
}

void file::check_no_split() const {
  if (state_->split.end != nullptr) [[unlikely]] {
    throw failure(error_kind::other,
                  std::string("a split access is under way: ") + state_->split.end + " is missing");
  }
}

void file::check_way(form how, begin_at where, std::int64_t offset) const {
  if (how == form::collective) {
    check_no_split();
  }
  if (where == begin_at::offset) {
    check_not_sequential();
    if (offset < 0) {
      throw failure(error_kind::argument, "the offset " + std::to_string(offset) + " is negative");
    }
  }
}

access file::checked_access(direction way, const p2p::buffer& memory, std::size_t each,
                            const conversion* by) const {
  const state& f = *state_;
  if (way == direction::read && !f.mode.reads) {
    throw failure(error_kind::access, "\"" + f.path + "\" was opened for writing only");
  }
  if (way == direction::write && !f.mode.writes) {
    throw failure(error_kind::read_only, "\"" + f.path + "\" was opened for reading only");
  }
  access a{way, memory, by, 0, 0};
  if (__builtin_mul_overflow(static_cast<std::int64_t>(each), memory.count, &a.bytes)) {
    throw failure(error_kind::too_much, "the size of the data overflows");
  }
  if (a.bytes == 0) {
    return a;
  }
  if (f.view->empty()) {
    throw failure(error_kind::other, "the file's view shows nothing: its filetype has no data");
  }
  const std::int64_t etype_bytes = f.view->etype_bytes();
  if (a.bytes % etype_bytes != 0) {
    throw failure(error_kind::type, std::to_string(a.bytes) +
                                        " bytes are no whole number of etypes of " +
                                        std::to_string(etype_bytes));
  }
  a.etypes = a.bytes / etype_bytes;
  SINEW_ENSURE(a.bytes > 0 && a.etypes > 0);
  return a;
}

std::int64_t file::take_in_order(std::int64_t etypes) {
  const coll::participant at = state_->at;
  std::vector<std::int64_t> places(static_cast<std::size_t>(at.comm.size()));
  std::int64_t own = etypes;
  check_collective(coll::gather(at, p2p::buffer::of_bytes(&own, sizeof own),
                                p2p::buffer::of_bytes(places.data(), sizeof own), 0));
  if (at.comm.rank() == 0) {
    const std::int64_t all = std::accumulate(places.begin(), places.end(), std::int64_t{0});
    std::exclusive_scan(places.begin(), places.end(), places.begin(), state_->shared->take(all));
  }
  check_collective(coll::scatter(at, p2p::buffer::of_bytes(places.data(), sizeof own),
                                 p2p::buffer::of_bytes(&own, sizeof own), 0));
  return own;
}

std::int64_t file::begin(const access& a, begin_at where, std::int64_t offset) {
  switch (where) {
    case begin_at::offset:
      break;
    case begin_at::individual:
      check_not_sequential();
      return state_->position.fetch_add(a.etypes, std::memory_order_relaxed);
    case begin_at::shared:
      return state_->shared->take(a.etypes);
    case begin_at::ordered:
      return take_in_order(a.etypes);
  }
  return offset;
}

std::int64_t file::carry_out(const access& a, form how, std::int64_t position) {
  state& f = *state_;
  const auto move = how == form::alone ? move_alone : move_together;
  std::int64_t start = 0;
  std::int64_t end = 0;
  // The individual and the shared pointer wrap if they go on past what a file can have.
  if (position < 0 || __builtin_mul_overflow(position, f.view->etype_bytes(), &start) ||
      __builtin_add_overflow(start, a.bytes, &end)) {
    throw failure(error_kind::argument,
                  "the offset " + std::to_string(position) + " is beyond what a file can have");
  }
  if (a.by == nullptr) {
    return move(f, a.way, start, a.memory);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(a.bytes));
  const p2p::buffer in_file = p2p::buffer::of_bytes(bytes.data(), bytes.size());
  if (a.way == direction::write) {
    a.by->to_file(a.memory, bytes);
    (void)move(f, a.way, start, in_file);
    return static_cast<std::int64_t>(a.memory.bytes());
  }
  const std::int64_t n = move(f, a.way, start, in_file);
  SINEW_ASSERT(n >= 0 && n <= a.bytes);
  return a.by->from_file({bytes.data(), static_cast<std::size_t>(n)}, a.memory);
}

void file::begin_split(const access& a, std::int64_t position, const char* end) {
  SINEW_EXPECT(state_->split.end == nullptr && end != nullptr);
  const std::int64_t bytes = carry_out(a, form::collective, position);
  state_->split = {end, a.memory.base, bytes};
}

std::int64_t file::end_split(const void* buffer, const char* end) {
  state::split_access& split = state_->split;
  if (split.end == nullptr) {
    throw failure(error_kind::other, "no split access is under way");
  }
  if (std::strcmp(split.end, end) != 0) {
    throw failure(error_kind::other,
                  std::string("the split access that is under way ends with ") + split.end);
  }
  if (split.buffer != buffer) {
    throw failure(error_kind::buffer, "the buffer is another one than the access began with");
  }
  const std::int64_t bytes = split.bytes;
  split = {};
  return bytes;
}

}  // namespace sinew::io
