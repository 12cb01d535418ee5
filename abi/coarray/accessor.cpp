// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/accessor.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/coarray/token.hpp"
#include "abi/coarray/trial.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/shared_memory.hpp"

namespace sinew::coarray {
namespace {

using fetcher = void (*)(void* add_data, const int* caller, void* buffer, std::int32_t* free_buffer,
                         void* source, void* token, std::size_t, std::size_t* dst_length,
                         const std::size_t* src_length);
using storer = void (*)(void* add_data, const int* caller, void* target, const void* source,
                        void* token, std::size_t, const std::size_t* dst_length,
                        const std::size_t* src_length);
using asker = void (*)(void* add_data, const int* caller, std::int32_t* result, void* source,
                       void* token, std::size_t);

struct entry {
  int hash;
  void* function;
  bool judged = false;
  bool follows = true;
};

struct registry {
  std::vector<entry> entries;
  std::unordered_map<int, int> by_hash;
};
registry& all() {
  static auto& it = *new registry;
  return it;
}

entry& entry_of(int accessor) {
  if (accessor < 0 || static_cast<std::size_t>(accessor) >= all().entries.size()) {
    throw error("the compiler names accessor " + std::to_string(accessor),
                "it has registered " + std::to_string(all().entries.size()));
  }
  return all().entries[static_cast<std::size_t>(accessor)];
}

// --- the trial ---

/// No address on x86-64 or arm64; as an integer positive and large, as bounds one element.
constexpr unsigned char poison = 0x5a;
constexpr std::size_t block_bytes = std::size_t{1} << 21;

enum class verdict : int { stays = 0, unknown = 1, follows = 2 };

/// `bytes` of poison, however many: one block mapped again and again.
std::byte* poisoned(std::size_t bytes, std::byte*& block) {
  const std::size_t wanted = (bytes + block_bytes) / block_bytes * block_bytes;
  boot::descriptor file;
  try {
    file = boot::make_shared_memory("trial");
  } catch (const std::exception&) {
    return nullptr;
  }
  if (::ftruncate(file.get(), block_bytes) != 0) {
    return nullptr;
  }
  void* const room = ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    return nullptr;
  }
  block = static_cast<std::byte*>(room);
  for (std::size_t at = 0; at < wanted; at += block_bytes) {
    if (::mmap(block + at, block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(),
               0) == MAP_FAILED) {
      return nullptr;
    }
  }
  SINEW_ASSERT(wanted > bytes);
  std::memset(block, poison, block_bytes);
  return block;
}

bool still_poisoned(const std::byte* block) noexcept {
  return std::all_of(block, block + block_bytes,
                     [](std::byte b) { return b == static_cast<std::byte>(poison); });
}

/// In the child. If the function did nothing, as for an array without elements, the verdict is
/// open.
verdict try_out(int accessor, remote_call a, std::size_t bytes) {
  std::byte* block = nullptr;
  std::byte* const object = poisoned(bytes, block);
  if (object == nullptr) {
    return verdict::unknown;
  }
  descriptor array;
  if (a.array != nullptr) {
    copy_descriptor(array, *a.array);
    array.base = nullptr;
    a.array = &array;
  }
  perform(accessor, a, object);
  switch (a.what) {
    case role::fetch:
      // An address that it has loaded and not used: this does.
      return *static_cast<volatile unsigned char*>(a.found) != 0 ? verdict::stays
                                                                 : verdict::unknown;
    case role::fetch_array:
      return bytes_of(array) != 0 ? verdict::stays : verdict::unknown;
    case role::store:
      return still_poisoned(block) ? verdict::unknown : verdict::stays;
    case role::ask:
      return verdict::stays;
  }
  return verdict::unknown;
}

verdict trial(int accessor, const remote_call& a, std::size_t bytes) {
  struct question {
    int accessor;
    const remote_call& call;
    std::size_t bytes;
  } asked{accessor, a, bytes};
  const int answer = in_child(
      [](void* c) {
        const auto& q = *static_cast<question*>(c);
        return static_cast<int>(try_out(q.accessor, q.call, q.bytes));
      },
      &asked);
  SINEW_ASSERT(answer <= static_cast<int>(verdict::follows));
  if (answer == died || answer == static_cast<int>(verdict::follows)) {
    return verdict::follows;
  }
  return answer == static_cast<int>(verdict::stays) ? verdict::stays : verdict::unknown;
}

}  // namespace

void add_accessor(int hash, void* function) {
  SINEW_EXPECT(function != nullptr);
  if (all().by_hash.emplace(hash, static_cast<int>(all().entries.size())).second) {
    all().entries.push_back({hash, function});
  }
  SINEW_ENSURE(accessor_of(hash) >= 0 && all().by_hash.size() == all().entries.size());
}

int accessor_of(int hash) noexcept {
  const auto found = all().by_hash.find(hash);
  return found == all().by_hash.end() ? -1 : found->second;
}

int hash_of(int accessor) { return entry_of(accessor).hash; }

void perform(int accessor, remote_call& a, std::byte* object) {
  void* const function = entry_of(accessor).function;
  void* at = object;
  descriptor shape;
  switch (a.given) {
    case form::object:
      break;
    case form::pointer_to_object:
      at = &object;
      break;
    case form::shape:
      copy_descriptor(shape, a.shape);
      shape.base = object;
      at = &shape;
      break;
  }
  token pseudo;  // for functions that fetch from `add_data` in turn
  pseudo.local = a.add_data;
  std::size_t* const dst_length = a.has_dst_length ? &a.dst_length : nullptr;
  const std::size_t* const src_length = a.has_src_length ? &a.src_length : nullptr;
  std::int32_t made = 0;
  switch (a.what) {
    case role::fetch:
      reinterpret_cast<fetcher>(function)(a.add_data, &a.caller, &a.found, &made, at, &pseudo, 0,
                                          dst_length, src_length);
      break;
    case role::fetch_array:
      reinterpret_cast<fetcher>(function)(a.add_data, &a.caller, a.array, &made, at, &pseudo, 0,
                                          dst_length, src_length);
      SINEW_ASSERT(a.array != nullptr);
      a.found = a.array->base;
      break;
    case role::store:
      SINEW_ASSERT(a.source != nullptr);
      reinterpret_cast<storer>(function)(a.add_data, &a.caller, at, a.source, &pseudo, 0,
                                         dst_length, src_length);
      break;
    case role::ask:
      reinterpret_cast<asker>(function)(a.add_data, &a.caller, &a.present, at, &pseudo, 0);
      break;
  }
  a.made = made != 0;
}

bool follows(int accessor, const remote_call& a, std::size_t bytes) {
  entry& e = entry_of(accessor);
  if (e.judged) [[likely]] {
    return e.follows;
  }
  const verdict v = trial(accessor, a, bytes);
  e.judged = v != verdict::unknown;
  e.follows = v != verdict::stays;
  return e.follows;
}

std::size_t bytes_of(const descriptor& d) noexcept {
  std::size_t n = d.element.bytes;
  for (int i = 0; i < d.rank(); ++i) {
    n *= static_cast<std::size_t>(d.dim[i].extent());
  }
  return n;
}

void copy_descriptor(descriptor& to, const descriptor& from) noexcept {
  std::memcpy(
      static_cast<void*>(&to), &from,
      offsetof(descriptor, dim) + sizeof(dimension) * static_cast<std::size_t>(from.rank()));
}

void count_from_one(descriptor& d) noexcept {
  index offset = 0;
  for (int i = 0; i < d.rank(); ++i) {
    d.dim[i].upper = d.dim[i].extent();
    d.dim[i].lower = 1;
    offset -= d.dim[i].stride;
  }
  d.offset = static_cast<std::size_t>(offset);
}

}  // namespace sinew::coarray
