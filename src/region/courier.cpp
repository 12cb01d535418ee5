#include "region/courier.hpp"

#include <algorithm>
#include <cstring>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

using sinew::event::message;
using sinew::event::topic;

enum region_message : std::uint64_t { allocate, allocated, release, destroy_instance };
enum copy_message : std::uint64_t { perform, deliver, deliver_last };
enum reduction_message : std::uint64_t { replay_log, batch_of_entries };

constexpr std::size_t batch_message = 16384;
constexpr std::size_t delivery_bytes = sizeof(delivery);
constexpr std::size_t log_bytes = sizeof(log_place);

template <class T>
T head_of(const message& m) {
  T value;
  constexpr std::size_t bytes = sizeof value;
  SINEW_ASSERT(m.size >= bytes);
  std::memcpy(&value, m.data, bytes);
  return value;
}

void read_region(const message& m, inbox& to) {
  SINEW_ASSERT(m.small <= destroy_instance);
  switch (static_cast<region_message>(m.small)) {
    case allocate:
      return to.on_allocate(m.source, head_of<allocation>(m));
    case allocated:
      return to.on_allocated(instance::from_bits(m.word));
    case release:
      return to.on_release(head_of<memory_kind>(m), m.word);
    case destroy_instance:
      return to.on_destroy(head_of<instance>(m), m.word);
  }
}

void read_copy(const message& m, inbox& to) {
  if (m.small == perform) {
    auto t = head_of<transfer>(m);
    return to.on_perform(t);
  }
  SINEW_ASSERT(m.small == deliver || m.small == deliver_last);
  const auto d = head_of<delivery>(m);
  SINEW_ASSERT(m.size == delivery_bytes + d.count * d.of.bytes);
  to.on_delivery(d, m.data + sizeof d, m.small == deliver_last);
}

void read_reduction(const message& m, inbox& to) {
  SINEW_ASSERT(m.small == replay_log || m.small == batch_of_entries);
  const auto l = head_of<log_place>(m);
  to.on_contributions(m.source, l, m.small == batch_of_entries ? m.data + sizeof l : nullptr);
}

template <topic Of>
void handle(void* to, const message& m) {
  read(Of, m, *static_cast<inbox*>(to));
}

}  // namespace

void read(topic of, const message& m, inbox& to) {
  SINEW_EXPECT(m.size == 0 || m.data != nullptr);
  if (of == topic::region) {
    read_region(m, to);
  } else if (of == topic::copy) {
    read_copy(m, to);
  } else {
    SINEW_EXPECT(of == topic::reduction);
    read_reduction(m, to);
  }
}

void courier::open(inbox& to) {
  SINEW_EXPECT(events_.largest_message() > delivery_bytes);
  SINEW_EXPECT(events_.largest_message() > log_bytes);
  events_.set_handler(topic::region, handle<topic::region>, &to);
  events_.set_handler(topic::copy, handle<topic::copy>, &to);
  events_.set_handler(topic::reduction, handle<topic::reduction>, &to);
}

void courier::close() {
  for (const topic t : {topic::region, topic::copy, topic::reduction}) {
    events_.set_handler(t, [](void*, const message&) {}, nullptr);
  }
}

void courier::allocate(job_rank owner, const allocation& a) {
  SINEW_EXPECT(owner != events_.rank() && a.record_at != 0);
  events_.send(owner, topic::region, region::allocate, 0, &a, sizeof a);
}

void courier::allocated(job_rank creator, instance i) {
  SINEW_EXPECT(creator != events_.rank() && i.creator() == creator);
  events_.send(creator, topic::region, region::allocated, i.bits());
}

void courier::release(job_rank owner, memory_kind kind, std::uint64_t address) {
  SINEW_EXPECT(owner != events_.rank() && address != 0);
  events_.send(owner, topic::region, region::release, address, &kind, sizeof kind);
}

void courier::destroy(job_rank creator, instance i, std::uint64_t post) {
  SINEW_EXPECT(creator != events_.rank() && i.creator() == creator && post != 0);
  events_.send(creator, topic::region, destroy_instance, post, &i, sizeof i);
}

void courier::perform(job_rank executor, const transfer& t) {
  SINEW_EXPECT(executor >= 0 && executor != events_.rank());
  SINEW_EXPECT(t.post != 0);  // the caller has gone on: only the event says how it ended
  events_.send(executor, topic::copy, region::perform, 0, &t, sizeof t);
}

void courier::deliver(job_rank owner, const delivery& d, std::span<std::byte> packet, bool last) {
  const std::size_t bytes = sizeof d + d.count * d.of.bytes;
  SINEW_EXPECT(d.of.post != 0 && d.first + d.count <= d.of.elements);
  SINEW_EXPECT(bytes <= packet.size() && bytes <= events_.largest_message());
  std::memcpy(packet.data(), &d, sizeof d);
  events_.send(owner, topic::copy, last ? deliver_last : region::deliver, 0, packet.data(), bytes);
}

void courier::replay(job_rank owner, const log_place& l) {
  SINEW_EXPECT(l.offset != 0 && l.done != 0);
  events_.send(owner, topic::reduction, replay_log, 0, &l, sizeof l);
}

void courier::batch(job_rank owner, const log_place& l, std::span<const std::byte> entries) {
  // Straight into the message would save this copy; 8 KiB in the first-level cache cost 100 ns.
  std::byte packet[batch_message];
  SINEW_EXPECT(entries.size() <= largest_batch());
  std::memcpy(packet, &l, sizeof l);
  if (!entries.empty()) {
    std::memcpy(packet + sizeof l, entries.data(), entries.size());
  }
  events_.send(owner, topic::reduction, batch_of_entries, 0, packet, sizeof l + entries.size());
}

std::size_t courier::largest_batch() const noexcept {
  return std::min(events_.largest_message(), batch_message) - log_bytes;
}

std::size_t courier::largest_delivery() const noexcept {
  return events_.largest_message() - delivery_bytes;
}

}  // namespace sinew::region
