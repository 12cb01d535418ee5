// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/p2p/buffered.hpp"

#include <utility>

#include "sinew/base/check.hpp"

namespace sinew::p2p {

buffered_sends::~buffered_sends() { SINEW_EXPECT(copies_.empty()); }

/// Releases the sends that are complete, and their copies. Under the lock.
void buffered_sends::sweep() {
  for (auto c = copies_.begin(); c != copies_.end();) {
    if (c->sending->done()) {
      engine_.release(c->sending);
      SINEW_ASSERT(used_ >= c->charge);
      used_ -= c->charge;
      c = copies_.erase(c);
    } else {
      ++c;
    }
  }
  SINEW_ENSURE(!copies_.empty() || used_ == 0);
}

bool buffered_sends::attach(std::optional<std::size_t> bytes) {
  const std::lock_guard held(lock_);
  if (attached_) {
    return false;
  }
  bound_ = bytes;
  attached_ = true;
  return true;
}

void buffered_sends::detach() {
  flush();
  const std::lock_guard held(lock_);
  attached_ = false;
  bound_ = 0;
}

std::size_t buffered_sends::used() {
  const std::lock_guard held(lock_);
  return used_;
}

std::uint64_t buffered_sends::sent() {
  const std::lock_guard held(lock_);
  return sent_;
}

bool buffered_sends::have_left(std::uint64_t up_to) {
  const std::lock_guard held(lock_);
  sweep();
  return copies_.empty() || copies_.front().number >= up_to;
}

/// The lock is free meanwhile, since a buffered send must not wait for receivers.
void buffered_sends::flush() {
  struct {
    buffered_sends& of;
    std::uint64_t up_to;
  } goal{*this, sent()};
  engine_.runtime().wait_until(
      [](void* g) {
        const auto& to = *static_cast<decltype(goal)*>(g);
        return to.of.have_left(to.up_to);
      },
      &goal);
}

buffered_sends::outcome buffered_sends::send(const core::communicator& comm, const buffer& from,
                                             comm_rank dest, message_tag tag,
                                             std::size_t overhead) {
  std::unique_lock held(lock_);
  if (!attached_) {
    return outcome::not_attached;
  }
  const std::size_t charge = from.bytes() + overhead;
  if (!room_for(charge)) {
    held.unlock();  // poll() may call have_left(), which takes the lock
    engine_.runtime().poll();
    held.lock();
    sweep();
  }
  if (!room_for(charge)) {
    return outcome::no_room;
  }
  std::unique_ptr<std::byte[]> bytes(new std::byte[from.bytes()]);
  [[maybe_unused]] const std::size_t packed =
      layout::pack(*from.type, from.count, from.base, 0, {bytes.get(), from.bytes()});
  SINEW_ASSERT(packed == from.bytes());
  request* const sending = engine_.isend(comm, messages_of(comm),
                                         buffer::of_bytes(bytes.get(), from.bytes()), dest, tag);
  if (sending != nullptr) {
    SINEW_ASSERT(copies_.empty() || copies_.back().number < sent_);
    copies_.push_back({sent_++, sending, std::move(bytes), charge});
    used_ += charge;
    SINEW_ENSURE(!bound_ || used_ <= *bound_);
  }
  return outcome::sent;
}

}  // namespace sinew::p2p
