// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/check/bytes_of_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/type.hpp"

namespace sinew::mpi::check {

void bytes_of_buffer::add(const void* base, std::ptrdiff_t at, MPI_Count count, MPI_Datatype type,
                          bool in_extents) {
  constexpr std::size_t most_ranges = 10'000;
  const layout::datatype* const layout = layout_if_usable(type);
  if (count <= 0 || base == MPI_IN_PLACE || layout == nullptr) {
    return;
  }
  const layout::datatype& t = *layout;
  const auto begin = reinterpret_cast<std::uintptr_t>(base) +
                     static_cast<std::uintptr_t>(in_extents ? at * t.extent() : at);
  const auto n = static_cast<std::size_t>(count);
  if (t.size() == 0) {
    return;
  }
  if (t.dense()) {
    ranges_.emplace_back(begin, begin + n * t.size());
    return;
  }
  // Of a type of many parts not all instances are walked through.
  const std::size_t walked = std::min(n, most_ranges / std::max<std::size_t>(t.elements(), 1) + 1);
  layout::for_each_run(t, walked, [&](std::ptrdiff_t offset, std::size_t bytes) {
    const std::uintptr_t from = begin + static_cast<std::uintptr_t>(offset);
    if (ranges_.size() < most_ranges) {
      ranges_.emplace_back(from, from + bytes);
    }
  });
}

bytes_of_buffer::bytes_of_buffer(const void* base, MPI_Count count, MPI_Datatype type) {
  add(base, 0, count, type, false);
}

bytes_of_buffer::bytes_of_buffer(const void* base, int n, const MPI_Count* counts,
                                 const MPI_Aint* displacements, MPI_Datatype type) {
  for (int i = 0; base != MPI_IN_PLACE && counts != nullptr && i < n; ++i) {
    add(base, displacements[i], counts[i], type, true);
  }
}

bytes_of_buffer::bytes_of_buffer(const void* base, int n, const MPI_Count* counts,
                                 const MPI_Aint* displacements, const MPI_Datatype* types) {
  for (int i = 0; base != MPI_IN_PLACE && counts != nullptr && i < n; ++i) {
    add(base, displacements[i], counts[i], types[i], false);
  }
}

std::uint64_t bytes_of_buffer::hash() const noexcept {
  std::uint64_t all = 0x9e3779b97f4a7c15;
  const auto mix = [&all](std::uint64_t word) {
    all = (all ^ word) * 0xff51afd7ed558ccd;
    all ^= all >> 32;
  };
  for (const auto& [begin, end] : ranges_) {
    const auto* at = reinterpret_cast<const std::byte*>(begin);
    for (std::size_t left = end - begin; left != 0;) {
      std::uint64_t word = 0;
      const std::size_t n = std::min(left, sizeof word);
      std::memcpy(&word, at, n);
      mix(word);
      at += n;
      left -= n;
    }
  }
  return all;
}

bool bytes_of_buffer::meet(const bytes_of_buffer& other) const {
  std::vector<range> a = ranges_, b = other.ranges_;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  // Of two that do not meet, the one that ends first meets none of the other's that follow.
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (x->first < y->second && y->first < x->second) {
      return true;
    }
    ++(x->second <= y->first ? x : y);
  }
  return false;
}

}  // namespace sinew::mpi::check
