// SPDX-License-Identifier: BSD-3-Clause
#include "region/courier.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sinew/base/check.hpp"

namespace sinew::region {
namespace {

using sinew::event::message;
using sinew::event::topic;

enum region_message : std::uint64_t {
  allocate,
  allocated,
  release,
  destroy_instance,
  allocated_far,
  ask_for_record,
  record_bytes,
  forget_record,
  promised,
  kept,
  withdrawn
};
struct to_destroy {
  std::uint64_t what;
  std::uint64_t after;
};
enum copy_message : std::uint64_t { perform, deliver, taken, refused, fetch_bytes };
enum reduction_message : std::uint64_t { replay_log, batch_of_entries };

constexpr std::size_t batch_message = 16384;
constexpr std::size_t parcel_bytes = sizeof(parcel);
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
  SINEW_ASSERT(m.small <= withdrawn);
  switch (static_cast<region_message>(m.small)) {
    case allocate:
      return to.on_allocate(m.source, head_of<allocation>(m));
    case allocated:
      return to.on_allocated(instance::from_bits(m.word));
    case release:
      return to.on_release(head_of<part_name>(m), m.word);
    case destroy_instance: {
      const auto d = head_of<to_destroy>(m);
      return to.on_destroy(instance::from_bits(d.what), m.word,
                           sinew::event::event::from_bits(d.after));
    }
    case promised:
      return to.on_promise(head_of<part_name>(m));
    case kept:
      return to.on_keep(head_of<part_name>(m));
    case withdrawn:
      return to.on_withdraw(head_of<part_name>(m));
    case allocated_far:
      return to.on_allocated_far(m.source, head_of<allocated_part>(m));
    case ask_for_record:
      return to.on_ask(m.source, instance::from_bits(m.word));
    case record_bytes: {
      const auto p = head_of<record_piece>(m);
      return to.on_record(p, m.data + sizeof p, m.size - sizeof p);
    }
    case forget_record:
      return to.on_forget(instance::from_bits(m.word));
  }
}

void read_copy(const message& m, inbox& to) {
  if (m.small == perform) {
    auto t = head_of<transfer>(m);
    return to.on_perform(t);
  }
  if (m.small == deliver) {
    const auto p = head_of<parcel>(m);
    return to.on_parcel(m.source, p, m.data + sizeof p);
  }
  if (m.small == fetch_bytes) {
    return to.on_fetch(m.source, head_of<fetch_piece>(m));
  }
  SINEW_ASSERT(m.small == taken || m.small == refused);
  to.on_answer(m.source, m.word, m.small == taken);
}

void read_reduction(const message& m, inbox& to) {
  SINEW_ASSERT(m.small == replay_log || m.small == batch_of_entries);
  const auto l = head_of<log_place>(m);
  to.on_contributions(m.source, l, m.small == batch_of_entries ? m.data + sizeof l : nullptr,
                      m.size - sizeof l);
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
  SINEW_EXPECT(events_.largest_message() > 2 * parcel_bytes);
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

void courier::allocated(job_rank creator, const allocated_part& a) {
  SINEW_EXPECT(creator != events_.rank() && instance::from_bits(a.id).creator() == creator);
  events_.send(creator, topic::region, allocated_far, 0, &a, sizeof a);
}

void courier::ask(job_rank creator, instance i) {
  SINEW_EXPECT(creator != events_.rank() && i.creator() == creator);
  events_.send(creator, topic::region, ask_for_record, i.bits());
}

void courier::tell(job_rank who, instance i, std::span<const std::byte> record) {
  SINEW_EXPECT(who != events_.rank() && i.creator() == events_.rank());
  record_piece p{i.bits(), record.size(), 0};
  std::vector<std::byte> packet(std::min(events_.largest_message(), sizeof p + record.size()));
  do {
    const std::size_t n = std::min(packet.size() - sizeof p, record.size() - p.first);
    std::memcpy(packet.data(), &p, sizeof p);
    if (n != 0) {
      std::memcpy(packet.data() + sizeof p, record.data() + p.first, n);
    }
    events_.send(who, topic::region, record_bytes, 0, packet.data(), sizeof p + n);
    p.first += n;
  } while (p.first < record.size());
}

void courier::forget(job_rank who, instance i) {
  SINEW_EXPECT(who != events_.rank() && i.exists());
  events_.send(who, topic::region, forget_record, i.bits());
}

void courier::release(job_rank owner, const part_name& p, std::uint64_t address) {
  SINEW_EXPECT(owner != events_.rank() && address != 0);
  events_.send(owner, topic::region, region::release, address, &p, sizeof p);
}

void courier::promise(job_rank owner, const part_name& p) {
  SINEW_EXPECT(owner != events_.rank() && p.id != 0);
  events_.send(owner, topic::region, promised, 0, &p, sizeof p);
}

void courier::keep(job_rank owner, const part_name& p) {
  SINEW_EXPECT(owner != events_.rank() && p.id != 0);
  events_.send(owner, topic::region, kept, 0, &p, sizeof p);
}

void courier::withdraw(job_rank owner, const part_name& p) {
  SINEW_EXPECT(owner != events_.rank() && p.id != 0);
  events_.send(owner, topic::region, withdrawn, 0, &p, sizeof p);
}

void courier::destroy(job_rank creator, instance i, std::uint64_t post, sinew::event::event after) {
  SINEW_EXPECT(creator != events_.rank() && i.creator() == creator && post != 0);
  const to_destroy d{i.bits(), after.bits()};
  events_.send(creator, topic::region, destroy_instance, post, &d, sizeof d);
}

void courier::perform(job_rank executor, const transfer& t) {
  SINEW_EXPECT(executor >= 0 && executor != events_.rank());
  SINEW_EXPECT(t.post != 0);  // the caller has gone on: only the event says how it ended
  events_.send(executor, topic::copy, region::perform, 0, &t, sizeof t);
}

void courier::deliver(job_rank owner, const parcel& p, std::span<std::byte> packet) {
  SINEW_EXPECT(owner != events_.rank() && (p.stream != 0) != (p.post != 0));
  SINEW_EXPECT(packet.size() >= sizeof p && packet.size() <= events_.largest_message());
  std::memcpy(packet.data(), &p, sizeof p);
  events_.send(owner, topic::copy, region::deliver, 0, packet.data(), packet.size());
}

void courier::fetch(job_rank owner, const fetch_piece& f) {
  SINEW_EXPECT(owner != events_.rank() && f.stream != 0 && f.bytes != 0);
  events_.send(owner, topic::copy, fetch_bytes, 0, &f, sizeof f);
}

void courier::answer(job_rank sender, std::uint64_t stream, bool good) {
  SINEW_EXPECT(sender != events_.rank() && stream != 0);
  events_.send(sender, topic::copy, good ? taken : refused, stream);
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

std::size_t courier::largest_parcel() const noexcept { return events_.largest_message(); }

}  // namespace sinew::region
