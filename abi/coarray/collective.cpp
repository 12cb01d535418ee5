// SPDX-License-Identifier: BSD-3-Clause
// Small reductions go by recursive doubling: in round k members that differ in bit k swap their
// values, each through one line of the other's memory; and so do longer ones of members that are
// each on a node of its own, through their stages. Everything else goes through stages, too, two at
// each member, filled with a chunk at a time: each member combines its share of the chunk from all
// stages, and then takes the other shares from theirs. Over several nodes that is done on each
// node, and then each member fetches what the other nodes have for its share: each node's data go
// to each other node once.
#include "abi/coarray/collective.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "abi/coarray/statement.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/copy.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coarray {
namespace {

constexpr std::size_t slot_data_at = 8;
constexpr std::size_t slot_bytes = team::line - slot_data_at;
static_assert(slot_data_at >= sizeof(std::uint64_t) && slot_bytes > 0);  // first, the number

/// Whether the descriptor's span may be used. When CO_BROADCAST is given a derived type, gfortran
/// passes its allocatable components one at a time by descriptors whose span and offset it does not
/// set: they hold what the stack held. Such a component begins where memory was allocated, so its
/// address is aligned. A pointer to a component of an array's elements does have a span, which is
/// longer than the element; it is recognised by an offset that fits the bounds and an address that
/// is not aligned. A pointer to the first component looks like the former and is treated like it,
/// the commoner case.
bool has_span(const descriptor& d) noexcept {
  if (d.rank() != 1 || d.dim[0].stride != 1 || d.dim[0].lower != 1) {
    return true;  // a scalar's descriptor ends before `dim`
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(d.base) % alignof(std::max_align_t) == 0;
  const bool fits = static_cast<index>(d.offset) == -d.dim[0].lower * d.dim[0].stride;
  return fits && d.step() > static_cast<index>(d.element.bytes) && !aligned;
}

/// The elements of an array one after the other: the array itself if it lies so. None if it is a
/// component that is not allocated: its bounds say nothing.
class flat {
 public:
  explicit flat(descriptor& d) : descriptor_(d), bytes_(d.element.bytes) {
    if (d.base == nullptr) {
      count_ = 0;
      return;
    }
    index expected = 1;
    for (int i = 0; i < d.rank(); ++i) {
      const index n = d.dim[i].extent();
      contiguous_ = contiguous_ && (n <= 1 || d.dim[i].stride == expected);
      expected *= n;
      count_ *= static_cast<std::size_t>(n);
    }
    contiguous_ = contiguous_ && (count_ <= 1 || d.step() == static_cast<index>(bytes_));
    data_ = static_cast<std::byte*>(d.base);
    if (!contiguous_) {
      copy_ = std::make_unique_for_overwrite<std::byte[]>(count_ * bytes_);
      data_ = copy_.get();
      each([this](std::byte* there, std::byte* here) { std::memcpy(here, there, bytes_); });
    }
  }
  /// Back to where they were.
  void store() {
    if (!contiguous_) {
      each([this](std::byte* there, std::byte* here) { std::memcpy(there, here, bytes_); });
    }
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return count_ * bytes_; }

 private:
  template <class Use>
  void each(Use&& use) {
    std::byte* here = data_;
    each_element(descriptor_, [&](std::byte* there) {
      use(there, here);
      here += bytes_;
    });
  }

  descriptor& descriptor_;
  std::size_t bytes_;
  std::size_t count_ = 1;
  bool contiguous_ = true;
  std::byte* data_ = nullptr;
  std::unique_ptr<std::byte[]> copy_;
};

/// Two stages are used alternately: before a member fills one again it has passed a barrier, or a
/// swap with all, after which no member reads its old contents.
std::uint64_t stage_at(const team& t) noexcept {
  return team::stages_at + t.chunks % 2 * t.stage_bytes();
}
rma::place stage_of(const team& t, int member) noexcept { return t.at(member, stage_at(t)); }
/// Of this image, or of another one of this node.
std::byte* stage(const team& t, int member) noexcept {
  SINEW_EXPECT(t.near(member));
  return this_job.engine->at(stage_of(t, member));
}

/// A part of a member's stage: where it lies or, of another node, a copy of it.
class staged {
 public:
  const std::byte* operator()(const team& t, int member, std::size_t at, std::size_t bytes) {
    SINEW_EXPECT(at + bytes <= t.stage_bytes());
    if (t.near(member)) [[likely]] {
      return stage(t, member) + at;
    }
    if (bytes > room_) {
      copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      room_ = bytes;
    }
    const rma::place from = stage_of(t, member);
    this_job.engine->get(copy_.get(), {from.rank, from.offset + at}, bytes);
    return copy_.get();
  }

 private:
  std::unique_ptr<std::byte[]> copy_;
  std::size_t room_ = 0;
};

/// The longest values that members swap through their stages: a part for each round.
std::size_t most_swapped(const team& t) noexcept {
  SINEW_EXPECT(std::has_single_bit(static_cast<unsigned>(t.size())) && t.size() > 1);
  const auto rounds = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(t.size())));
  return t.stage_bytes() / rounds / team::line * team::line;
}

/// A line, or a stage, is used again two collectives later; all members have begun the one in
/// between by then, and so have read it.
int swap(team& t, std::byte* data, std::size_t bytes, std::size_t count, const combiner& op) {
  const bool in_line = bytes <= slot_bytes;
  SINEW_EXPECT((in_line || bytes <= most_swapped(t)) && bytes == count * op.element_bytes);
  const std::uint64_t number = ++t.collectives;
  ++this_job.synchronised;
  t.chunks += in_line ? 0 : 1;
  if (t.broken()) {
    return t.who_is_missing(number, 1);
  }
  alignas(64) std::byte aside[slot_bytes];
  for (int k = 0; 1 << k < t.size(); ++k) {
    const int partner = t.me() ^ (1 << k);
    SINEW_ASSERT(k < team::most_rounds && t.has(partner + 1));
    const auto round = static_cast<std::uint64_t>(k);
    const std::uint64_t slot = team::slots_at + (2 * round + number % 2) * team::line;
    const std::uint64_t place =
        in_line ? slot + slot_data_at : stage_at(t) + round * most_swapped(t);
    if (t.near(partner)) [[likely]] {
      std::memcpy(this_job.engine->at(t.at(partner, place)), data, bytes);
    } else {
      this_job.engine->put(t.at(partner, place), data, bytes);
    }
    this_job.engine->announce(t.at(partner, slot), number);
    const rma::place mine = t.at(t.me(), slot);
    await({.what = pending::sort::pair, .rank = t.rank_of(partner + 1)}, [&] {
      return this_job.engine->load<std::uint64_t>(mine) == number || t.will_not_come(number, 1);
    });
    if (this_job.engine->load<std::uint64_t>(mine) != number) {
      t.set_broken();
      return t.who_is_missing(number, 1);
    }
    std::byte* theirs = this_job.engine->at(t.at(t.me(), place));
    if (in_line) {
      theirs = static_cast<std::byte*>(std::memcpy(aside, theirs, bytes));  // aligned
    }
    if (partner > t.me()) {
      op.call(op, data, theirs, count);
    } else {
      op.call(op, theirs, data, count);
      copy_bytes(data, theirs, bytes);
    }
  }
  return 0;
}

/// For others to read; past the caches if that has cost less.
void put(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  rma::engine::move_out(to, from, bytes);
}

/// A source that has nothing to send, such as a component that is not allocated, sends this.
constexpr std::array<std::uint64_t, 2> nothing{0x9e1c'7a35'd04b'26f8, 0x53b8'e6d9'2f07'c14a};

/// gfortran does not allocate what is allocated at the source; without this check the images would
/// differ in how many chunks they wait for.
void check_allocated(bool here, const std::byte* sent, std::size_t bytes) {
  const bool compared = !here || bytes >= sizeof nothing;
  const bool there = std::memcmp(sent, nothing.data(), sizeof nothing) != 0;
  if (compared && here != there) {
    throw error(here ? "a component is allocated here, and not at the source image"
                     : "a component is allocated at the source image, and not here",
                "gfortran's code sends what is allocated, and does not allocate",
                "allocate it in all images first, of one size");
  }
}

/// Of an array component gfortran sends first the allocatable components of each element, and then
/// the elements as they are, addresses and all. Addresses of what has been sent have to stay. Other
/// elements can hold them in pointers only, which CO_BROADCAST leaves undefined.
class addresses {
 public:
  void note(const void* sent) {
    if (sent == nullptr) {
      return;
    }
    if (sent_.size() == most) {
      sent_.clear();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(sent);
    sent_.insert(address);
    least_ = std::min(least_, address);
    greatest_ = std::max(greatest_, address);
  }
  struct word {
    std::byte* at;
    std::uintptr_t value;
  };
  [[nodiscard]] std::vector<word> in(std::span<std::byte> elements) const {
    std::vector<word> found;
    constexpr std::size_t size = sizeof(std::uintptr_t);
    for (std::size_t i = 0; i + size <= elements.size(); i += size) {
      word w{&elements[i], 0};
      std::memcpy(&w.value, w.at, size);
      if (w.value >= least_ && w.value <= greatest_ && sent_.contains(w.value)) {
        found.push_back(w);
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t most = 1 << 16;
  std::unordered_set<std::uintptr_t> sent_;
  std::uintptr_t least_ = ~std::uintptr_t{0};  ///< most data is not between them
  std::uintptr_t greatest_ = 0;
};
addresses broadcast_before;

struct share {
  std::size_t begin;
  std::size_t end;
};
share share_of(std::size_t count, int member, int members) noexcept {
  const auto n = static_cast<std::size_t>(members);
  const auto m = static_cast<std::size_t>(member);
  SINEW_EXPECT(m < n);
  return {count * m / n, count * (m + 1) / n};
}

/// Each puts into its stage what the others are to combine, combines its own share, puts that there
/// too, and takes the other shares. `sum` has room for a share.
int reduce_chunk(team& t, std::byte* data, std::size_t count, const combiner& op, bool wanted,
                 std::byte* sum) {
  SINEW_EXPECT(count * op.element_bytes <= t.stage_bytes());
  const std::size_t size = op.element_bytes;
  const share mine = share_of(count, t.me(), t.size());
  SINEW_ASSERT(mine.begin <= mine.end && mine.end <= count);
  const std::size_t begin = mine.begin * size;
  const std::size_t end = mine.end * size;
  const std::size_t bytes = end - begin;
  ++t.chunks;
  put(stage(t, t.me()), data, begin);
  put(stage(t, t.me()) + end, data + end, count * size - end);
  if (const int left = t.sync_all()) {
    return left;
  }
  staged other;
  const auto operand = [&](int m) {
    return m == t.me() ? data + begin : other(t, m, begin, bytes);
  };
  copy_bytes(sum, operand(0), bytes);
  for (int m = 1; m < t.size(); ++m) {
    op.call(op, sum, operand(m), bytes / size);
  }
  // No other image reads this share of the stage before the barrier.
  put(stage(t, t.me()) + begin, sum, bytes);
  if (const int left = t.sync_all()) {
    return left;
  }
  for (int m = 0; wanted && m < t.size(); ++m) {
    const share s = share_of(count, m, t.size());
    const std::size_t n = (s.end - s.begin) * size;
    copy_bytes(data + s.begin * size, m == t.me() ? sum : other(t, m, s.begin * size, n), n);
  }
  return 0;
}

/// [begin, end) of what the members of a node have combined in the current stages, in bytes: each
/// has its own share there.
void fetch_share(team& t, std::size_t node, std::size_t count, std::size_t element, share wanted,
                 std::byte* to) {
  const std::span<const int> there = t.members_of(node);
  for (std::size_t i = 0; i < there.size(); ++i) {
    const share its = share_of(count, static_cast<int>(i), static_cast<int>(there.size()));
    const std::size_t begin = std::max(its.begin, wanted.begin);
    const std::size_t end = std::min(its.end, wanted.end);
    if (begin < end) {
      const rma::place from = stage_of(t, there[i]);
      this_job.engine->get(to + (begin - wanted.begin) * element,
                           {from.rank, from.offset + begin * element}, (end - begin) * element);
    }
  }
}

/// This member's place among those of its node.
int place_here(const team& t) noexcept {
  const std::span<const int> here = t.members_of(t.own_node());
  return static_cast<int>(std::find(here.begin(), here.end(), t.me()) - here.begin());
}

/// What of a chunk is here at each member of this node, as shares, is taken by all of them. Written
/// to the stage that is not in use: between two barriers of the team nobody elsewhere reads that.
int take_from_near(team& t, std::byte* data, std::size_t count, std::size_t element,
                   const std::byte* own, bool wanted) {
  const std::span<const int> here = t.members_of(t.own_node());
  const auto share_at = [&](std::size_t i) {
    return share_of(count, static_cast<int>(i), static_cast<int>(here.size()));
  };
  const auto mine = static_cast<std::size_t>(place_here(t));
  const auto other_stage = [&](int m) {
    return this_job.engine->at(t.at(m, team::stages_at + (t.chunks + 1) % 2 * t.stage_bytes()));
  };
  const share own_share = share_at(mine);
  put(other_stage(t.me()) + own_share.begin * element, own,
      (own_share.end - own_share.begin) * element);
  const int left = t.sync_near();
  for (std::size_t i = 0; left == 0 && wanted && i < here.size(); ++i) {
    const share s = share_at(i);
    copy_bytes(data + s.begin * element, i == mine ? own : other_stage(here[i]) + s.begin * element,
               (s.end - s.begin) * element);
  }
  const int also = t.sync_near();  // before somebody fills that stage
  return left != 0 ? left : also;
}

/// As reduce_chunk(), by levels. `sum` has room for two shares of a node.
int reduce_chunk_by_levels(team& t, std::byte* data, std::size_t count, const combiner& op,
                           bool wanted, std::byte* sum) {
  SINEW_EXPECT(t.has_levels() && count * op.element_bytes <= t.stage_bytes());
  const std::size_t size = op.element_bytes;
  const std::span<const int> here = t.members_of(t.own_node());
  const share mine = share_of(count, place_here(t), static_cast<int>(here.size()));
  const std::size_t begin = mine.begin * size;
  const std::size_t bytes = (mine.end - mine.begin) * size;
  ++t.chunks;
  put(stage(t, t.me()), data, begin);
  put(stage(t, t.me()) + begin + bytes, data + begin + bytes, count * size - begin - bytes);
  const int near_left = t.sync_near();
  for (std::size_t i = 0; near_left == 0 && i < here.size(); ++i) {
    const std::byte* const its = here[i] == t.me() ? data + begin : stage(t, here[i]) + begin;
    i == 0 ? copy_bytes(sum, its, bytes) : op.call(op, sum, its, bytes / size);
  }
  put(stage(t, t.me()) + begin, sum, bytes);
  if (const int left = t.sync_all()) {
    return left;
  }
  SINEW_ASSERT(near_left == 0);  // who was missing at this node's barrier does not come to that one
  // In the order of the nodes, so that all get the same bits.
  std::byte* const total = sum + bytes;
  std::byte* const fetched = total + bytes;
  for (std::size_t node = 0; node < t.nodes(); ++node) {
    const bool own = node == t.own_node();
    std::byte* const into = node == 0 ? total : fetched;
    if (!own) {
      fetch_share(t, node, count, size, mine, into);
    } else if (node == 0) {
      copy_bytes(total, sum, bytes);
    }
    if (node != 0) {
      op.call(op, total, own ? sum : fetched, bytes / size);
    }
  }
  return take_from_near(t, data, count, size, total, wanted);
}

/// What the source has in its stage goes to each other node once, in shares.
int broadcast_by_levels(team& t, int source, std::byte* data, std::size_t bytes) {
  const std::span<const int> here = t.members_of(t.own_node());
  const share mine = share_of(bytes, place_here(t), static_cast<int>(here.size()));
  if (t.near(source)) {
    if (t.me() != source) {
      copy_bytes(data, stage(t, source), bytes);
    }
    const int left = t.sync_near();
    const int also = t.sync_near();
    return left != 0 ? left : also;
  }
  const rma::place from = stage_of(t, source);
  const auto part = std::make_unique_for_overwrite<std::byte[]>(mine.end - mine.begin);
  this_job.engine->get(part.get(), {from.rank, from.offset + mine.begin}, mine.end - mine.begin);
  return take_from_near(t, data, bytes, 1, part.get(), true);
}

/// Where every member is on a node of its own, to swap takes a message a round and no barrier.
bool goes_by_swaps(const team& t, std::size_t bytes, const combiner& op) noexcept {
  if (!std::has_single_bit(static_cast<unsigned>(t.size()))) {
    return false;
  }
  if (bytes <= slot_bytes && !this_job.runtime->crowded()) {
    return true;
  }
  constexpr std::size_t longest_to_many = std::size_t{32} << 10;  // all of it goes in every round
  const bool apart = t.nodes() == static_cast<std::size_t>(t.size());
  return apart && op.element_bytes <= most_swapped(t) &&
         (t.size() <= 4 || bytes <= longest_to_many);
}

}  // namespace

int reduce(descriptor& a, const combiner& op, int result_image) {
  SINEW_EXPECT(op.call != nullptr && op.element_bytes == a.element.bytes);
  SINEW_EXPECT(result_image == 0 || this_job.now->has(result_image));
  team& t = *this_job.now;
  flat all(a);
  if (t.size() == 1 || all.bytes() == 0) {
    return 0;
  }
  const bool wanted = result_image == 0 || result_image == t.me() + 1;
  int left = 0;
  if (goes_by_swaps(t, all.bytes(), op)) {
    alignas(16) std::byte value[slot_bytes];
    const bool is_small = all.bytes() <= slot_bytes;
    std::byte* const from = is_small ? value : all.data();
    if (is_small) {
      std::memcpy(value, all.data(), all.bytes());
    }
    const std::size_t most = is_small ? all.count() : most_swapped(t) / op.element_bytes;
    for (std::size_t i = 0; i < all.count() && left == 0; i += most) {
      const std::size_t n = std::min(most, all.count() - i);
      left = swap(t, from + i * op.element_bytes, n * op.element_bytes, n, op);
    }
    if (is_small && wanted && left == 0) {
      std::memcpy(all.data(), value, all.bytes());
    }
  } else {
    const std::size_t most = t.stage_bytes() / op.element_bytes;
    if (most == 0) {
      throw error("elements of " + std::to_string(op.element_bytes) + " bytes cannot be reduced",
                  "the limit is " + std::to_string(t.stage_bytes()));
    }
    const std::size_t members =
        t.has_levels() ? t.members_of(t.own_node()).size() : static_cast<std::size_t>(t.size());
    const auto sum = std::make_unique_for_overwrite<std::byte[]>(
        3 * (std::min(most, all.count()) / members + 1) * op.element_bytes);
    const auto chunk = t.has_levels() ? reduce_chunk_by_levels : reduce_chunk;
    // To the end, also after an image has left: images of other nodes may not know.
    for (std::size_t i = 0; i < all.count(); i += most) {
      const int now = chunk(t, all.data() + i * op.element_bytes, std::min(most, all.count() - i),
                            op, wanted, sum.get());
      left = left != 0 ? left : now;
    }
  }
  if (wanted && left == 0) {
    all.store();
  }
  return left;
}

int broadcast(descriptor& a, int source_image) {
  SINEW_EXPECT(this_job.now->has(source_image));
  team& t = *this_job.now;
  if (t.size() == 1) {
    return 0;
  }
  if (!has_span(a)) {
    a.span = static_cast<index>(a.element.bytes);
  }
  flat all(a);
  std::vector<addresses::word> stay;
  if (a.element.type == type::derived) {
    stay = broadcast_before.in({all.data(), all.bytes()});
  }
  broadcast_before.note(a.base);
  // Beside the components gfortran sends, as void, what tokens of allocatable scalars point to. A
  // C_PTR may come as void too: at another image it is undefined.
  if (a.element.type == type::nothing) {
    return 0;
  }
  const int source = source_image - 1;
  int near_left = 0;
  staged other;
  std::size_t i = 0;
  do {
    const std::size_t n = std::min(t.stage_bytes(), all.bytes() - i);
    SINEW_ASSERT(i <= all.bytes());
    ++t.chunks;
    if (t.me() == source) {
      if (n == 0) {
        std::memcpy(stage(t, source), nothing.data(), sizeof nothing);
      } else {
        put(stage(t, source), all.data() + i, n);
      }
    }
    if (const int left = t.sync_all()) {
      return left;
    }
    constexpr std::size_t short_chunk = 16'384;  // fetched by each for itself
    if (n >= short_chunk && t.has_levels()) {
      if (i == 0 && t.me() != source) {
        check_allocated(true, other(t, source, 0, sizeof nothing), n);
      }
      const int left = broadcast_by_levels(t, source, all.data() + i, n);
      near_left = near_left != 0 ? near_left : left;
    } else if (t.me() != source) {
      const std::byte* const sent = other(t, source, 0, std::max(n, sizeof nothing));
      check_allocated(a.base != nullptr, sent, n);
      copy_bytes(all.data() + i, sent, n);
    }
    i += n;
  } while (i < all.bytes());
  if (near_left != 0) {
    return near_left;
  }
  for (const addresses::word& w : stay) {
    std::memcpy(w.at, &w.value, sizeof w.value);
  }
  if (t.me() != source) {
    all.store();
  }
  return 0;
}

}  // namespace sinew::coarray
