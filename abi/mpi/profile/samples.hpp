// SPDX-License-Identifier: BSD-3-Clause
// What one rank's call has to do with another rank's, for wait states: which message it has sent,
// received or met, which collective it was, and when. Of a long run a sample is kept, chosen by the
// messages and collectives themselves, so that all ranks keep the same ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinew::mpi::profile {

struct row;

/// What the call has done with what `key` names. `receives`: it has waited, and this message was
/// the last one that has come meanwhile. `meets`: the message has met its receive in it, which has
/// not waited for that: it was here before, or others came later.
enum class role : std::uint8_t { sends, receives, meets, collects };

struct sample {
  std::uint64_t key = 0;   ///< mixed(), the same on all ranks concerned
  std::int64_t began = 0;  ///< moments
  std::int64_t ended = 0;
  const row* where = nullptr;
  int own = 0;    ///< of a collective: this rank in its communicator
  int root = -1;  ///< of a collective: likewise; -1: none
  role as = role::sends;
};

/// A number that looks random.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b,
                                            std::uint64_t c) noexcept {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U + b;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9U + c;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebU;
  x = (x ^ (x >> 32)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 29);
}

/// Of one thread.
class sample_set {
 public:
  static constexpr std::size_t most = 1 << 14;

  /// Throws std::bad_alloc. Hot.
  void add(const sample& s) {
    if ((s.key & left_out_) == 0) {
      kept_.push_back(s);
      if (kept_.size() >= most) [[unlikely]] {
        left_out_ = 2 * left_out_ + 1;
        thin(left_out_);
      }
    }
  }
  /// The keys that are not kept have one of these bits, 2^n - 1: one in 2^n is kept.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  [[nodiscard]] const std::vector<sample>& kept() const noexcept { return kept_; }

 private:
  void thin(std::uint64_t left_out) {
    std::erase_if(kept_, [left_out](const sample& s) { return (s.key & left_out) != 0; });
  }

  std::uint64_t left_out_ = 0;
  std::vector<sample> kept_;
};

}  // namespace sinew::mpi::profile
