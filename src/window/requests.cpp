// SPDX-License-Identifier: BSD-3-Clause
// What a rank asks those of other nodes to do to their memory, because it excludes others: they
// carry it out while they make progress, with the words of their records by which the ranks of
// their own nodes exclude each other: so that all origins of a target do. A pair's requests and
// puts are done in their order.
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <type_traits>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/fabric/corrupt.hpp"
#include "sinew/window/memory.hpp"

namespace sinew::window {
namespace {

enum class action : std::uint8_t { combine, compare_swap, lock, unlock, attached };

/// What each request begins with.
struct head {
  std::uint64_t window;
  action what;
  std::uint8_t kind;  ///< combine: op_kind; lock, unlock: 1 if exclusive
  std::uint8_t element;
  std::uint8_t unused;
  std::uint32_t runs;  ///< combine: how many follow, and behind them the operands
};
/// Elements side by side, or bytes.
struct atomic_run {
  std::uint64_t address;
  std::uint64_t count;
};
struct comparison {
  atomic_run word;
  std::array<std::byte, memory::longest_word> value;
  std::array<std::byte, memory::longest_word> expected;
};
static_assert(std::has_unique_object_representations_v<head> &&
              std::has_unique_object_representations_v<atomic_run> &&
              std::has_unique_object_representations_v<comparison>);

/// This process' windows that span nodes, by their names less one; null: free.
struct windows_here {
  std::mutex mutex;
  std::vector<memory*> all;
};
windows_here& here() {
  static auto& one = *new windows_here;  // others may ask until the process ends
  return one;
}

memory& window_of(job_rank source, std::uint64_t name) {
  windows_here& h = here();
  const std::lock_guard held(h.mutex);
  if (name == 0 || name > h.all.size() || h.all[name - 1] == nullptr) [[unlikely]] {
    fabric::corrupt_peer(source, "an access is to no window of this rank", name);
  }
  return *h.all[name - 1];
}

/// Takes values off the front of a request.
class reader {
 public:
  reader(job_rank source, std::span<const std::byte> data) : source_(source), data_(data) {}
  template <class T>
  T next() {
    T value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> next(std::size_t bytes) {
    if (bytes > data_.size()) [[unlikely]] {
      refuse("a request to a window is too short", data_.size());
    }
    const auto front = data_.first(bytes);
    data_ = data_.subspan(bytes);
    return front;
  }
  [[noreturn]] void refuse(const char* what, std::uint64_t value) const {
    fabric::corrupt_peer(source_, what, value);
  }

 private:
  job_rank source_;
  std::span<const std::byte> data_;
};

void serve_combine(const memory& here, const head& h, reader in, std::span<std::byte> answer) {
  const auto kind = static_cast<layout::element>(h.element);
  const coll::op op{.kind = static_cast<coll::op_kind>(h.kind)};
  if (h.kind >= static_cast<std::uint8_t>(coll::op_kind::user) ||
      h.element > static_cast<std::uint8_t>(layout::element::pair_f80_i32) || !op.allowed(kind)) {
    in.refuse("an accumulate is of no elements", h.element);
  }
  const layout::datatype& one = layout::of(kind);
  const std::size_t extent = layout::extent_of(kind);
  const bool changes = op.kind != coll::op_kind::no_op;
  // Operands as the operators want them: aligned.
  alignas(64) std::array<std::byte, 1024> operands;
  reader runs(in);
  (void)in.next(h.runs * sizeof(atomic_run));
  const exclusion alone(here, here.own());
  for (std::uint32_t i = 0; i < h.runs; ++i) {
    auto [address, left] = runs.next<atomic_run>();
    while (left != 0) {
      const std::size_t n = std::min<std::size_t>(left, operands.size() / extent);
      auto* const there = reinterpret_cast<std::byte*>(address);
      if (!answer.empty()) {
        if (n * extent > answer.size()) [[unlikely]] {
          in.refuse("an accumulate wants a shorter answer", answer.size());
        }
        std::memcpy(answer.data(), there, n * extent);
        answer = answer.subspan(n * extent);
      }
      if (changes) {
        std::memcpy(operands.data(), in.next(n * extent).data(), n * extent);
        op.apply(operands.data(), there, n, one);
      }
      address += n * extent;
      left -= n;
    }
  }
}

void serve_compare_swap(const memory& here, reader in, std::span<std::byte> answer) {
  const auto c = in.next<comparison>();
  const std::size_t n = c.word.count;
  if (n > memory::longest_word || answer.size() != n) [[unlikely]] {
    in.refuse("a compare-and-swap is of no word", n);
  }
  auto* const there = reinterpret_cast<std::byte*>(c.word.address);
  const exclusion alone(here, here.own());
  std::memcpy(answer.data(), there, n);
  if (std::memcmp(there, c.expected.data(), n) == 0) {
    std::memcpy(there, c.value.data(), n);
  }
}

void serve(job_rank source, std::span<const std::byte> data, std::span<std::byte> answer) noexcept {
  reader in(source, data);
  const auto h = in.next<head>();
  memory& w = window_of(source, h.window);
  const bool wants_flag = h.what == action::lock || h.what == action::attached;
  if (wants_flag && answer.size() != 1) [[unlikely]] {
    in.refuse("a request to a window wants no answer", answer.size());
  }
  switch (h.what) {
    case action::combine:
      return serve_combine(w, h, in, answer);
    case action::compare_swap:
      return serve_compare_swap(w, in, answer);
    case action::lock:
      answer[0] = std::byte{w.own().try_lock(h.kind != 0)};
      return;
    case action::unlock:
      return w.own().unlock(h.kind != 0);
    case action::attached: {
      const auto bytes = in.next<atomic_run>();
      answer[0] = std::byte{w.own().has_attached(bytes.address, bytes.address + bytes.count)};
      return;
    }
  }
  in.refuse("a request to a window is unknown", static_cast<std::uint64_t>(h.what));
}

template <class... Parts>
std::vector<std::byte> message_of(const Parts&... parts) {
  std::vector<std::byte> all;
  all.reserve((std::as_bytes(parts).size() + ...));
  const auto add = [&](std::span<const std::byte> part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  (add(std::as_bytes(parts)), ...);
  return all;
}
template <class T>
std::span<const T, 1> one(const T& value) {
  return std::span<const T, 1>(&value, 1);
}

}  // namespace

std::uint64_t memory::enter(memory& made) {
  rma::engine::serve(rma::service::windows, serve);
  windows_here& h = here();
  const std::lock_guard held(h.mutex);
  auto free_one = std::find(h.all.begin(), h.all.end(), nullptr);
  if (free_one == h.all.end()) {
    free_one = h.all.insert(h.all.end(), nullptr);
  }
  *free_one = &made;
  return static_cast<std::uint64_t>(free_one - h.all.begin()) + 1;
}

void memory::leave(std::uint64_t name) {
  windows_here& h = here();
  const std::lock_guard held(h.mutex);
  SINEW_ASSERT(name != 0 && name <= h.all.size() && h.all[name - 1] != nullptr);
  h.all[name - 1] = nullptr;
}

// --- who asks ---

void memory::ask_to_combine(int rank, std::uint64_t address, const p2p::buffer& there,
                            coll::op_kind op, const std::byte* from, std::byte* before) const {
  const layout::element kind = there.type->base();
  const std::size_t extent = layout::extent_of(kind);
  const std::size_t room = engine_->most_asked(job(rank)) - sizeof(head);
  const bool changes = op != coll::op_kind::no_op;
  SINEW_EXPECT(room > sizeof(atomic_run) + extent && (from != nullptr || !changes));
  std::vector<atomic_run> runs;
  std::size_t sent = 0;  // elements
  std::size_t n = 0;     // of the next message
  const auto finish = [&] {
    const head h{of(rank).name,
                 action::combine,
                 static_cast<std::uint8_t>(op),
                 static_cast<std::uint8_t>(kind),
                 0,
                 static_cast<std::uint32_t>(runs.size())};
    const std::span operands(changes ? from + sent * extent : nullptr, changes ? n * extent : 0);
    const std::vector<std::byte> message =
        message_of(one(h), std::span<const atomic_run>(runs), operands);
    if (before != nullptr) {
      engine_->ask_later(job(rank), rma::service::windows,
                         {message, {before + sent * extent, n * extent}});
    } else if (changes) {
      engine_->tell(job(rank), rma::service::windows, message);
    }
    runs.clear();
    sent += n;
    n = 0;
  };
  layout::for_each_leaf(
      *there.type, there.count, [&](std::ptrdiff_t offset, std::size_t count, layout::element) {
        std::uint64_t at = address + static_cast<std::uint64_t>(offset);
        while (count != 0) {
          const std::size_t used = (runs.size() + 1) * sizeof(atomic_run) + n * extent;
          if (used + extent > room) {
            finish();
            continue;
          }
          const std::size_t some = std::min(count, (room - used) / extent);
          runs.push_back({at, some});
          at += some * extent;
          n += some;
          count -= some;
        }
      });
  finish();
}

void memory::ask_to_compare_swap(int rank, std::uint64_t address, std::size_t bytes,
                                 const void* value, const void* expected, void* before) const {
  const head h{of(rank).name, action::compare_swap, 0, 0, 0, 0};
  comparison c{{address, bytes}, {}, {}};
  std::memcpy(c.value.data(), value, bytes);
  std::memcpy(c.expected.data(), expected, bytes);
  engine_->ask_later(job(rank), rma::service::windows,
                     {message_of(one(h), one(c)), {static_cast<std::byte*>(before), bytes}});
}

bool memory::ask_whether(int rank, std::span<const std::byte> message) const {
  std::byte is{};
  const rma::question q{message, {&is, 1}};
  engine_->ask(job(rank), rma::service::windows, {&q, 1});
  return is != std::byte{};
}

bool memory::ask_to_lock(int rank, bool exclusively) const {
  const head h{of(rank).name, action::lock, std::uint8_t{exclusively}, 0, 0, 0};
  return ask_whether(rank, std::as_bytes(one(h)));
}

void memory::ask_to_unlock(int rank, bool exclusively) const {
  const head h{of(rank).name, action::unlock, std::uint8_t{exclusively}, 0, 0, 0};
  engine_->tell(job(rank), rma::service::windows, std::as_bytes(one(h)));
}

bool memory::has_attached(int rank, std::uint64_t from, std::uint64_t to) const {
  if (!needs_flush(rank)) {
    return of(rank).has_attached(from, to);
  }
  const head h{of(rank).name, action::attached, 0, 0, 0, 0};
  return ask_whether(rank, message_of(one(h), one(atomic_run{from, to - from})));
}

}  // namespace sinew::window
