// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: what the divided reductions have in common (Rabenseifner, Optimization of
// collective reduction operations, 2004; Thakur, Rabenseifner and Gropp 2005, see bcast.cpp).
#pragma once

#include "coll/algorithms.hpp"

namespace sinew::coll {

/// A vector cut into as many pieces as ranks take part.
class halving {
 public:
  halving(const position& at, const buffer& vector) noexcept : fold_(at), vector_(vector) {}

  [[nodiscard]] const fold& folded() const noexcept { return fold_; }
  /// From piece `first` up to before `last`, in the vector at `base`.
  [[nodiscard]] buffer piece(const void* base, int first, int last) const noexcept {
    return part(base, static_cast<std::ptrdiff_t>(start(first)), start(last) - start(first),
                *vector_.type);
  }
  /// Each exchange halves what a rank is responsible for, until rank r of the core holds piece r of
  /// the result in the vector. The operator must commute. `spare`: as long as the vector.
  void halve(plan& p, const buffer& spare) const {
    SINEW_EXPECT(p.operation().commutative);
    int first = 0;
    for (int mask = fold_.core / 2; mask > 0; mask /= 2) {
      const int peer = fold_.real(fold_.rank ^ mask);
      const bool upper = (fold_.rank & mask) != 0;
      const int keep = upper ? first + mask : first;
      const int give = upper ? first : first + mask;
      const buffer into = piece(spare.base, keep, keep + mask);
      p.exchange(piece(vector_.base, give, give + mask), peer, into, peer);
      p.combine(into, piece(vector_.base, keep, keep + mask));
      first = keep;
    }
    SINEW_ENSURE(first == fold_.rank);
  }

 private:
  [[nodiscard]] std::size_t start(int i) const noexcept {
    SINEW_EXPECT(i >= 0 && i <= fold_.core);
    const auto pieces = static_cast<std::size_t>(fold_.core);
    const auto number = static_cast<std::size_t>(i);
    return vector_.count / pieces * number + vector_.count % pieces * number / pieces;
  }

  fold fold_;
  buffer vector_;
};

}  // namespace sinew::coll
