// SPDX-License-Identifier: BSD-3-Clause
// failed_images, stopped_images and random_init. The same in all versions.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "abi/coarray/collective.hpp"
#include "abi/coarray/failure.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/random.hpp"

using namespace sinew::coarray;

extern "C" {
/// libgfortran's.
[[gnu::weak]] void _gfortran_random_seed_i4(std::int32_t* size, descriptor* put, descriptor* get);
}

namespace {

/// An array as the value of a function: the compiler frees its memory.
void list_images(descriptor& result, team* of, const int* kind, std::uint64_t status) {
  const team& t = of != nullptr ? *of : *this_job.now;
  std::vector<int> found;
  for (int image = 1; image <= t.size(); ++image) {
    if (this_job.engine->load<std::uint64_t>(this_job.status_of(t.rank_of(image))) == status) {
      found.push_back(image);
    }
  }
  const std::size_t bytes = kind != nullptr ? static_cast<std::size_t>(*kind) : 4;
  auto* memory = static_cast<std::byte*>(std::malloc(found.size() * bytes + 1));
  if (memory == nullptr) {
    die("failed_images or stopped_images", "no memory");
  }
  const conversion convert({type::integer, static_cast<int>(bytes), bytes}, {type::integer, 4, 4});
  for (std::size_t i = 0; i < found.size(); ++i) {
    convert(memory + i * bytes, &found[i]);
  }
  result.base = memory;
  result.offset = 0;
  result.element = {bytes, 0, 1, type::integer, 0};
  result.span = static_cast<sinew::coarray::index>(bytes);
  // The compiler takes the lower bound of such a result for 0.
  result.dim[0] = {1, 0, static_cast<sinew::coarray::index>(found.size()) - 1};
}

descriptor seed_array(std::vector<std::int32_t>& seed) {
  descriptor d{};
  d.base = seed.data();
  d.offset = static_cast<std::size_t>(-1);
  d.element = {4, 0, 1, type::integer, 0};
  d.span = 4;
  d.dim[0] = {1, 1, static_cast<sinew::coarray::index>(seed.size())};
  return d;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_failed_images(descriptor* result, team** of, int* kind) {
  list_images(*result, of != nullptr ? *of : nullptr, kind, image_words::failed);
}

void _gfortran_caf_stopped_images(descriptor* result, team** of, int* kind) {
  list_images(*result, of != nullptr ? *of : nullptr, kind, image_words::stopped);
}

/// RANDOM_INIT: the same numbers in each run or not; the same on all images or not.
void _gfortran_caf_random_init(bool repeatable, bool image_distinct) {
  if (_gfortran_random_seed_i4 == nullptr) {
    die("random_init", "_gfortran_caf_random_init needs libgfortran, which is not in this program");
  }
  std::int32_t size = 0;
  _gfortran_random_seed_i4(&size, nullptr, nullptr);
  std::vector<std::int32_t> seed(static_cast<std::size_t>(size));
  descriptor d = seed_array(seed);
  sinew::random_generator numbers((repeatable ? 20'180'725 : sinew::unpredictable_word()) +
                                  (image_distinct ? this_job.rank.index() : 0));
  for (std::int32_t& each : seed) {
    each = static_cast<std::int32_t>(numbers());
  }
  if (!repeatable && !image_distinct && broadcast(d, 1) != 0) {
    die("random_init", "an image has left");
  }
  _gfortran_random_seed_i4(nullptr, &d, nullptr);
}

}  // extern "C"
#pragma GCC visibility pop
