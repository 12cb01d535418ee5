// SPDX-License-Identifier: BSD-3-Clause
// An ordered set of ranks of the job.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::core {

inline constexpr comm_rank undefined_rank = -32766;

/// Immutable value; the members are ranks of the job. Copies share one list, and all range() share
/// one: 4 B a rank in a process, however many communicators are like the world. Any context; cold,
/// but for [] (hot).
class group {
 public:
  group() = default;
  explicit group(std::vector<job_rank> members)
      : list_(std::make_shared<const std::vector<job_rank>>(std::move(members))),
        members_(*list_) {}
  [[nodiscard]] static group range(int size);  ///< 0, 1, ..., size - 1

  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] job_rank operator[](comm_rank r) const noexcept {
    SINEW_EXPECT(r.below(size()));
    return members_[r.index()];
  }
  /// Valid while a copy of this group lives.
  [[nodiscard]] std::span<const job_rank> members() const noexcept { return members_; }
  /// Position of a rank of the job, or undefined_rank.
  [[nodiscard]] comm_rank find(job_rank member) const noexcept;

  [[nodiscard]] group include(std::span<const int> ranks) const;
  [[nodiscard]] group exclude(std::span<const int> ranks) const;
  /// MPI-5.0 7.3.2: members of a, then members of b that are not in a; and so on.
  [[nodiscard]] static group unite(const group& a, const group& b);
  [[nodiscard]] static group intersect(const group& a, const group& b);
  [[nodiscard]] static group subtract(const group& a, const group& b);

  enum class relation { identical, similar, unequal };
  [[nodiscard]] static relation compare(const group& a, const group& b);
  /// Where `ranks` of this group stand in `other` (undefined_rank where they do not).
  void translate(std::span<const int> ranks, const group& other, std::span<int> out) const;

 private:
  using shared_list = std::shared_ptr<const std::vector<job_rank>>;
  group(shared_list list, std::size_t first_ones)
      : list_(std::move(list)), members_(list_->data(), first_ones) {}

  shared_list list_;
  std::span<const job_rank> members_;  ///< of the list, its first ones
};

}  // namespace sinew::core
