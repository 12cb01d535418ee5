// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/record_call.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <unordered_map>
#include <utility>

#include "abi/coarray/trial.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coarray {
namespace {

using word = std::uint64_t;
constexpr std::size_t word_bytes = sizeof(word);

// --- records in memory: what any C compiler does with a struct of that size ---

template <std::size_t Bytes>
struct blob {
  word words[Bytes / word_bytes];
};

template <std::size_t Bytes>
void call_blobs(void* function, void* result, const void* a, const void* b) noexcept {
  blob<Bytes> x;
  blob<Bytes> y;
  std::memcpy(&x, a, Bytes);
  std::memcpy(&y, b, Bytes);
  const blob<Bytes> z = reinterpret_cast<blob<Bytes> (*)(blob<Bytes>, blob<Bytes>)>(function)(x, y);
  std::memcpy(result, &z, Bytes);
}

using blob_call = void (*)(void*, void*, const void*, const void*) noexcept;
template <std::size_t... I>
constexpr auto blob_calls(std::index_sequence<I...>) noexcept {
  return std::array<blob_call, sizeof...(I)>{call_blobs<(I + 3) * word_bytes>...};
}
constexpr auto by_words = blob_calls(std::make_index_sequence<most_by_value / word_bytes - 2>{});
static_assert(most_by_value % word_bytes == 0 && by_words.size() == most_by_value / word_bytes - 2);

void call_in_memory(void* function, bool by_value, std::size_t bytes, void* result, const void* a,
                    const void* b) noexcept {
  if (!by_value) {
    reinterpret_cast<void (*)(void*, const void*, const void*)>(function)(result, a, b);
    return;
  }
  const std::size_t words = (bytes + word_bytes - 1) / word_bytes;
  SINEW_ASSERT(words >= 3 && words - 3 < by_words.size());
  std::array<word, most_by_value / word_bytes> x{};
  std::array<word, most_by_value / word_bytes> y{};
  std::array<word, most_by_value / word_bytes> z{};
  std::memcpy(x.data(), a, bytes);
  std::memcpy(y.data(), b, bytes);
  by_words[words - 3](function, z.data(), x.data(), y.data());
  std::memcpy(result, z.data(), bytes);
}

// --- records in registers ---

struct pair {
  word first = 0;
  word second = 0;
};

/// What a call leaves where results may be.
struct left_behind {
  word integer[2];
  word real[2];
};

#if defined(__x86_64__)
constexpr bool has_registers = true;

left_behind call_raw(void* function, const word (&integers)[4], const word (&reals)[4]) noexcept {
  register word rdi asm("rdi") = integers[0];
  register word rsi asm("rsi") = integers[1];
  register word rdx asm("rdx") = integers[2];
  register word rcx asm("rcx") = integers[3];
  register word rax asm("rax") = 0;
  left_behind found;
  const word* r = reals;
  double x0;
  double x1;
  // The stack is moved out of the way of what the compiler may keep below it.
  asm volatile(
      "movq 0(%[r]), %%xmm0\n\tmovq 8(%[r]), %%xmm1\n\t"
      "movq 16(%[r]), %%xmm2\n\tmovq 24(%[r]), %%xmm3\n\t"
      "movq %%rsp, %%r12\n\tsubq $128, %%rsp\n\tandq $-16, %%rsp\n\t"
      "call *%[f]\n\t"
      "movq %%r12, %%rsp\n\t"
      "movsd %%xmm0, %[x0]\n\tmovsd %%xmm1, %[x1]\n\t"
      : "+r"(rdi), "+r"(rsi), "+r"(rdx), "+r"(rcx), "+r"(rax), [x0] "=m"(x0), [x1] "=m"(x1)
      : [r] "b"(r), [f] "r"(function)
      : "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
        "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
  found.integer[0] = rax;
  found.integer[1] = rdx;
  std::memcpy(&found.real[0], &x0, sizeof(word));
  std::memcpy(&found.real[1], &x1, sizeof(word));
  return found;
}
#else
constexpr bool has_registers = false;
left_behind call_raw(void*, const word (&)[4], const word (&)[4]) noexcept { return {}; }
#endif

bool first_is_real(parts how) noexcept {
  return how == parts::real || how == parts::real_real || how == parts::real_integer;
}
bool second_is_real(parts how) noexcept {
  return how == parts::real_real || how == parts::integer_real;
}

/// By the rule of the System V interface: each class takes its registers in turn.
left_behind call_with(void* function, bool by_value, std::size_t bytes, parts how, const pair& a,
                      const pair& b) noexcept {
  SINEW_EXPECT(how != parts::memory && how != parts::unknown && bytes <= sizeof(pair));
  word integers[4] = {};
  word reals[4] = {};
  if (!by_value) {
    integers[0] = reinterpret_cast<word>(&a);
    integers[1] = reinterpret_cast<word>(&b);
    return call_raw(function, integers, reals);
  }
  std::size_t i = 0;
  std::size_t r = 0;
  for (const pair* each : {&a, &b}) {
    (first_is_real(how) ? reals[r++] : integers[i++]) = each->first;
    if (bytes > word_bytes) {
      (second_is_real(how) ? reals[r++] : integers[i++]) = each->second;
    }
  }
  SINEW_ASSERT(i <= 4 && r <= 4);
  return call_raw(function, integers, reals);
}

pair result_in(const left_behind& found, parts how) noexcept {
  pair p;
  p.first = first_is_real(how) ? found.real[0] : found.integer[0];
  p.second = second_is_real(how) ? found.real[first_is_real(how) ? 1 : 0]
                                 : found.integer[first_is_real(how) ? 0 : 1];
  return p;
}

/// Read as two numbers of 4 bytes or one of 8, integer or real, it is neither NaN nor denormal.
constexpr word sample = 0x3ff8'0000'3fc0'0000;

struct question {
  void* function;
  bool by_value;
  std::size_t bytes;
};

bool fits(const question& q, parts how) noexcept {
  const auto result = [&](const pair& v) {
    return result_in(call_with(q.function, q.by_value, q.bytes, how, v, v), how);
  };
  const bool two = q.bytes > word_bytes;
  const pair plain = result({sample, two ? sample : 0});
  const pair other_first = result({sample + 2, two ? sample : 0});
  if (other_first.first == plain.first) {
    return false;
  }
  return !two || result({sample, sample + 2}).second != plain.second;
}

parts find_parts(const question& q) noexcept {
  constexpr parts of_one[] = {parts::integer, parts::real};
  constexpr parts of_two[] = {parts::integer_integer, parts::real_real, parts::integer_real,
                              parts::real_integer};
  const pair v{sample, sample};
  parts found = parts::unknown;
  for (const parts how :
       q.bytes > word_bytes ? std::span<const parts>(of_two) : std::span<const parts>(of_one)) {
    if (!fits(q, how)) {
      continue;
    }
    const pair now = result_in(call_with(q.function, q.by_value, q.bytes, how, v, v), how);
    if (found != parts::unknown) {
      // Two ways that give the same: one is a copy on the way to the other.
      const pair before = result_in(call_with(q.function, q.by_value, q.bytes, found, v, v), found);
      if (std::memcmp(&now, &before, q.bytes) != 0) {
        return parts::unknown;
      }
      continue;
    }
    found = how;
  }
  return found;
}

}  // namespace

parts parts_of(void* function, bool by_value, std::size_t bytes) {
  if (bytes > 2 * word_bytes) {
    return by_value && bytes > most_by_value ? parts::unknown : parts::memory;
  }
  static auto& known = *new std::unordered_map<void*, parts>;
  const auto [at, fresh] = known.try_emplace(function, parts::unknown);
  if (fresh && has_registers) {
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
  if (how == parts::memory) {
    call_in_memory(function, by_value, bytes, result, a, b);
    return;
  }
  pair x;
  pair y;
  std::memcpy(&x, a, bytes);
  std::memcpy(&y, b, bytes);
  const pair z = result_in(call_with(function, by_value, bytes, how, x, y), how);
  std::memcpy(result, &z, bytes);
}

}  // namespace sinew::coarray
