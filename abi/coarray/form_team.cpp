// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/form_team.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "abi/coarray/exchange.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/registration.hpp"
#include "abi/coarray/statement.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coarray {
namespace {

struct candidate {
  int index;  ///< wanted, from 1
  job_rank rank;
};

/// Number and wanted index in one word.
std::uint64_t packed(int number, int index) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) << 32 |
         static_cast<std::uint32_t>(index);
}

/// From what all have said. Throws if the indices of a team are not 1 to its size.
std::vector<job_rank> in_order(int number, std::vector<candidate> members, bool indexed) {
  SINEW_EXPECT(!members.empty());
  std::stable_sort(members.begin(), members.end(),
                   [](const candidate& a, const candidate& b) { return a.index < b.index; });
  std::vector<job_rank> ranks;
  for (const candidate& c : members) {
    ranks.push_back(c.rank);
    if (indexed && c.index != static_cast<int>(ranks.size())) {
      throw error(
          "team " + std::to_string(number) + " has no image " + std::to_string(ranks.size()),
          "NEW_INDEX= must give its images the numbers 1 to " + std::to_string(members.size()) +
              ", each once");
    }
  }
  SINEW_ENSURE(ranks.size() == members.size());
  return ranks;
}

std::shared_ptr<const team::family> family_of(const team& from,
                                              const std::vector<std::uint64_t>& words, int number,
                                              bool indexed) {
  std::map<int, std::vector<candidate>> by_number;
  for (int m = 0; m < from.size(); ++m) {
    if (!from.came(m)) {
      continue;  // it has failed: a new team is of those that are left
    }
    const std::uint64_t word = words[static_cast<std::size_t>(m)];
    by_number[static_cast<int>(word >> 32)].push_back(
        {static_cast<int>(word & 0xffffffff), from.rank_of(m + 1)});
  }
  SINEW_EXPECT(words.size() == static_cast<std::size_t>(from.size()));
  auto all = std::make_shared<team::family>();
  for (auto& [each, members] : by_number) {
    (*all)[each] = in_order(each, std::move(members), indexed && each == number);
  }
  SINEW_ENSURE(all->contains(number));
  return all;
}

/// The same team again: nothing in the language ends a team, so one that is formed in a loop would
/// take memory each time. Its members all find it, since they were in it.
team* same_team(const team& parent, int number, const team::family& all) noexcept {
  for (team* t : all_teams()) {
    if (t->parent() == &parent && t->number() == number && *t->siblings() == all) {
      return t;
    }
  }
  return nullptr;
}

}  // namespace

team* form_team(int number, const int* new_index) {
  const statement here("form team");
  team& from = *this_job.now;
  const auto words = exchange(from, packed(number, new_index != nullptr ? *new_index : 0));
  auto all = family_of(from, words, number, new_index != nullptr);
  if (team* known = same_team(from, number, *all)) {
    return known;  // as on all images: the whole family is the same
  }
  const auto size = static_cast<int>(all->at(number).size());
  const std::uint64_t bytes = team::block_bytes(false, size);
  const std::uint64_t mine = this_job.engine->memory().allocate(rma::part::local, bytes);
  SINEW_ASSERT(mine != 0);
  std::memset(this_job.engine->at({this_job.rank, mine}), 0, team::stages_at);
  const std::uint64_t told = team::told_at(false);
  std::memset(this_job.engine->at({this_job.rank, mine + told}), 0, bytes - told);
  const auto blocks = exchange_offsets(from, mine);
  SINEW_ASSERT(blocks.size() == static_cast<std::size_t>(this_job.size));
  std::vector<std::uint64_t> places;
  int me = 0;
  for (const job_rank rank : all->at(number)) {
    me = rank == this_job.rank ? static_cast<int>(places.size()) : me;
    places.push_back(blocks[rank.index()]);
  }
  SINEW_ASSERT(all->at(number)[static_cast<std::size_t>(me)] == this_job.rank);
  return new team(&from, number, std::move(all), std::move(places), me);
}

int status_of_forming(const team& made) noexcept {
  std::size_t members = 0;
  for (const auto& [number, ranks] : *made.siblings()) {
    members += ranks.size();
  }
  return members < made.parent()->ranks().size() ? stat::failed_image : 0;
}

std::span<const job_rank> members_of(int number) noexcept {
  constexpr int initial = -1;
  if (number == initial) {
    return this_job.first->ranks();
  }
  if (const team::family* all = this_job.now->siblings()) {
    const auto found = all->find(number);
    if (found != all->end()) {
      return found->second;
    }
  }
  // Not siblings, but gfortran's own tests take those for such: the last formed by this team.
  const auto& known = all_teams();
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const team* t) {
    return t->parent() == this_job.now && t->number() == number;
  });
  return found == known.rend() ? std::span<const job_rank>{} : (*found)->ranks();
}

bool is_ancestor(const void* handle) noexcept {
  for (const team* t = this_job.now; t != nullptr; t = t->parent()) {
    if (t == handle) {
      return true;
    }
  }
  return false;
}

void change_team(team& to, const outcome& out) {
  SINEW_EXPECT(to.parent() == nullptr || to.siblings() != nullptr);
  const statement here("change team");
  this_job.enter(to);
  finish(out, to.sync_all(), "change team");
}

void end_team(const outcome& out) {
  const statement here("end team");
  const int left = this_job.now->sync_all();
  if (this_job.now->parent() != nullptr) {
    if (left != stat::stopped_image) {
      release_memory_of(*this_job.now);  // all members have come: none uses it any more
    }
    this_job.enter(*this_job.now->parent());
  }
  finish(out, left, "end team");
}

void sync_team(team& with, const outcome& out) {
  const statement here("sync team");
  finish(out, with.sync_all(), "sync team");
}

int image_status(int image, const team& of) {
  if (!of.has(image)) {
    no_such_image(of, image, {}, "image_status");
  }
  switch (this_job.engine->load<std::uint64_t>(this_job.status_of(of.rank_of(image)))) {
    case image_words::stopped:
      return stat::stopped_image;
    case image_words::failed:
      return stat::failed_image;
    default:
      return 0;
  }
}

}  // namespace sinew::coarray
