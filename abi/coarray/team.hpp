// SPDX-License-Identifier: BSD-3-Clause
// Teams and the synchronisation of their images.
//
// Image control must also return when an image stops or fails. So every wait ends when the awaited
// word is written, or when an image that should write it has left. An image that leaves records in
// its own memory how many barriers of each of its teams it has entered, then its status; then it
// increments a counter at every other image and wakes it. Waits look at memory of this node only:
// images of other nodes write what they record to each other, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "abi/coarray/job.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"

namespace sinew::coarray {

class team {
 public:
  /// The team of all images: its words lie at the same offset everywhere.
  explicit team(int size);
  /// Ranks by a team's number, in the order of their image index.
  using family = std::map<int, std::vector<job_rank>>;
  /// The one of that number of `all`, which were formed together; `blocks` are where their words
  /// lie. `me` is the index of this image.
  team(team* parent, int number, std::shared_ptr<const family> all,
       std::vector<std::uint64_t> blocks, int me);
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int me() const noexcept { return me_; }  ///< from 0
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] team* parent() const noexcept { return parent_; }
  [[nodiscard]] bool has(int image) const noexcept {
    return static_cast<unsigned>(image) - 1 < static_cast<unsigned>(size_);
  }
  /// Of images 1 to size().
  [[nodiscard]] job_rank rank_of(int image) const noexcept {
    SINEW_EXPECT(has(image));
    return ranks_[static_cast<std::size_t>(image) - 1];
  }
  /// The image's index here, 0 if that rank is no member.
  [[nodiscard]] int image_of(job_rank rank) const noexcept;
  [[nodiscard]] std::span<const job_rank> ranks() const noexcept { return ranks_; }
  /// By image, from 0: where its heap is mapped here, or null.
  [[nodiscard]] std::span<std::byte* const> parts() const noexcept { return parts_; }
  /// Some member is on another node.
  [[nodiscard]] bool over_nodes() const noexcept { return leaders_.size() > 1; }
  /// Over several nodes, and one of them has several members.
  [[nodiscard]] bool has_levels() const noexcept {
    return over_nodes() && leaders_.size() < static_cast<std::size_t>(size_);
  }
  /// Members (from 0) of a node, from 0 to nodes() - 1, in their order.
  [[nodiscard]] std::span<const int> members_of(std::size_t node) const noexcept {
    SINEW_EXPECT(node < by_node_.size());
    return by_node_[node];
  }
  [[nodiscard]] std::size_t nodes() const noexcept { return by_node_.size(); }
  [[nodiscard]] std::size_t own_node() const noexcept { return static_cast<std::size_t>(node_); }
  /// That member (from 0) is on this node.
  [[nodiscard]] bool near(int m) const noexcept {
    SINEW_EXPECT(m >= 0 && m < size_);
    return parts_[static_cast<std::size_t>(m)] != nullptr;
  }
  /// This team and those formed with it; null for the team of all images.
  [[nodiscard]] const family* siblings() const noexcept { return siblings_.get(); }

  /// Bytes of the words of each of `size` members, and where the parts begin.
  [[nodiscard]] static std::uint64_t block_bytes(bool first, int size) noexcept {
    return told_at(first) + static_cast<std::uint64_t>(size) * line;
  }
  /// A line for each member of another node, which writes there when it leaves; see left_at.
  [[nodiscard]] static std::uint64_t told_at(bool first) noexcept {
    return stages_at + 2 * stage_bytes(first);
  }
  static constexpr int most_rounds = 20;
  /// A stage longer than a core's cache takes less time: what the others have read of it need not
  /// be taken back from their caches. Formed teams may be many.
  [[nodiscard]] static constexpr std::size_t stage_bytes(bool first) noexcept {
    return std::size_t{first ? 1024U : 64U} << 10;
  }
  [[nodiscard]] std::size_t stage_bytes() const noexcept { return stage_bytes(parent_ == nullptr); }
  static constexpr std::uint64_t line = 64;
  static constexpr std::uint64_t come_at = 0;
  static constexpr std::uint64_t release_at = line;
  /// Barriers and small collectives come to, two words, written on leaving.
  static constexpr std::uint64_t left_at = 2 * line;
  /// The barrier that this image has come to last, for reports.
  static constexpr std::uint64_t here_at = left_at + 16;
  static constexpr std::uint64_t word_at = 3 * line;       ///< see exchange.cpp
  static constexpr std::uint64_t near_come_at = 4 * line;  ///< see sync_near(); at a node's first
  static constexpr std::uint64_t near_release_at = 5 * line;
  static constexpr std::uint64_t rounds_at = 6 * line;
  static constexpr std::uint64_t slots_at = rounds_at + most_rounds * line;
  static constexpr std::uint64_t stages_at = slots_at + 2 * most_rounds * line;
  static_assert(left_at >= release_at + line && here_at == left_at + 16);
  static_assert(word_at >= here_at + 8 && near_come_at >= word_at + line && stages_at % line == 0);

  /// A place in the words of member `m` (from 0).
  [[nodiscard]] rma::place at(int m, std::uint64_t offset) const noexcept {
    SINEW_EXPECT(m >= 0 && m < size_ && offset < block_bytes(parent_ == nullptr, size_));
    return {ranks_[static_cast<std::size_t>(m)], blocks_[static_cast<std::size_t>(m)] + offset};
  }

  /// A barrier of the team; 0, stat::stopped_image or stat::failed_image. Failed images are left
  /// out; with a stopped one it does not wait. Hot.
  [[nodiscard]] int sync_all();
  /// A barrier of this node's members alone, of a team over several nodes: for steps of a
  /// collective, which all members of all nodes take, also those that this tells of an image that
  /// has left: others may not know yet, and all must come to the same barriers. What they have done
  /// to heaps of this node before is visible. 0 or as sync_all(); it does not wait for who has
  /// left.
  [[nodiscard]] int sync_near();
  /// With the given images (from 1, without duplicates, in range). Hot.
  [[nodiscard]] int sync_images(std::span<const int> images);
  /// A member left without coming to an earlier barrier or collective: all members find that, each
  /// in the same one, and none of them comes to a later one.
  [[nodiscard]] bool broken() const noexcept { return broken_; }
  /// Called by a small collective that finds it; barriers set it themselves.
  void set_broken() noexcept { broken_ = true; }
  /// A member has left without having come to that barrier, or (`of` 1) small collective.
  [[nodiscard]] bool will_not_come(std::uint64_t number, std::uint64_t of = 0) const noexcept;
  /// After a barrier: member `m` (from 0) had come to it. All members that had agree.
  [[nodiscard]] bool came(int m) const noexcept;
  /// Member `m` (from 0), of this node, has come to that barrier.
  [[nodiscard]] bool is_here(int m, std::uint64_t number) const noexcept;
  /// 0, stat::stopped_image or stat::failed_image for the statement that this barrier, or (`of` 1)
  /// small collective, belongs to. STAT_STOPPED_IMAGE is for a synchronisation "with an image that
  /// has initiated normal termination" (Fortran 2018, 11.6.11): not for one that came and has
  /// stopped since. A failed image counts whenever it has failed.
  [[nodiscard]] int who_is_missing(std::uint64_t number, std::uint64_t of = 0) const noexcept;
  /// Before this image leaves.
  void record_leaving();

  std::uint64_t collectives = 0;  ///< how many small ones there were; see collective.cpp
  std::uint64_t chunks = 0;       ///< how often stages were filled
 private:
  [[nodiscard]] bool left_before(int m, std::uint64_t number, std::uint64_t of) const noexcept;
  [[nodiscard]] rma::place told(int listener, int teller, std::uint64_t of) const noexcept;
  void sort_by_node();
  /// Dissemination among `n` members, of whom this is number `me`; index(i) is the i-th.
  template <class Index>
  [[nodiscard]] bool wait_around(std::uint64_t epoch, int n, int me, Index index);
  [[nodiscard]] bool wait_at_counter(std::uint64_t epoch);
  [[nodiscard]] bool wait_by_levels(std::uint64_t epoch);
  [[nodiscard]] int sync_those_left();

  team* parent_ = nullptr;
  int number_ = -1;
  int size_;
  int me_;
  std::vector<job_rank> ranks_;
  std::vector<std::byte*> parts_;
  std::shared_ptr<const family> siblings_;
  std::vector<std::uint64_t> blocks_;
  std::uint64_t epoch_ = 0;
  bool broken_ = false;
  std::uint64_t near_epoch_ = 0;
  std::vector<int> leaders_;               ///< by node: its first member (from 0)
  std::vector<std::vector<int>> by_node_;  ///< all of them
  std::vector<int> here_;                  ///< those of this node
  int node_ = 0;                           ///< this one, in leaders_
};

/// Every team that this image is a member of.
[[nodiscard]] std::vector<team*>& all_teams();

/// The status of two ranks' pairing: 0 or the stat of the one that is gone.
[[nodiscard]] int await_pair(job_rank rank);
void tell_pair(job_rank rank);

}  // namespace sinew::coarray
