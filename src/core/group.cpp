// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/group.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace sinew::core {
namespace {

std::unordered_set<job_rank> set_of(const group& g) {
  return {g.members().begin(), g.members().end()};
}

/// Members of `from` that are (or are not) in `other`, in their order.
std::vector<job_rank> filter(const group& from, const group& other, bool wanted) {
  const auto inside = set_of(other);
  std::vector<job_rank> kept;
  for (const job_rank r : from.members()) {
    if (inside.contains(r) == wanted) {
      kept.push_back(r);
    }
  }
  return kept;
}

}  // namespace

group group::range(int size) {
  SINEW_EXPECT(size >= 0);
  static std::mutex making;
  static shared_list longest = std::make_shared<const std::vector<job_rank>>();
  const std::lock_guard held(making);
  const auto wanted = static_cast<std::size_t>(size);
  if (longest->size() < wanted) {
    std::vector<job_rank> all(wanted);
    std::iota(all.begin(), all.end(), job_rank(0));
    longest = std::make_shared<const std::vector<job_rank>>(std::move(all));
  }
  return {longest, wanted};
}

comm_rank group::find(job_rank member) const noexcept {
  // World and its likes: position equals rank. Otherwise a scan; callers are cold.
  if (member.below(size()) && (*this)[comm_rank{member.value()}] == member) {
    return comm_rank{member.value()};
  }
  const auto at = std::ranges::find(members_, member);
  return at == members_.end() ? undefined_rank : comm_rank{static_cast<int>(at - members_.begin())};
}

group group::include(std::span<const int> ranks) const {
  std::vector<job_rank> chosen;
  chosen.reserve(ranks.size());
  for (const int r : ranks) {
    chosen.push_back((*this)[comm_rank{r}]);
  }
  return group(std::move(chosen));
}

group group::exclude(std::span<const int> ranks) const {
  const std::unordered_set<int> out(ranks.begin(), ranks.end());
  std::vector<job_rank> kept;
  for (int r = 0; r < size(); ++r) {
    if (!out.contains(r)) {
      kept.push_back((*this)[comm_rank{r}]);
    }
  }
  SINEW_ENSURE(kept.size() + out.size() == members_.size());  // `ranks` were ranks of this group
  return group(std::move(kept));
}

group group::unite(const group& a, const group& b) {
  std::vector<job_rank> all(a.members().begin(), a.members().end());
  const auto extra = filter(b, a, false);
  all.insert(all.end(), extra.begin(), extra.end());
  return group(std::move(all));
}

group group::intersect(const group& a, const group& b) { return group(filter(a, b, true)); }

group group::subtract(const group& a, const group& b) { return group(filter(a, b, false)); }

group::relation group::compare(const group& a, const group& b) {
  if (std::ranges::equal(a.members_, b.members_)) {
    return relation::identical;
  }
  if (a.size() == b.size() && set_of(a) == set_of(b)) {
    return relation::similar;
  }
  return relation::unequal;
}

void group::translate(std::span<const int> ranks, const group& other, std::span<int> out) const {
  SINEW_EXPECT(ranks.size() == out.size());
  std::unordered_map<job_rank, int> position;
  for (int r = 0; r < other.size(); ++r) {
    position.emplace(other[comm_rank{r}], r);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto at = position.find((*this)[comm_rank{ranks[i]}]);
    out[i] = at == position.end() ? undefined_rank.value() : at->second;
  }
}

}  // namespace sinew::core
