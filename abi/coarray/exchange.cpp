// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/exchange.hpp"

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coarray {

// Each member writes its word at a place of its own, since the stages of the last collective may
// still be read by others. After the first barrier all words are written, after the second all have
// been read.
std::vector<std::uint64_t> exchange(team& t, std::uint64_t word) {
  this_job.engine->store<std::uint64_t>(t.at(t.me(), team::word_at), word);
  if (t.sync_all() == stat::stopped_image) {
    throw image_left(stat::stopped_image);
  }
  std::vector<std::uint64_t> words;
  words.reserve(static_cast<std::size_t>(t.size()));
  for (int m = 0; m < t.size(); ++m) {
    words.push_back(this_job.engine->load<std::uint64_t>(t.at(m, team::word_at)));
  }
  SINEW_ASSERT(words[static_cast<std::size_t>(t.me())] == word);
  (void)t.sync_all();
  return words;
}

std::vector<std::uint64_t> exchange_offsets(team& t, std::uint64_t offset) {
  SINEW_EXPECT(offset != 0);
  std::vector<std::uint64_t> by_rank(static_cast<std::size_t>(this_job.size), 0);
  const std::vector<std::uint64_t> words = exchange(t, offset);
  for (int m = 0; m < t.size(); ++m) {
    by_rank[(t.ranks()[static_cast<std::size_t>(m)]).index()] = words[static_cast<std::size_t>(m)];
  }
  SINEW_ENSURE(by_rank[this_job.rank.index()] == offset);
  return by_rank;
}

}  // namespace sinew::coarray
