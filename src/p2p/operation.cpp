// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/operation.hpp"

#include <algorithm>
#include <new>

namespace sinew::p2p {

void operation_pool::no_operation() { throw std::bad_alloc(); }

operation* operation_pool::make_word() noexcept {
  operation* const op = operations_.get();
  if (op != nullptr) {
    op->reset();
    op->in = nullptr;
    op->data = {nullptr, 0, plain_bytes};
    op->todo = step::control;
  }
  return op;
}

void operation_pool::keep(operation& op, const buffer& data) {
  SINEW_EXPECT(!data.type->dense());
  op.data = data;
  op.keeps = layout::share(*data.type);
}

void operation_pool::let_go(operation& op) {
  op.keeps = {};
  op.packed.reset();
}

void operation_pool::give_back_later(operation& op) {
  op.orphan.fire = [](core::waiter& w) noexcept {
    auto& ended = static_cast<operation::orphan_waiter&>(w);
    ended.home->give_back(ended.self);
  };
  op.orphan.self = &op;
  op.orphan.home = this;
  if (!op.attach(op.orphan)) {
    give_back(&op);
  }
}

void* operation_pool::whole(operation& op, const buffer& from) {
  if (from.type->dense()) {
    return from.base;
  }
  const std::size_t bytes = from.bytes();
  op.packed.reset(new (std::nothrow) std::byte[bytes]);
  if (!op.packed) {
    give_back(&op);
    throw std::bad_alloc();
  }
  layout::pack(*from.type, from.count, from.base, 0, {op.packed.get(), bytes});
  return op.packed.get();
}

void unpack_eager(operation& op, const std::byte* data, std::size_t bytes) noexcept {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  layout::unpack(*op.data.type, op.data.count, op.data.base, 0, {data, n});
}

void learn_length(operation& op, std::size_t bytes) noexcept {
  const std::size_t room = op.data.bytes();
  const std::size_t n = std::min(bytes, room);
  SINEW_EXPECT(!op.in->exact_length.load(std::memory_order_relaxed) || bytes == room);
  op.unmatched.store(false, std::memory_order_relaxed);
  op.outcome.bytes = n;
  op.outcome.sent_bytes = bytes;
  op.outcome.error = bytes > room ? fault::truncated : fault::none;
  SINEW_ENSURE(op.outcome.bytes <= op.outcome.sent_bytes);
}

void unpack_whole(operation& op) noexcept {
  if (op.packed) {
    layout::unpack(*op.data.type, op.data.count, op.data.base, 0,
                   {op.packed.get(), op.outcome.bytes});
    op.packed.reset();
  }
}

}  // namespace sinew::p2p
