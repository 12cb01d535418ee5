// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/gather_texts.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>

namespace sinew::mpi {

std::vector<std::string> gather_texts(coll::participant all, const std::string& mine) {
  const bool first = all.comm.rank() == 0;
  const auto ranks = static_cast<std::size_t>(first ? all.comm.size() : 0);
  const layout::datatype& number = layout::of(layout::element::i64);
  const layout::datatype& byte = layout::of(layout::element::byte);
  auto length = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> lengths(ranks);
  if (coll::gather(all, {&length, 1, &number}, coll::buffer{lengths.data(), 1, &number}, 0) !=
      p2p::fault::none) {
    return {};
  }
  std::vector<std::ptrdiff_t> counts(lengths.begin(), lengths.end());
  std::vector<std::ptrdiff_t> begins(ranks);
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), std::ptrdiff_t{0});
  std::string text(first ? static_cast<std::size_t>(begins.back() + counts.back()) : 0, ' ');
  const coll::parts to{text.data(), counts.data(), begins.data(), &byte};
  if (coll::gather(all, {const_cast<char*>(mine.data()), mine.size(), &byte}, to, 0) !=
      p2p::fault::none) {
    return {};
  }
  std::vector<std::string> texts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    texts[r] =
        text.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(counts[r]));
  }
  return texts;
}

}  // namespace sinew::mpi
