// SPDX-License-Identifier: BSD-3-Clause
// Collective subroutines: the same in all versions.
#include "abi/coarray/collective.hpp"
#include "abi/coarray/failure.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/wide_real.hpp"
#include "sinew/base/check.hpp"

using namespace sinew::coarray;

namespace {

/// The kind is not passed: it follows from type and size, but for the reals of 16 bytes.
element element_of(const descriptor& a, std::size_t characters) noexcept {
  const std::size_t bytes = a.element.bytes;
  int kind = static_cast<int>(bytes);
  if (a.element.type == type::complex) {
    kind /= 2;
  } else if (a.element.type == type::character) {
    kind = characters != 0 && bytes == 4 * characters ? 4 : 1;
  }
  return {a.element.type, kind, bytes};
}

/// All images together find out whether these are REAL(10) or REAL(16).
int kind_of_wide(descriptor& a) {
  SINEW_EXPECT(a.element.bytes == 16 || a.element.bytes == 32);
  wide_evidence seen;
  each_element(a, [&](std::byte* at) {
    for (std::size_t part = 0; part < a.element.bytes; part += 16) {
      seen.look_at(at + part);
    }
  });
  descriptor d{};
  d.base = &seen;
  d.element = {8, 0, 1, type::integer, 0};
  d.span = 8;
  d.dim[0] = {1, 1, 2};
  (void)reduce(d, intrinsic_combiner(reduction::sum, {type::integer, 8, 8}), 0);
  return seen.verdict() == wide_format::x87 ? 10 : 16;
}

/// gfortran 12 passes ERRMSG= by value if it is a variable of its own (its dump says `text`, not
/// `&text`): what comes for the address is then the next argument, a length.
outcome outcome_of(int* stat, char* errmsg, std::size_t length) noexcept {
  constexpr std::uintptr_t least_address = 1 << 20;
  return reinterpret_cast<std::uintptr_t>(errmsg) < least_address ? outcome{stat}
                                                                  : outcome{stat, errmsg, length};
}

void standard(descriptor& a, reduction op, int result_image, const outcome& out,
              const char* statement, std::size_t characters) {
  if (result_image != 0 && rank_of(*this_job.now, result_image, out, statement) < 0) {
    return;
  }
  const sinew::coarray::statement here(statement, result_image);
  guarded(out, statement, [&] {
    element e = element_of(a, characters);
    if ((e.type == type::real && e.bytes == 16) || (e.type == type::complex && e.bytes == 32)) {
      e.kind = kind_of_wide(a);
    }
    finish(out, reduce(a, intrinsic_combiner(op, e), result_image), statement);
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_co_sum(descriptor* a, int result_image, int* stat, char* errmsg,
                          std::size_t length) {
  standard(*a, reduction::sum, result_image, outcome_of(stat, errmsg, length), "co_sum", 0);
}

void _gfortran_caf_co_min(descriptor* a, int result_image, int* stat, char* errmsg, int characters,
                          std::size_t length) {
  standard(*a, reduction::min, result_image, outcome_of(stat, errmsg, length), "co_min",
           static_cast<std::size_t>(characters));
}

void _gfortran_caf_co_max(descriptor* a, int result_image, int* stat, char* errmsg, int characters,
                          std::size_t length) {
  standard(*a, reduction::max, result_image, outcome_of(stat, errmsg, length), "co_max",
           static_cast<std::size_t>(characters));
}

void _gfortran_caf_co_reduce(descriptor* a, void* function, int flags, int result_image, int* stat,
                             char* errmsg, int characters, std::size_t length) {
  const outcome out = outcome_of(stat, errmsg, length);
  if (result_image != 0 && rank_of(*this_job.now, result_image, out, "co_reduce") < 0) {
    return;
  }
  const statement here("co_reduce", result_image);
  guarded(out, "co_reduce", [&] {
    const auto n = static_cast<std::size_t>(characters);
    finish(out, reduce(*a, user_combiner(function, flags, element_of(*a, n), n), result_image),
           "co_reduce");
  });
}

void _gfortran_caf_co_broadcast(descriptor* a, int source_image, int* stat, char* errmsg,
                                std::size_t length) {
  const outcome out = outcome_of(stat, errmsg, length);
  if (rank_of(*this_job.now, source_image, out, "co_broadcast") < 0) {
    return;
  }
  const statement here("co_broadcast", source_image);
  guarded(out, "co_broadcast", [&] { finish(out, broadcast(*a, source_image), "co_broadcast"); });
}

}  // extern "C"
#pragma GCC visibility pop
