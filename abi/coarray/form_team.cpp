#include "abi/coarray/form_team.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "abi/coarray/exchange.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/images.hpp"
#include "sinew/base/error.hpp"

namespace sinew::coarray {
namespace {

struct candidate {
  int index;  ///< wanted, from 1
  int rank;
};

/// Number and wanted index in one word.
std::uint64_t packed(int number, int index) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) << 32 |
         static_cast<std::uint32_t>(index);
}

void finish(int left, const char* statement, const outcome& out) {
  if (left == 0) {
    out.good();
  } else {
    fail(out, left, statement,
         left == stat::failed_image ? "an image has failed" : "an image has stopped");
  }
}

}  // namespace

team* form_team(int number, const int* new_index) {
  team& from = *the.now;
  const auto all = exchange(from, packed(number, new_index != nullptr ? *new_index : 0));
  std::vector<candidate> members;
  for (int m = 0; m < from.size(); ++m) {
    const std::uint64_t word = all[static_cast<std::size_t>(m)];
    if (static_cast<int>(word >> 32) == number) {
      members.push_back({static_cast<int>(word & 0xffffffff), from.rank_of(m + 1)});
    }
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const candidate& a, const candidate& b) { return a.index < b.index; });
  for (std::size_t i = 0; i < members.size() && new_index != nullptr; ++i) {
    if (members[i].index != static_cast<int>(i) + 1) {
      throw error("team " + std::to_string(number) + " has no image " + std::to_string(i + 1),
                  "NEW_INDEX= must give its images the numbers 1 to " +
                      std::to_string(members.size()) + ", each once");
    }
  }
  const std::uint64_t mine = the.engine->memory().allocate(rma::part::local, team::block_bytes());
  std::memset(the.engine->at({the.rank, mine}), 0, team::stages_at);
  const auto blocks = exchange_offsets(from, mine);
  std::vector<int> ranks;
  std::vector<std::uint64_t> places;
  int me = 0;
  for (const candidate& c : members) {
    me = c.rank == the.rank ? static_cast<int>(ranks.size()) : me;
    ranks.push_back(c.rank);
    places.push_back(blocks[static_cast<std::size_t>(c.rank)]);
  }
  return new team(&from, number, std::move(ranks), std::move(places), me);
}

void change_team(team& to, const outcome& out) {
  the.now = &to;
  finish(to.sync_all(), "change team", out);
}

void end_team(const outcome& out) {
  const int left = the.now->sync_all();
  if (the.now->parent() != nullptr) {
    the.now = the.now->parent();
  }
  finish(left, "end team", out);
}

void sync_team(team& with, const outcome& out) { finish(with.sync_all(), "sync team", out); }

int image_status(int image, const team& of) {
  if (!of.has(image)) {
    no_such_image(of, image, {}, "image_status");
  }
  switch (the.engine->load<std::uint64_t>(the.status_of(of.rank_of(image)))) {
    case image_words::stopped:
      return stat::stopped_image;
    case image_words::failed:
      return stat::failed_image;
    default:
      return 0;
  }
}

}  // namespace sinew::coarray
