// An ordered set of ranks of the job.
#pragma once

#include <span>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::core {

inline constexpr int undefined_rank = -32766;

/// Immutable value; the members are ranks of the job. Any context; cold, but for [] (hot).
class group {
 public:
  group() = default;
  explicit group(std::vector<job_rank> members) : members_(std::move(members)) {}
  [[nodiscard]] static group range(int size);  ///< 0, 1, ..., size - 1

  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] job_rank operator[](int r) const noexcept {
    SINEW_EXPECT(r >= 0 && r < size());
    return members_[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] std::span<const job_rank> members() const noexcept { return members_; }
  /// Position of a rank of the job, or undefined_rank.
  [[nodiscard]] int find(job_rank member) const noexcept;

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
  std::vector<job_rank> members_;
};

}  // namespace sinew::core
