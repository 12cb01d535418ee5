// SPDX-License-Identifier: BSD-3-Clause
// Long reductions in pieces: each rank combines one part of the elements, for any operator. It is
// made for those that go on while their callers do other things.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "coll/algorithms.hpp"

namespace sinew::coll {
namespace {

/// Long vectors: each rank combines one part of the elements, piece by piece. While it combines one
/// piece, the others' elements of the next are on their way, and the results of the one before. A
/// piece is so short that it stays in a core's cache.
class in_pieces {
 public:
  /// Who gets the result of all elements, if it is not one rank: everybody, or each that of its own
  /// part.
  static constexpr int all = -1;
  static constexpr int own_part = -2;

  /// `starts`: of the parts, in elements, and the end of the last. `result`: where that of all
  /// elements goes, on the ranks that get it, or of this rank's part.
  in_pieces(plan& p, const position& at, const void* input, const buffer& result,
            std::vector<std::ptrdiff_t> starts, int receiver)
      : plan_(p),
        at_(at),
        input_(input),
        result_(result),
        starts_(std::move(starts)),
        receiver_(receiver),
        operands_(static_cast<std::size_t>(at.size)) {}

  void make() {
    std::size_t rounds = 0;
    for (int r = 0; r < at_.size; ++r) {
      while (piece(input_, r, rounds).count != 0) {
        ++rounds;
      }
    }
    for (std::size_t k = 0; k <= rounds; ++k) {
      exchange(k);
      if (k != 0 && piece(input_, at_.rank, k - 1).count != 0) {
        combine(k - 1);
      }
      if (k != 0 && receiver_ != own_part) {
        hand_on(k - 1);
      }
      plan_.wait();
    }
  }

 private:
  using two_buffers = std::array<buffer, 2>;  ///< one is on its way while the other is combined

  [[nodiscard]] std::size_t length(int r) const {
    const auto at = static_cast<std::size_t>(r);
    return static_cast<std::size_t>(starts_[at + 1] - starts_[at]);
  }
  /// The `k`-th piece of a part; empty behind its last. `first`: of the part, in the vector.
  [[nodiscard]] buffer piece_at(const void* vector, std::ptrdiff_t first, int r,
                                std::size_t k) const {
    constexpr std::size_t most_bytes = std::size_t{128} << 10;
    const std::size_t most = std::max<std::size_t>(most_bytes / result_.type->size(), 1);
    const std::size_t before = std::min(k * most, length(r));
    return part(vector, first + static_cast<std::ptrdiff_t>(before),
                std::min(most, length(r) - before), *result_.type);
  }
  [[nodiscard]] buffer piece(const void* vector, int r, std::size_t k) const {
    return piece_at(vector, starts_[static_cast<std::size_t>(r)], r, k);
  }
  /// Memory of the plan for such a piece.
  [[nodiscard]] buffer space(two_buffers& of, std::size_t k, std::size_t count) {
    buffer& one = of[k % 2];
    if (one.type == nullptr) {
      one = plan_.space(std::max(count, piece(input_, at_.rank, 0).count), *result_.type);
    }
    return {one.base, count, one.type};
  }

  [[nodiscard]] bool gets_all(int r) const { return receiver_ == all || receiver_ == r; }
  [[nodiscard]] bool in_its_place() const { return input_ == result_.base; }
  /// Where the result of this rank's piece goes.
  [[nodiscard]] buffer own_result(std::size_t k) {
    if (receiver_ == own_part) {
      return piece_at(result_.base, 0, at_.rank, k);
    }
    return gets_all(at_.rank) ? piece(result_.base, at_.rank, k)
                              : space(results_, k, piece(input_, at_.rank, k).count);
  }
  /// Where the elements of `m`, another rank, go: the last one's to where they are combined, unless
  /// this rank's own are there.
  [[nodiscard]] buffer operand(int m, std::size_t k) {
    if (m == at_.size - 1 && !in_its_place()) {
      return own_result(k);
    }
    return space(operands_[static_cast<std::size_t>(m)], k, piece(input_, at_.rank, k).count);
  }

  void exchange(std::size_t k) {
    for (int i = 1; i < at_.size; ++i) {
      const int m = (at_.rank + i) % at_.size;
      if (piece(input_, at_.rank, k).count != 0) {
        plan_.receive(operand(m, k), m);
      }
    }
    for (int i = 1; i < at_.size; ++i) {
      const int m = (at_.rank - i + at_.size) % at_.size;
      plan_.send_if_any(piece(input_, m, k), m);
    }
  }

  /// From the last rank down, each on the left of what there is.
  void combine(std::size_t k) {
    const int last = at_.size - 1;
    const buffer own = piece(input_, at_.rank, k);
    const buffer result = own_result(k);
    const buffer sum = at_.rank == last ? result : operand(last, k);
    if (at_.rank == last) {
      plan_.copy(own, sum);
    }
    for (int m = last - 1; m >= 0; --m) {
      plan_.combine(m == at_.rank ? own : operand(m, k), sum);
    }
    plan_.copy(sum, result);
  }

  void hand_on(std::size_t k) {
    for (int i = 1; i < at_.size; ++i) {
      const int to = (at_.rank - i + at_.size) % at_.size;
      if (gets_all(to) && piece(input_, at_.rank, k).count != 0) {
        plan_.send(own_result(k), to);
      }
    }
    for (int i = 1; gets_all(at_.rank) && i < at_.size; ++i) {
      const int from = (at_.rank + i) % at_.size;
      plan_.receive_if_any(piece(result_.base, from, k), from);
    }
  }

  plan& plan_;
  const position at_;
  const void* const input_;
  const buffer result_;
  const std::vector<std::ptrdiff_t> starts_;
  const int receiver_;
  std::vector<two_buffers> operands_;
  two_buffers results_{};
};

/// As many elements for each rank, of a vector that has at least one for each.
std::vector<std::ptrdiff_t> even_starts(const position& at, const buffer& vector) {
  std::vector<std::ptrdiff_t> starts;
  for (int r = 0; r <= at.size; ++r) {
    starts.push_back(static_cast<std::ptrdiff_t>(vector.count * static_cast<std::size_t>(r) /
                                                 static_cast<std::size_t>(at.size)));
  }
  return starts;
}

}  // namespace

void reduce_pieces(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  in_pieces(p, at, input_of(c), result, even_starts(at, result), c.root.value()).make();
}

void allreduce_pieces(plan& p, const position& at, const call& c) {
  const buffer result = c.recv.each();
  in_pieces(p, at, input_of(c), result, even_starts(at, result), in_pieces::all).make();
}

void reduce_scatter_pieces(plan& p, const position& at, const call& c) {
  SINEW_EXPECT(!c.send.in_place());
  std::vector<std::ptrdiff_t> starts = {0};
  for (int r = 0; r < at.size; ++r) {
    starts.push_back(starts.back() + static_cast<std::ptrdiff_t>(c.recv.count(r)));
  }
  const buffer mine = part(c.recv.base(), 0, c.recv.count(at.rank), c.recv.type());
  in_pieces(p, at, input_of(c), mine, std::move(starts), in_pieces::own_part).make();
}

}  // namespace sinew::coll
