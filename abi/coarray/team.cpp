// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/team.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <numeric>

#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/statement.hpp"
#include "sinew/base/check.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::coarray {
namespace {

std::uint64_t status_word(rma::place p) noexcept { return this_job.engine->load<std::uint64_t>(p); }

/// Counters may wrap in principle.
bool reached(std::uint64_t seen, std::uint64_t wanted) noexcept {
  return static_cast<std::int64_t>(seen - wanted) >= 0;
}

int stat_of(job_rank rank) noexcept {
  SINEW_EXPECT(this_job.gone(rank));
  return status_word(this_job.status_of(rank)) == image_words::failed ? stat::failed_image
                                                                      : stat::stopped_image;
}

/// A stopped image takes precedence over a failed one: the statement cannot complete without it.
/// STAT_FAILED_IMAGE is for when no other error condition occurs (Fortran 2018, 11.6.11).
int graver(int a, int b) noexcept { return a == stat::stopped_image || b == 0 ? a : b; }

int rounds_for(int size) noexcept {
  SINEW_EXPECT(size >= 1);
  return size < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
}

std::vector<std::byte*> parts_of(const std::vector<job_rank>& ranks) {
  std::vector<std::byte*> parts;
  parts.reserve(ranks.size());
  for (const job_rank r : ranks) {
    parts.push_back(this_job.engine->mapped({r, 0}));
  }
  return parts;
}

}  // namespace

std::vector<team*>& all_teams() {
  static auto& it = *new std::vector<team*>;
  return it;
}

team::team(int size) : size_(size), me_(this_job.rank.value()) {
  SINEW_EXPECT(size == this_job.size && rounds_for(size) <= most_rounds);
  ranks_.resize(static_cast<std::size_t>(size));
  std::iota(ranks_.begin(), ranks_.end(), job_rank(0));
  parts_ = parts_of(ranks_);
  blocks_.assign(ranks_.size(),
                 this_job.engine->memory().allocate(rma::part::symmetric, block_bytes(true, size)));
  sort_by_node();
  all_teams().push_back(this);
}

team::team(team* parent, int number, std::shared_ptr<const family> all,
           std::vector<std::uint64_t> blocks, int me)
    : parent_(parent),
      number_(number),
      size_(static_cast<int>(all->at(number).size())),
      me_(me),
      ranks_(all->at(number)),
      parts_(parts_of(ranks_)),
      siblings_(std::move(all)),
      blocks_(std::move(blocks)) {
  SINEW_EXPECT(parent != nullptr && blocks_.size() == ranks_.size());
  SINEW_EXPECT(me >= 0 && me < size_ && ranks_[static_cast<std::size_t>(me)] == this_job.rank);
  SINEW_ENSURE(rounds_for(size_) <= most_rounds && parts_.size() == ranks_.size());
  sort_by_node();
  all_teams().push_back(this);
}

void team::sort_by_node() {
  std::vector<int> nodes;
  const int here = this_job.engine->node_of(this_job.rank);
  for (int m = 0; m < size_; ++m) {
    const int node = this_job.engine->node_of(ranks_[static_cast<std::size_t>(m)]);
    auto found = std::find(nodes.begin(), nodes.end(), node);
    if (found == nodes.end()) {
      node_ = node == here ? static_cast<int>(nodes.size()) : node_;
      found = nodes.insert(nodes.end(), node);
      leaders_.push_back(m);
      by_node_.emplace_back();
    }
    by_node_[static_cast<std::size_t>(found - nodes.begin())].push_back(m);
    if (node == here) {
      here_.push_back(m);
    }
  }
  SINEW_ENSURE(!here_.empty() && leaders_[static_cast<std::size_t>(node_)] == here_.front());
}

team::~team() { std::erase(all_teams(), this); }

int team::image_of(job_rank rank) const noexcept {
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  return found == ranks_.end() ? 0 : static_cast<int>(found - ranks_.begin()) + 1;
}

/// How many barriers, or (`of` 1) small collectives `teller`, which has left, had come to: where it
/// has written that for `listener`.
rma::place team::told(int listener, int teller, std::uint64_t of) const noexcept {
  if (near(teller) && near(listener)) {
    return at(teller, left_at + 8 * of);
  }
  const std::uint64_t lines = told_at(parent_ == nullptr);
  return at(listener, lines + static_cast<std::uint64_t>(teller) * line + 8 * of);
}

void team::record_leaving() {
  this_job.engine->store<std::uint64_t>(told(me_, me_, 0), epoch_);
  this_job.engine->store<std::uint64_t>(told(me_, me_, 1), collectives);
  for (int m = 0; m < size_; ++m) {
    if (!near(m)) {
      this_job.engine->announce(told(m, me_, 0), epoch_);
      this_job.engine->announce(told(m, me_, 1), collectives);
    }
  }
}

bool team::will_not_come(std::uint64_t number, std::uint64_t of) const noexcept {
  if (!this_job.somebody_left()) [[likely]] {
    return false;
  }
  for (int m = 0; m < size_; ++m) {
    if (left_before(m, number, of)) {
      return true;
    }
  }
  return false;
}

bool team::came(int m) const noexcept { return !left_before(m, epoch_, 0); }

bool team::left_before(int m, std::uint64_t number, std::uint64_t of) const noexcept {
  SINEW_EXPECT(m >= 0 && m < size_ && of <= 1);
  return this_job.gone(ranks_[static_cast<std::size_t>(m)]) &&
         !reached(status_word(told(me_, m, of)), number);
}

int team::who_is_missing(std::uint64_t number, std::uint64_t of) const noexcept {
  int result = 0;
  for (int m = 0; m < size_; ++m) {
    const job_rank r = ranks_[static_cast<std::size_t>(m)];
    if (this_job.gone(r) && (stat_of(r) == stat::failed_image || left_before(m, number, of))) {
      result = graver(result, stat_of(r));
    }
  }
  return result;
}

bool team::is_here(int m, std::uint64_t number) const noexcept {
  SINEW_EXPECT(near(m));
  return reached(status_word(at(m, here_at)), number);
}

int team::sync_all() {
  // Of two images only the other one learns of it.
  this_job.engine->settle_before_telling(size_ == 2 ? rank_of(2 - me_) : no_job_rank);
  ++this_job.synchronised;
  const std::uint64_t epoch = ++epoch_;
  // Read by reports, and by who finds the barrier broken: release, with the acquire of its loads.
  std::atomic_ref<std::uint64_t>(
      *reinterpret_cast<std::uint64_t*>(this_job.engine->at(at(me_, here_at))))
      .store(epoch, std::memory_order_release);
  if (size_ == 1) {
    return 0;
  }
  if (!broken_) {
    broken_ = !(over_nodes()                  ? wait_by_levels(epoch)
                : this_job.runtime->crowded() ? wait_at_counter(epoch)
                                              : wait_around(epoch, size_, me_, std::identity{}));
  }
  return broken_ ? sync_those_left() : 0;
}

// Dissemination barrier (Hensgen, Finkel, Manber 1988): in round k each member signals the one 2^k
// further on, and waits for the one 2^k before. Each word has one writer and one reader, and holds
// the number of the barrier.
template <class Index>
bool team::wait_around(std::uint64_t epoch, int n, int me, Index member) {
  for (int k = 0; 1 << k < n; ++k) {
    const std::uint64_t offset = rounds_at + static_cast<std::uint64_t>(k) * line;
    int next = me + (1 << k);
    next -= next >= n ? n : 0;
    SINEW_ASSERT(next >= 0 && next < n && next != me && k < most_rounds);
    this_job.engine->announce(at(member(next), offset), epoch);
    const rma::place mine = at(me_, offset);
    bool came = true;
    await({pending::sort::barrier, this, epoch},
          [&] { return (came = reached(status_word(mine), epoch)) || will_not_come(epoch); });
    // It may have come between the two looks.
    if (!came && !reached(status_word(mine), epoch)) {
      return false;
    }
  }
  return true;
}

// With more images than processors each round would cost a context switch: all increment one
// counter, and the last one releases the others through a second word. After a broken barrier no
// member may increment it, since that would count as the member that is missing there.
bool team::wait_at_counter(std::uint64_t epoch) {
  SINEW_EXPECT(size_ > 1 && epoch == epoch_);
  const rma::place come = at(0, come_at);
  const rma::place release = at(0, release_at);
  if (this_job.engine->fetch_add<std::uint64_t>(come, 1) + 1 ==
      epoch * static_cast<std::uint64_t>(size_)) {
    this_job.engine->store<std::uint64_t>(release, epoch);
    for (const job_rank r : ranks_) {
      if (r != this_job.rank) {
        this_job.engine->alert(r);
      }
    }
    return true;
  }
  await({pending::sort::barrier, this, epoch},
        [&] { return reached(status_word(release), epoch) || will_not_come(epoch); });
  return reached(status_word(release), epoch);
}

// The members of a node count at its first one, their leader; the leaders go around, and then each
// releases its node.
bool team::wait_by_levels(std::uint64_t epoch) {
  const int home = here_.front();
  const rma::place come = at(home, come_at);
  const rma::place release = at(home, release_at);
  const pending wanted{pending::sort::barrier, this, epoch};
  (void)this_job.engine->fetch_add<std::uint64_t>(come, 1);
  if (home != me_) {
    await(wanted, [&] { return reached(status_word(release), epoch) || will_not_come(epoch); });
    return reached(status_word(release), epoch);
  }
  const std::uint64_t all = epoch * here_.size();
  await(wanted, [&] { return reached(status_word(come), all) || will_not_come(epoch); });
  if (!reached(status_word(come), all) ||
      !wait_around(epoch, static_cast<int>(leaders_.size()), node_,
                   [this](int i) { return leaders_[static_cast<std::size_t>(i)]; })) {
    return false;
  }
  this_job.engine->store<std::uint64_t>(release, epoch);
  for (const int m : here_) {
    if (m != me_) {
      this_job.engine->alert(ranks_[static_cast<std::size_t>(m)]);
    }
  }
  return true;
}

// As wait_at_counter(), with a count of its own, since it is no barrier of the team.
int team::sync_near() {
  SINEW_EXPECT(over_nodes());
  const std::uint64_t number = ++collectives;
  const std::uint64_t epoch = ++near_epoch_;
  if (broken_) {
    return who_is_missing(number, 1);
  }
  if (here_.size() == 1) {
    return 0;
  }
  const rma::place come = at(here_.front(), near_come_at);
  const rma::place release = at(here_.front(), near_release_at);
  if (this_job.engine->fetch_add<std::uint64_t>(come, 1) + 1 == epoch * here_.size()) {
    this_job.engine->store<std::uint64_t>(release, epoch);
    for (const int m : here_) {
      if (m != me_) {
        this_job.engine->alert(ranks_[static_cast<std::size_t>(m)]);
      }
    }
    return 0;
  }
  await({pending::sort::barrier, this, epoch_},
        [&] { return reached(status_word(release), epoch) || will_not_come(number, 1); });
  if (!reached(status_word(release), epoch)) {
    broken_ = true;
    return who_is_missing(number, 1);
  }
  return 0;
}

/// After an image has left without coming to the barrier: if only failed images are missing, the
/// others wait for each other, by the number of the barrier that each has come to. An image that
/// has died may have come to this one in part, so that others have gone through it: their number
/// says so. A member that knows of a stopped image that is missing waits no more.
int team::sync_those_left() {
  SINEW_EXPECT(broken_);
  core::retry_loop looks(*this_job.runtime);
  int result = who_is_missing(epoch_);
  for (int m = 0; m < size_ && result != stat::stopped_image; ++m) {
    const job_rank r = ranks_[static_cast<std::size_t>(m)];
    while (m != me_ && !this_job.gone(r) && !reached(status_word(at(m, here_at)), epoch_)) {
      looks.again();
    }
    // It may have come before it left.
    if (left_before(m, epoch_, 0)) {
      result = graver(result, stat_of(r));
    }
  }
  return graver(result, who_is_missing(epoch_));
}

void tell_pair(job_rank rank) {
  SINEW_EXPECT(rank.below(this_job.size) && rank != this_job.rank);
  this_job.engine->announce(this_job.pair(rank, this_job.rank), ++this_job.sent[rank.index()]);
}

int await_pair(job_rank rank) {
  SINEW_EXPECT(rank.below(this_job.size) && rank != this_job.rank);
  const std::uint64_t number = ++this_job.heard[rank.index()];
  const rma::place told = this_job.pair(this_job.rank, rank);
  await({.what = pending::sort::pair, .rank = rank},
        [&] { return reached(status_word(told), number) || this_job.gone(rank); });
  return reached(status_word(told), number) ? 0 : stat_of(rank);
}

int team::sync_images(std::span<const int> images) {
  this_job.engine->settle_before_telling(images.size() == 1 ? rank_of(images.front())
                                                            : no_job_rank);
  ++this_job.synchronised;
  for (const int image : images) {
    if (image != me_ + 1) {
      tell_pair(rank_of(image));
    }
  }
  int result = 0;
  for (const int image : images) {
    if (image != me_ + 1) {
      result = graver(result, await_pair(rank_of(image)));
    }
  }
  return result;
}

}  // namespace sinew::coarray
