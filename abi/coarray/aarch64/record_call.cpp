// SPDX-License-Identifier: BSD-3-Clause
// By the procedure call standard for arm64 (AAPCS64): up to four reals of one kind travel in a
// register each, other records of up to 16 bytes in integer registers; for longer ones the caller
// passes addresses of copies, and x8 says where the result belongs.
#include "abi/coarray/record_call.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "abi/coarray/trial.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coarray {
namespace {

using word = std::uint64_t;
constexpr std::size_t word_bytes = sizeof(word);
constexpr std::size_t most_in_integers = 2 * word_bytes;
constexpr std::size_t most_reals = 4;
constexpr std::size_t most_in_reals = most_reals * 16;

struct alignas(16) vector_register {
  word half[2];
};
struct arguments {
  word integer[4];
  void* result;
  vector_register real[2 * most_reals];
};
/// What a call leaves where results may be.
struct left_behind {
  word integer[2];
  vector_register real[most_reals];
};

left_behind call_raw(void* function, const arguments& in) noexcept {
  register word x0 asm("x0") = in.integer[0];
  register word x1 asm("x1") = in.integer[1];
  register word x2 asm("x2") = in.integer[2];
  register word x3 asm("x3") = in.integer[3];
  register void* x8 asm("x8") = in.result;
  left_behind out;
  // The operands outlast the call: all registers that it may change are named.
  asm volatile(
      "ldp q0, q1, [%[in]]\n\tldp q2, q3, [%[in], #32]\n\t"
      "ldp q4, q5, [%[in], #64]\n\tldp q6, q7, [%[in], #96]\n\t"
      "blr %[f]\n\t"
      "stp q0, q1, [%[out]]\n\tstp q2, q3, [%[out], #32]\n\t"
      : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x8)
      : [in] "r"(in.real), [f] "r"(function), [out] "r"(out.real)
      : "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",
        "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
        "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
        "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
  out.integer[0] = x0;
  out.integer[1] = x1;
  return out;
}

/// Bytes of each real of a record of reals; 0 of others.
std::size_t real_bytes(parts how) noexcept {
  return how == parts::floats ? 4 : how == parts::doubles ? 8 : how == parts::quads ? 16 : 0;
}

bool is_possible(parts how, std::size_t bytes) noexcept {
  const std::size_t each = real_bytes(how);
  return each == 0 ? bytes <= most_in_integers : bytes % each == 0 && bytes / each <= most_reals;
}

word address(const void* of) noexcept { return reinterpret_cast<word>(of); }

/// result = function(a, b). All ways at once as far as arguments go: they use other registers.
void call_as(void* function, bool by_value, std::size_t bytes, parts how, void* result,
             const void* a, const void* b) noexcept {
  arguments in{};
  in.result = result;
  alignas(16) std::array<std::byte, most_by_value> x;  // the function's own: it may write there
  alignas(16) std::array<std::byte, most_by_value> y;
  const std::size_t each = real_bytes(how);
  const std::size_t reals = each == 0 ? 0 : bytes / each;
  SINEW_EXPECT(reals <= most_reals);
  if (!by_value) {
    in.integer[0] = address(a);
    in.integer[1] = address(b);
  } else if (bytes > most_in_integers) {
    SINEW_EXPECT(bytes <= most_by_value);
    std::memcpy(x.data(), a, bytes);
    std::memcpy(y.data(), b, bytes);
    in.integer[0] = address(x.data());
    in.integer[1] = address(y.data());
  } else {
    std::memcpy(in.integer, a, bytes);
    std::memcpy(in.integer + (bytes > word_bytes ? 2 : 1), b, bytes);
  }
  for (std::size_t i = 0; by_value && i < reals; ++i) {
    std::memcpy(&in.real[i], static_cast<const std::byte*>(a) + i * each, each);
    std::memcpy(&in.real[reals + i], static_cast<const std::byte*>(b) + i * each, each);
  }
  const left_behind out = call_raw(function, in);
  for (std::size_t i = 0; i < reals; ++i) {
    std::memcpy(static_cast<std::byte*>(result) + i * each, &out.real[i], each);
  }
  if (how == parts::integer) {
    std::memcpy(result, out.integer, bytes);
  }
}

// --- which it is ---

struct question {
  void* function;
  bool by_value;
  std::size_t bytes;
};
using record = std::array<std::uint32_t, most_in_reals / sizeof(std::uint32_t)>;

/// Read as numbers of 4, 8 or 16 bytes, integer or real, they are neither NaN nor denormal.
record samples(std::uint32_t more) noexcept {
  record all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = (i % 2 == 0 ? 0x3fc0'0000u : 0x3ff8'0000u) + more;
  }
  return all;
}

record result_of(const question& q, parts how, const record& a, const record& b) noexcept {
  record result{};
  call_as(q.function, q.by_value, q.bytes, how, result.data(), a.data(), b.data());
  return result;
}

bool same(const question& q, const record& a, const record& b) noexcept {
  return std::memcmp(a.data(), b.data(), q.bytes) == 0;
}

/// Arguments by value lie where results do. What a call has left there depends on the first alone,
/// while CO_REDUCE's function is commutative.
bool is_commutative(const question& q, parts how) noexcept {
  const record v = samples(0);
  const record w = samples(6);
  return same(q, result_of(q, how, v, w), result_of(q, how, w, v));
}

/// Each half of a real of the result, or each integer register, changes with that of the arguments.
bool fits(const question& q, parts how) noexcept {
  const std::size_t step = how == parts::integer ? word_bytes : sizeof(record::value_type);
  const record plain = result_of(q, how, samples(0), samples(0));
  for (std::size_t at = 0; at < q.bytes; at += step) {
    record other = samples(0);
    const std::size_t i = at / sizeof(record::value_type);
    other[i] += 2;
    const record changed = result_of(q, how, other, other);
    if (std::memcmp(&changed[i], &plain[i], std::min(step, q.bytes - at)) == 0) {
      return false;
    }
  }
  return !q.by_value || is_commutative(q, how);
}

bool agree(const question& q, parts one, parts another) noexcept {
  const record v = samples(0);
  const record w = samples(6);
  const auto alike = [&](const record& a, const record& b) {
    return same(q, result_of(q, one, a, b), result_of(q, another, a, b));
  };
  return alike(v, v) && alike(v, w) && alike(w, v);
}

parts find_parts(const question& q) noexcept {
  // Whatever is no result in memory leaves that as it was: zeros.
  if (q.bytes > most_in_integers &&
      result_of(q, parts::memory, samples(0), samples(0)) != record{}) {
    return parts::memory;
  }
  parts found = parts::unknown;
  for (const parts how : {parts::floats, parts::doubles, parts::quads, parts::integer}) {
    if (!is_possible(how, q.bytes) || !fits(q, how)) {
      continue;
    }
    if (found == parts::unknown) {
      found = how;
    } else if (!agree(q, found, how)) {  // else one is a copy on the way to the other
      return parts::unknown;
    }
  }
  return found;
}

}  // namespace

parts parts_of(void* function, bool by_value, std::size_t bytes) {
  if (by_value && bytes > most_by_value) {
    return parts::unknown;
  }
  if (bytes > most_in_reals) {
    return parts::memory;
  }
  static auto& known = *new std::unordered_map<void*, parts>;
  const auto [at, fresh] = known.try_emplace(function, parts::unknown);
  if (fresh) {
    question q{function, by_value, bytes};
    const int answer = in_child(
        [](void* c) { return static_cast<int>(find_parts(*static_cast<question*>(c))); }, &q);
    SINEW_ASSERT(answer <= static_cast<int>(parts::unknown));
    at->second = answer < 0 ? parts::unknown : static_cast<parts>(answer);
  }
  return at->second;
}

void call_record(void* function, bool by_value, std::size_t bytes, parts how, void* result,
                 const void* a, const void* b) noexcept {
  SINEW_EXPECT(how != parts::unknown);
  call_as(function, by_value, bytes, how, result, a, b);
}

}  // namespace sinew::coarray
