// SPDX-License-Identifier: BSD-3-Clause
// Image control whose interface differs between versions only in where ERRMSG= is: up to GCC 15 the
// compiler passes sync's ERRMSG as the address of a pointer to it.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "abi/coarray/failure.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/traced.hpp"

using namespace sinew::coarray;

namespace {

outcome sync_outcome(int* stat, void* errmsg, std::size_t length) noexcept {
#if SINEW_COARRAY_ABI < 16
  return {stat, errmsg == nullptr ? nullptr : *static_cast<char**>(errmsg), length};
#else
  return {stat, static_cast<char*>(errmsg), length};
#endif
}

/// False after fail().
bool check_images(std::span<const int> images, const outcome& out) {
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!this_job.now->has(images[i])) {
      fail(out, stat::other, "sync images",
           "image " + std::to_string(images[i]) + " does not exist (the team has images 1 to " +
               std::to_string(this_job.now->size()) + ")");
      return false;
    }
  }
  if (images.size() > 1) {
    std::vector<int> sorted(images.begin(), images.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      fail(out, stat::duplicate_image, "sync images",
           "image " + std::to_string(*twice) + " is named twice");
      return false;
    }
  }
  return true;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_sync_all(int* stat, void* errmsg, std::size_t length) {
  ensure_open();
  const char* const statement = this_job.allocating ? "allocate" : "sync all";
  const traced here(sinew::trace::kind::sync, statement);
  this_job.allocating = false;
  const int code = this_job.now->sync_all();
  if (code != 0 && stat == nullptr && this_job.forgiving) [[unlikely]] {
    this_job.forgiving = false;  // the program learns it from its next statement
    return;
  }
  this_job.forgiving = false;
  finish(sync_outcome(stat, errmsg, length), code, statement);
}

void _gfortran_caf_sync_images(int count, int* images, int* stat, void* errmsg,
                               std::size_t length) {
  const traced here(sinew::trace::kind::sync, "sync images", count == 1 ? *images : 0);
  const outcome out = sync_outcome(stat, errmsg, length);
  if (count < 0) {
    std::vector<int> all(static_cast<std::size_t>(this_job.now->size()));
    std::iota(all.begin(), all.end(), 1);
    finish(out, this_job.now->sync_images(all), "sync images");
    return;
  }
  const std::span<const int> named(images, static_cast<std::size_t>(count));
  if (check_images(named, out)) [[likely]] {
    finish(out, this_job.now->sync_images(named), "sync images");
  }
}

void _gfortran_caf_sync_memory(int* stat, void* errmsg, std::size_t length) {
  ensure_open();
  const traced here(sinew::trace::kind::sync, "sync memory");
  this_job.engine->flush_all();
  sync_outcome(stat, errmsg, length).good();
}

}  // extern "C"
#pragma GCC visibility pop
