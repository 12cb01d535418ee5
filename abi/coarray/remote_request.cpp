// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/remote_request.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "abi/coarray/collective.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/job.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/transfer.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/fabric/corrupt.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::coarray {
namespace {

/// What an image wants of another one: what each message begins with, and what `word` is.
struct wanted {
  enum class action : std::uint64_t {
    perform,  ///< a request, behind this or, if `word` is not 0, there, in memory to be freed
    reserve,  ///< the bytes of a request
    release,  ///< what is to be freed
  };
  action what;
  std::uint64_t word;
};

/// Written by the image that asks; behind it lie add_data and the source.
struct alignas(16) request {
  remote_call call;
  int hash;
  std::uint64_t object;  ///< in the heap of the image that carries it out
  std::size_t within;    ///< what is found lies in so many bytes from there on; 0: anywhere
  std::size_t element_bytes;
  descriptor source;
  descriptor array;
  std::size_t source_at;  ///< after this struct

  [[nodiscard]] std::byte* after() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// What each answer begins with; behind it, if there is room, what was fetched.
struct results {
  bool came = false;     ///< else the image has died
  bool known = false;    ///< there was such a function
  bool outside = false;  ///< not `within`: at `found_at` from the object
  bool made = false;     ///< `elsewhere` is for free()
  std::int32_t present = 0;
  std::size_t bytes = 0;        ///< of what was fetched
  std::uint64_t elsewhere = 0;  ///< where it is in the other process, if there was no room; of
                                ///< `reserve`: the memory
  std::ptrdiff_t found_at = 0;
  std::size_t dst_length = 0;
  descriptor array{};
};

// They are written by one image and read by another.
static_assert(std::is_trivially_copyable_v<request> && std::is_trivially_copyable_v<results>);
/// For what was fetched: at least, if anything is.
constexpr std::size_t least_room = 1024;
constexpr std::size_t aligned(std::size_t n) noexcept { return (n + 63) / 64 * 64; }

// --- the image that carries it out ---

std::size_t bytes_of_result(const remote_call& a, std::size_t element_bytes) noexcept {
  if (a.what == role::fetch_array) {
    return bytes_of(*a.array);
  }
  return a.what == role::fetch ? element_bytes * (a.has_dst_length ? a.dst_length : 1) : 0;
}

void keep_result(const remote_call& a, results& r, std::span<std::byte> room) noexcept {
  if (r.bytes > room.size()) {
    r.elsewhere = reinterpret_cast<std::uintptr_t>(a.found);
    r.made = a.made;
    return;
  }
  if (r.bytes != 0) {
    std::memcpy(room.data(), a.found, r.bytes);
  }
  if (a.made) {
    std::free(a.found);
  }
}

void perform_request(request& q, results& r, std::span<std::byte> room) {
  remote_call& a = q.call;
  const int accessor = accessor_of(q.hash);
  r.known = accessor >= 0;
  if (!r.known) {
    return;
  }
  a.add_data = a.add_bytes != 0 ? q.after() : nullptr;
  if (a.what == role::store) {
    q.source.base = q.after() + q.source_at;
    a.source = a.source_is_array ? static_cast<const void*>(&q.source) : q.source.base;
  }
  a.array = a.what == role::fetch_array ? &q.array : nullptr;
  std::byte* const object = this_job.engine->at({this_job.rank, q.object});
  perform(accessor, a, object);
  r.present = a.present;
  r.dst_length = a.dst_length;
  r.bytes = bytes_of_result(a, q.element_bytes);
  copy_descriptor(r.array, q.array);
  if (q.within != 0 && a.what == role::fetch && !a.made) {
    r.found_at = static_cast<const std::byte*>(a.found) - object;
    r.outside = r.found_at < 0 || static_cast<std::size_t>(r.found_at) > q.within ||
                r.bytes > q.within - static_cast<std::size_t>(r.found_at);
  }
  if (!r.outside) {
    keep_result(a, r, room);
  }
}

/// Memory that is for free().
void* block_of(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

/// One that came in a message, whose data are not aligned, or lies in memory to be freed.
void perform_request(const wanted& w, std::span<const std::byte> behind, results& r,
                     std::span<std::byte> room) {
  void* block = reinterpret_cast<void*>(w.word);
  if (block == nullptr) {
    block = base::must_have_memory("reaching a component for another image",
                                   [&] { return block_of(behind.size()); });
    std::memcpy(block, behind.data(), behind.size());
  }
  perform_request(*static_cast<request*>(block), r, room);
  std::free(block);
}

void serve(job_rank source, std::span<const std::byte> data, std::span<std::byte> answer) noexcept {
  wanted w{};
  results r{.came = true};
  if (data.size() < sizeof w || (!answer.empty() && answer.size() < sizeof r)) [[unlikely]] {
    fabric::corrupt_peer(source, "a request to an image has a wrong size", data.size());
  }
  std::memcpy(&w, data.data(), sizeof w);
  switch (w.what) {
    case wanted::action::perform:
      perform_request(w, data.subspan(sizeof w), r, answer.subspan(sizeof r));
      break;
    case wanted::action::reserve:
      if (!answer.empty()) {  // else nobody would free it
        r.elsewhere = reinterpret_cast<std::uintptr_t>(std::malloc(w.word));
      }
      break;
    case wanted::action::release:
      std::free(reinterpret_cast<void*>(w.word));
      break;
  }
  if (!answer.empty()) {
    std::memcpy(answer.data(), &r, sizeof r);
  }
}  // NOLINT(clang-analyzer-unix.Malloc): the other image has the address now

// --- the image that asks ---

/// Element after element, with a descriptor that says so.
void pack_array(std::byte* to, const descriptor& from, descriptor& described) {
  each_element(from, [&](const std::byte* each) {
    std::memcpy(to, each, from.element.bytes);
    to += from.element.bytes;
  });
  copy_descriptor(described, from);
  index n = 1;
  for (int i = 0; i < described.rank(); ++i) {
    const index extent = described.dim[i].extent();
    described.dim[i].stride = n;
    n *= extent;
  }
  described.span = static_cast<index>(described.element.bytes);
  count_from_one(described);
}

std::size_t source_bytes(const remote_call& a, std::size_t element) noexcept {
  if (a.what != role::store) {
    return 0;
  }
  return a.source_is_array ? bytes_of(*static_cast<const descriptor*>(a.source))
                           : element * (a.has_src_length ? a.src_length : 1);
}

/// A whole message, which says all that the other image needs.
std::vector<std::byte> message_of(request q, std::size_t element_bytes) {
  const remote_call& a = q.call;
  const std::size_t source = source_bytes(a, element_bytes);
  q.element_bytes = element_bytes;
  q.source_at = aligned(a.add_bytes);
  std::vector<std::byte> all(sizeof(wanted) + sizeof q + q.source_at + source);
  std::byte* const after = all.data() + sizeof(wanted) + sizeof q;
  if (a.add_bytes != 0) {
    std::memcpy(after, a.add_data, a.add_bytes);
  }
  if (a.array != nullptr) {
    copy_descriptor(q.array, *a.array);
    q.array.base = nullptr;
  }
  if (a.what == role::store && a.source_is_array) {
    pack_array(after + q.source_at, *static_cast<const descriptor*>(a.source), q.source);
  } else if (source != 0) {
    std::memcpy(after + q.source_at, a.source, source);
  }
  const wanted perform{wanted::action::perform, 0};
  std::memcpy(all.data(), &perform, sizeof perform);
  std::memcpy(all.data() + sizeof perform, &q, sizeof q);
  return all;
}

/// The answer has `room` bytes behind its results.
std::vector<std::byte> ask(job_rank rank, std::span<const std::byte> data, results& r,
                           std::size_t room = 0) {
  SINEW_EXPECT(rank != this_job.rank);
  std::vector<std::byte> answer(sizeof r + room);
  if (!is_known_failed(rank)) {
    const rma::question one{data, answer};
    const pending there{.what = pending::sort::remote_request, .rank = rank};
    this_job.waiting = &there;
    this_job.engine->ask(rank, rma::service::coarrays, {&one, 1});
    this_job.waiting = nullptr;
    std::memcpy(&r, answer.data(), sizeof r);
  }
  if (!r.came) {
    throw error("image " + std::to_string(this_job.now->image_of(rank)) + " has failed",
                "it was to reach one of its components");
  }
  return answer;
}
std::span<const std::byte> bytes_of(const wanted& w) { return std::as_bytes(std::span(&w, 1)); }

/// Puts a request that is too long for a message there.
wanted put_there(job_rank rank, std::span<const std::byte> q) {
  results reserved;
  (void)ask(rank, bytes_of({wanted::action::reserve, q.size()}), reserved);
  if (reserved.elsewhere == 0) {
    throw error("image " + std::to_string(this_job.now->image_of(rank)) + " has no memory for " +
                    std::to_string(q.size()) + " bytes",
                "an access to one of its components needs them there");
  }
  this_job.engine->put(rma::outside::of(rank, reserved.elsewhere), q.data(), q.size());
  return {wanted::action::perform, reserved.elsewhere};
}

/// What was fetched, in memory of this process that is for free().
void* take_result(job_rank rank, const results& r, std::span<const std::byte> room) {
  void* const mine = block_of(r.bytes + 1);
  if (r.elsewhere == 0) {
    SINEW_ASSERT(r.bytes <= room.size());
    std::memcpy(mine, room.data(), r.bytes);
    return mine;
  }
  this_job.engine->get(mine, rma::outside::of(rank, r.elsewhere), r.bytes);
  if (r.made) {
    this_job.engine->tell(rank, rma::service::coarrays,
                          bytes_of({wanted::action::release, r.elsewhere}));
  }
  return mine;
}

}  // namespace

void serve_remote_requests() { rma::engine::serve(rma::service::coarrays, serve); }

void perform_there(int accessor, remote_call& a, rma::place object, std::size_t within,
                   std::size_t element_bytes, std::size_t room) {
  SINEW_EXPECT(object.rank != this_job.rank && object.offset != 0);
  const bool fetches = a.what == role::fetch || a.what == role::fetch_array;
  const std::size_t longest = this_job.engine->most_asked(object.rank);
  room = fetches ? std::min(std::max(room, least_room), longest - sizeof(results)) : 0;
  request q{};
  q.call = a;
  q.hash = hash_of(accessor);
  q.object = object.offset;
  q.within = within;
  const std::vector<std::byte> message = message_of(q, element_bytes);
  results r;
  std::vector<std::byte> answer;
  if (message.size() <= longest) {
    answer = ask(object.rank, message, r, room);
  } else {
    const wanted far = put_there(object.rank, std::span(message).subspan(sizeof(wanted)));
    answer = ask(object.rank, bytes_of(far), r, room);
  }
  if (!r.known) {
    throw error("the other image has not the compiler's function for this access",
                "all images must run the same program");
  }
  if (r.outside) {
    subscripts_outside({r.found_at, r.found_at}, element_bytes, within);
  }
  a.dst_length = r.dst_length;
  a.present = r.present;
  a.made = false;
  if (fetches) {
    a.found = take_result(object.rank, r, std::span(answer).subspan(sizeof r));
    a.made = true;
  }
  if (a.array != nullptr) {
    std::free(a.array->base);  // as the function does where it runs
    copy_descriptor(*a.array, r.array);
    a.array->base = a.found;
  }
}

}  // namespace sinew::coarray
