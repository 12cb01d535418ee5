// SPDX-License-Identifier: BSD-3-Clause
#include "match/vector_kernels.hpp"

namespace sinew::match {

vector_kernel_list vector_kernels() noexcept {
  static const vector_kernel known[] = {
      {"avx512", compare_avx512,
       __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0},
      {"avx2", compare_avx2, __builtin_cpu_supports("avx2") != 0},
      {"plain", compare_plain, true}};
  return {known, 3};
}

}  // namespace sinew::match
