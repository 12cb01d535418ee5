// SPDX-License-Identifier: BSD-3-Clause
// Put, get and atomics: requests that the owner of the memory carries out in its progress(), on its
// processor, so that they are atomic against what the processor does. Long data goes from user
// memory to user memory, by UCX's rendezvous.
#include <cstring>

#include "fabric/ucx/endpoint.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/fabric/atomics.hpp"
#include "sinew/fabric/corrupt.hpp"

namespace sinew::fabric::ucx {
namespace {

template <class T>
T read_payload(job_rank source, const void* data, std::size_t bytes, bool rendezvous) {
  T value{};
  if (bytes != sizeof value || rendezvous) [[unlikely]] {
    corrupt_peer(source, "a request over the network has a wrong size", bytes);
  }
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

remote_key ucx_endpoint::expose(void* address, std::size_t bytes) {
  const guard held(*this);
  return {{exposed_.add(reinterpret_cast<std::uintptr_t>(address), bytes), bytes}};
}

void ucx_endpoint::withdraw(const remote_key& key) {
  const guard held(*this);
  exposed_.remove(key.word[0]);
}

/// A free entry, or -1. It is given back by finish().
int ucx_endpoint::take_request(const request& what) {
  if (free_requests_.empty()) {
    return -1;
  }
  const std::uint32_t index = free_requests_.back();
  free_requests_.pop_back();
  SINEW_ASSERT(requests_[index].peer == no_job_rank);
  requests_[index] = what;
  requests_[index].home = this;
  return static_cast<int>(index);
}

void ucx_endpoint::finish(request& r) {
  SINEW_EXPECT(r.peer != no_job_rank);
  r.fetched = false;
  base::must_have_memory("ending a transfer", [&] { finished_.push_back(r.when_done); });
  r.peer = no_job_rank;
  free_requests_.push_back(static_cast<std::uint32_t>(&r - requests_.data()));
  news_ = news_ || refused_;
}

/// A request to a rank that has died.
void ucx_endpoint::end_if_given_up(int index) {
  request& r = requests_[static_cast<std::size_t>(index)];
  if (peers_[r.peer.index()]->given_up) [[unlikely]] {
    finish(r);
  }
}

status ucx_endpoint::put(job_rank to, const void* local, const remote_address& there,
                         std::size_t bytes, callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  SINEW_EXPECT(local != nullptr);
  if (to == rank_) {
    std::memmove(reinterpret_cast<void*>(there.address), local, bytes);
    return status::ok();
  }
  const guard held(*this);
  peer& p = peer_of(to);
  if (p.puts_sent - p.puts_acknowledged >= most_puts) {
    return refuse(retry_reason::no_slot);
  }
  const bool at_once = bytes <= max_long_bytes;
  outgoing* const o = take_packet(at_once ? bytes : 0);
  if (o == nullptr) {
    return refuse(retry_reason::no_packet);
  }
  o->head() = {};
  o->head().what = kind::put;
  o->head().head = {{there.address, there.key.word[0]}};
  ++p.puts_sent;
  if (at_once) {
    std::memcpy(o->data, local, bytes);
    post(p, *o, o->data, bytes, true);
    return status::ok();
  }
  o->when_done = when_done;
  post(p, *o, local, bytes, false);
  return status::pending();
}

status ucx_endpoint::get(job_rank from, void* local, const remote_address& there, std::size_t bytes,
                         callback when_done) {
  if (bytes == 0) {
    return status::ok();
  }
  SINEW_EXPECT(local != nullptr);
  if (from == rank_) {
    std::memmove(local, reinterpret_cast<const void*>(there.address), bytes);
    return status::ok();
  }
  const guard held(*this);
  outgoing* const o = take_packet();
  const int index = o == nullptr ? -1 : take_request({local, bytes, from, kind::get, when_done});
  if (index < 0) {
    if (o != nullptr) {
      packets_.give_back(o);
    }
    return refuse(retry_reason::no_memory);
  }
  o->head() = {};
  o->head().what = kind::get;
  o->head().request = static_cast<std::uint32_t>(index);
  o->head().head = {{there.address, there.key.word[0]}};
  const std::uint64_t wanted = bytes;
  std::memcpy(o->data, &wanted, sizeof wanted);
  post(peer_of(from), *o, o->data, sizeof wanted, true);
  end_if_given_up(index);
  return status::pending();
}

status ucx_endpoint::atomic(job_rank to, atomic_op op, const remote_address& at, std::size_t width,
                            std::uint64_t operand, std::uint64_t compare, std::uint64_t* result,
                            callback when_done) {
  SINEW_EXPECT((width == 4 || width == 8) && at.address % width == 0);
  if (to == rank_) {
    const std::uint64_t old =
        apply_atomic(op, reinterpret_cast<void*>(at.address), width, operand, compare);
    if (result != nullptr) {
      *result = old;
    }
    return status::ok();
  }
  const guard held(*this);
  outgoing* const o = take_packet();
  const int index =
      o == nullptr ? -1 : take_request({result, sizeof *result, to, kind::atomic, when_done});
  if (index < 0) {
    if (o != nullptr) {
      packets_.give_back(o);
    }
    return refuse(retry_reason::no_memory);
  }
  o->head() = {};
  o->head().what = kind::atomic;
  o->head().id = static_cast<handler_id>(op);
  o->head().request = static_cast<std::uint32_t>(index);
  o->head().head = {{at.address, at.key.word[0]}};
  const operands with{operand, compare, width};
  std::memcpy(o->data, &with, sizeof with);
  post(peer_of(to), *o, o->data, sizeof with, true);
  end_if_given_up(index);
  return status::pending();
}

// By places, as messages are numbered. What this rank has asked for and not got is under way, too,
// and so is, perhaps, the word that there is room for what it could not send.
std::optional<endpoint::traffic> ucx_endpoint::far_traffic() {
  const guard held(*this, who::poller);
  if (tags_ != pairing::none || refused_ || free_requests_.size() != requests_.size() ||
      open_batches_ != 0 || !answers_.empty() || !reports_due_.empty() || !finished_.empty()) {
    return std::nullopt;
  }
  traffic all;
  for (const auto& each : peers_) {
    if (each != nullptr && each->puts_acknowledged != each->puts_sent) {
      return std::nullopt;
    }
    all.sent += each != nullptr ? each->sent : 0;
    all.received += each != nullptr ? each->expected : 0;
  }
  return all;
}

status ucx_endpoint::flush(job_rank to) {
  const guard held(*this);
  const peer* const p = peers_[to.index()].get();
  return p == nullptr || p->puts_acknowledged == p->puts_sent ? status::ok()
                                                              : refuse(retry_reason::busy);
}

// --- the owner's side, from inside UCX ---

/// Brings what UCX has announced to `to`; then calls, now or later.
void ucx_endpoint::fetch(const delivery& d, void* to, ucp_am_recv_data_nbx_callback_t then,
                         void* context) {
  SINEW_EXPECT(d.rendezvous);
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.recv_am = then;
  how.user_data = context;
  void* const begun = ucp_am_recv_data_nbx(by_->get(), d.data, to, d.bytes, &how);
  if (UCS_PTR_IS_ERR(begun)) {
    lose(peer_of(job_rank::of_index(d.head.source)), UCS_PTR_STATUS(begun));
  } else if (begun == nullptr) {
    then(nullptr, UCS_OK, d.bytes, context);
  }
}

void ucx_endpoint::put_is_here(peer& from) {
  ++from.puts_done;
  report_to(from);
}

void ucx_endpoint::on_put_here(void* ucx_request, ucs_status_t status, std::size_t /*length*/,
                               void* user_data) {
  auto& from = *static_cast<peer*>(user_data);
  if (status == UCS_OK) {
    base::must_have_memory("ending a put", [&] { from.home->put_is_here(from); });
  } else {
    from.home->lose(from, status);
  }
  if (ucx_request != nullptr) {
    ucp_request_free(ucx_request);
  }
}

void ucx_endpoint::arrived_put(peer& from, const delivery& d) {
  std::byte* const to = exposed_.at(from.rank, d.head.head.word[1], d.head.head.word[0], d.bytes);
  if (d.rendezvous) {
    fetch(d, to, on_put_here, &from);
    return;
  }
  std::memcpy(to, d.data, d.bytes);
  put_is_here(from);
}

void ucx_endpoint::arrived_get(peer& from, const delivery& d) {
  const auto bytes = read_payload<std::uint64_t>(from.rank, d.data, d.bytes, d.rendezvous);
  const std::byte* const data =
      exposed_.at(from.rank, d.head.head.word[1], d.head.head.word[0], bytes);
  answers_.push_back({&from, kind::get_data, d.head.request, data, bytes, 0});
}

void ucx_endpoint::arrived_atomic(peer& from, const delivery& d) {
  const auto with = read_payload<operands>(from.rank, d.data, d.bytes, d.rendezvous);
  std::byte* const at =
      exposed_.at(from.rank, d.head.head.word[1], d.head.head.word[0], with.width);
  const std::uint64_t old =
      apply_asked_atomic(from.rank, d.head.id, at, with.width, with.operand, with.compare);
  answers_.push_back({&from, kind::atomic_result, d.head.request, nullptr, 0, old});
}

// --- the origin's side, from inside UCX ---

void ucx_endpoint::on_data_here(void* ucx_request, ucs_status_t status, std::size_t /*length*/,
                                void* user_data) {
  auto& r = *static_cast<request*>(user_data);
  ucx_endpoint& home = *r.home;
  r.fetched = false;
  if (status == UCS_OK || home.peer_of(r.peer).given_up) {
    home.finish(r);
  } else {
    home.lose(home.peer_of(r.peer), status);
  }
  if (ucx_request != nullptr) {
    ucp_request_free(ucx_request);
  }
}

void ucx_endpoint::arrived_answer(peer& from, const delivery& d) {
  const bool is_get = d.head.what == kind::get_data;
  if (d.head.request >= requests_.size() || requests_[d.head.request].peer != from.rank ||
      (requests_[d.head.request].what == kind::get) != is_get) [[unlikely]] {
    corrupt_peer(from.rank, "an answer over the network fits no request", d.head.request);
  }
  request& r = requests_[d.head.request];
  if (!is_get) {
    if (r.local != nullptr) {
      std::memcpy(r.local, &d.head.head.word[0], sizeof(std::uint64_t));
    }
    return finish(r);
  }
  if (d.bytes != r.bytes) [[unlikely]] {
    corrupt_peer(from.rank, "the answer to a get has another size", d.bytes);
  }
  if (d.rendezvous) {
    r.fetched = true;
    return fetch(d, r.local, on_data_here, &r);
  }
  std::memcpy(r.local, d.data, d.bytes);
  finish(r);
}

}  // namespace sinew::fabric::ucx
