// SPDX-License-Identifier: BSD-3-Clause
// Tagged messages: UCX's, or its adapter's, own matching. What UCX ends inside its calls is noted,
// and told in progress() without the lock.
#include "fabric/ucx/endpoint.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/memory.hpp"

namespace sinew::fabric::ucx {
namespace {

tagged::reason reason_of(ucs_status_t status) noexcept {
  switch (status) {
    case UCS_OK:
      return tagged::reason::done;
    case UCS_ERR_MESSAGE_TRUNCATED:
      return tagged::reason::truncated;
    case UCS_ERR_CANCELED:
      return tagged::reason::cancelled;
    default:
      return tagged::reason::failed;
  }
}

ucp_request_param_t told_by(void* user_data) noexcept {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.user_data = user_data;
  return how;
}

}  // namespace

std::optional<tagged::ending> ucx_endpoint::send(job_rank to, std::uint64_t key, const void* data,
                                                 std::size_t bytes, until when, operation& op) {
  SINEW_EXPECT(to != rank_ && op.ended != nullptr);
  const guard held(*this);
  peer& p = peer_of(to);
  if (p.lost != UCS_OK || (p.way == nullptr && !connect(p))) {
    return ending{reason::failed, key, bytes};
  }
  ucp_request_param_t how = told_by(&op);
  how.cb.send = on_tagged_sent;
  op.by = this;
  void* const begun = when == until::taken ? ucp_tag_send_sync_nbx(p.way, data, bytes, key, &how)
                                           : ucp_tag_send_nbx(p.way, data, bytes, key, &how);
  if (UCS_PTR_IS_PTR(begun)) {
    op.of_library = begun;
    return std::nullopt;
  }
  if (begun != nullptr) {
    lose(p, UCS_PTR_STATUS(begun));
  }
  return ending{reason_of(UCS_PTR_STATUS(begun)), key, bytes};
}

// Asked to call back in any case: it does not tell all of a message that was there already. What it
// calls back for inside the call is taken out again.
template <class Begin>
std::optional<tagged::ending> ucx_endpoint::begin_receive(operation& op, const Begin& begin) {
  SINEW_EXPECT(op.ended != nullptr);
  ucp_request_param_t how = told_by(&op);
  how.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  how.cb.recv = on_tagged_here;
  op.by = this;
  op.of_library = &op;  // it has begun, and has no name yet
  void* const begun = begin(&how);
  if (!UCS_PTR_IS_PTR(begun)) {  // no memory for a request
    op.of_library = nullptr;
    return ending{reason_of(UCS_PTR_STATUS(begun)), 0, 0};
  }
  if (op.of_library != nullptr) {
    op.of_library = begun;
    return std::nullopt;
  }
  ucp_request_free(begun);
  SINEW_ASSERT(!ended_.empty() && ended_.back().op == &op);
  const ending now = ended_.back().how;
  ended_.pop_back();
  return now;
}

std::optional<tagged::ending> ucx_endpoint::receive(std::uint64_t key, std::uint64_t mask,
                                                    void* into, std::size_t room, operation& op) {
  const guard held(*this);
  return begin_receive(op, [&](const ucp_request_param_t* how) {
    return ucp_tag_recv_nbx(by_->get(), into, room, key, mask, how);
  });
}

std::optional<tagged::ending> ucx_endpoint::receive(const waiting& taken, void* into,
                                                    std::size_t room, operation& op) {
  const guard held(*this);
  auto ended = begin_receive(op, [&](const ucp_request_param_t* how) {
    return ucp_tag_msg_recv_nbx(by_->get(), into, room,
                                static_cast<ucp_tag_message_h>(taken.message), how);
  });
  if (ended.has_value()) {
    ended->key = taken.key;
    ended->bytes = taken.bytes;
  }
  return ended;
}

std::optional<tagged::waiting> ucx_endpoint::take(std::uint64_t key, std::uint64_t mask) {
  const guard held(*this);
  ucp_tag_recv_info_t what{};
  ucp_tag_message_h const found = ucp_tag_probe_nb(by_->get(), key, mask, 1, &what);
  if (found == nullptr) {
    return std::nullopt;
  }
  return waiting{what.sender_tag, what.length, found};
}

// Received into nothing, so that its sender hears of it.
void ucx_endpoint::drop(const waiting& taken) {
  const guard held(*this);
  const ucp_request_param_t how{};
  void* const begun = ucp_tag_msg_recv_nbx(by_->get(), nullptr, 0,
                                           static_cast<ucp_tag_message_h>(taken.message), &how);
  if (UCS_PTR_IS_PTR(begun)) {
    ucp_request_free(begun);
  }
}

// UCX would complain of them when it is closed.
void ucx_endpoint::drop_unreceived() {
  while (const std::optional<waiting> each = take(0, 0)) {
    drop(*each);
  }
}

void ucx_endpoint::cancel(operation& op) {
  const guard held(*this);
  if (op.of_library != nullptr) {
    ucp_request_cancel(by_->get(), op.of_library);
  }
}

// From inside UCX, under the lock, as the next.
void ucx_endpoint::on_tagged_sent(void* ucx_request, ucs_status_t status,
                                  void* user_data) noexcept {
  auto& op = *static_cast<operation*>(user_data);
  auto& me = *static_cast<ucx_endpoint*>(op.by);
  op.of_library = nullptr;
  base::must_have_memory("ending a send",
                         [&] { me.ended_.push_back({&op, {reason_of(status), 0, 0}}); });
  ucp_request_free(ucx_request);
}

void ucx_endpoint::on_tagged_here(void* ucx_request, ucs_status_t status,
                                  const ucp_tag_recv_info_t* what, void* user_data) noexcept {
  auto& op = *static_cast<operation*>(user_data);
  auto& me = *static_cast<ucx_endpoint*>(op.by);
  const bool begins = std::exchange(op.of_library, nullptr) == &op;
  base::must_have_memory("ending a receive", [&] {
    me.ended_.push_back({&op, {reason_of(status), what->sender_tag, what->length}});
  });
  if (!begins) {
    ucp_request_free(ucx_request);
  }
}

int ucx_endpoint::end_tagged() {
  for (const ended_operation& each : ending_) {
    each.op->ended(*each.op, each.how);
  }
  const int many = static_cast<int>(ending_.size());
  ending_.clear();
  return many;
}

// What has been sent leaves this process. Called again until true.
bool ucx_endpoint::flush_tagged() {
  if (flushing_ == nullptr) {
    const ucp_request_param_t how{};
    void* const begun = ucp_worker_flush_nbx(by_->get(), &how);
    if (!UCS_PTR_IS_PTR(begun)) {
      return true;
    }
    flushing_ = begun;
  }
  if (ucp_request_check_status(flushing_) == UCS_INPROGRESS) {
    return false;
  }
  ucp_request_free(std::exchange(flushing_, nullptr));
  return true;
}

}  // namespace sinew::fabric::ucx
