// SPDX-License-Identifier: BSD-3-Clause
// GCC 15 and 16: put and get by functions that the compiler makes for each place of the program.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "abi/coarray/accessor.hpp"
#include "abi/coarray/failure.hpp"
#include "abi/coarray/form_team.hpp"
#include "abi/coarray/gfortran.hpp"
#include "abi/coarray/images.hpp"
#include "abi/coarray/registration.hpp"
#include "abi/coarray/remote_request.hpp"
#include "abi/coarray/token.hpp"
#include "abi/coarray/traced.hpp"
#include "abi/coarray/transfer.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"

using namespace sinew::coarray;
using sinew::job_rank;

namespace {

/// Of the team that is named by handle or number, or of the current one.
job_rank rank_in(int image, void** team_given, const int* team_number, const outcome& out,
                 const char* statement) {
  constexpr int no_such_team = 1;  // as gfortran's own library has it
  const team* t = this_job.now;
  if (team_given != nullptr && *team_given != nullptr) {
    if (!is_ancestor(*team_given)) {
      fail(out, no_such_team, statement, "TEAM= is neither the current team nor one around it");
      return -1;
    }
    t = static_cast<const team*>(*team_given);
  } else if (team_number != nullptr && *team_number != t->number()) {
    const auto members = members_of(*team_number);
    if (members.empty() || image < 1 || image > static_cast<int>(members.size())) {
      fail(out, no_such_team, statement,
           "there is no image " + std::to_string(image) + " of a team " +
               std::to_string(*team_number));
      return -1;
    }
    return members[static_cast<std::size_t>(image) - 1];
  }
  return rank_of(*t, image, out, statement);
}

/// What every call has.
remote_call call_of(role what, const descriptor* shape, void* add_data, std::size_t add_bytes) {
  remote_call a;
  a.what = what;
  if (shape != nullptr) {
    a.given = form::shape;
    copy_descriptor(a.shape, *shape);
  }
  a.caller = this_job.now->me() + 1;
  a.add_data = add_data;
  a.add_bytes = add_bytes;
  return a;
}

void set_lengths(remote_call& a, const std::size_t* dst, const std::size_t* src) noexcept {
  a.has_dst_length = dst != nullptr;
  a.dst_length = dst != nullptr ? *dst : 0;
  a.has_src_length = src != nullptr;
  a.src_length = src != nullptr ? *src : 0;
}

/// Where an element is the function has computed without asking; what it stores it has stored.
void check_found(const remote_call& a, const token& t, const std::byte* object, std::size_t bytes) {
  if (t.plain && a.what == role::fetch && !a.made && a.found != nullptr) {
    const std::ptrdiff_t at = static_cast<const std::byte*>(a.found) - object;
    check_inside({at, at}, bytes, t.bytes);
  }
}

/// Runs the function on mapped memory, or, if it needs more than that, on the other image.
void reach(int which, remote_call& a, const token& t, job_rank rank, std::size_t element_bytes,
           std::size_t room) {
  if (t.local != nullptr) {
    perform(which, a, static_cast<std::byte*>(t.local));
    return;
  }
  const sinew::rma::place object = t.at(rank);
  if (object.offset == 0) {
    throw sinew::error("the coarray is not allocated", "it has been deallocated");
  }
  std::byte* const here = this_job.engine->mapped(object);
  if (here != nullptr && (t.plain || rank == this_job.rank || !follows(which, a, t.bytes)))
      [[likely]] {
    perform(which, a, here);
    check_found(a, t, here, element_bytes);
  } else {
    perform_there(which, a, object, here == nullptr && t.plain ? t.bytes : 0, element_bytes, room);
  }
}

void release(const remote_call& a) noexcept {
  if (a.made) {
    std::free(a.found);
  }
}

/// One element, or text.
void fetch_one(int which, remote_call& a, const token& t, job_rank rank, std::size_t size,
               void** to, std::size_t* length, bool may_allocate) {
  reach(which, a, t, rank, size,
        size * (a.has_dst_length ? std::max(a.dst_length, a.src_length) : 1));
  const std::size_t n = length != nullptr ? a.dst_length * size : size;
  if (may_allocate && n != 0) {
    *to = std::realloc(*to, n);
    if (*to == nullptr) {
      throw std::bad_alloc();
    }
  }
  std::memcpy(*to, a.found, n);
  if (length != nullptr) {
    *length = a.dst_length;
  }
  release(a);
}

bool same_shape(const descriptor& a, const descriptor& b) noexcept {
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim[i].extent() != b.dim[i].extent()) {
      return false;
    }
  }
  return true;
}

/// The function writes in place if the shape is right, else it makes other memory.
void fetch_array(int which, remote_call& a, const token& t, job_rank rank, descriptor& to,
                 void** to_data, bool may_allocate) {
  descriptor array;
  copy_descriptor(array, to);
  void* const before = to.base;
  std::size_t room = 0;
  if (before != nullptr) {
    room = bytes_of(to);
    count_from_one(array);
    // What the compiler has on its stack must not be given to realloc(). Only where components
    // are followed can the shape be another one; from another node comes other memory.
    const bool in_place = t.plain && this_job.engine->mapped(t.at(rank)) != nullptr;
    array.base = in_place || may_allocate ? before : nullptr;
  }
  a.array = &array;
  reach(which, a, t, rank, to.element.bytes, room);
  if (array.base != before || !same_shape(array, to)) {
    if (before != nullptr && !may_allocate) {
      std::memcpy(before, array.base, std::min(room, bytes_of(array)));
      std::free(array.base);
    } else {
      copy_descriptor(to, array);
    }
  }
  if (to_data != nullptr) {
    *to_data = to.base;
  }
}

/// An array of this image that is about to be overwritten, piece by piece, by itself.
class own_copy {
 public:
  explicit own_copy(const descriptor& of) {
    copy_descriptor(copy_, of);
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
    for (int i = 0; i < of.rank(); ++i) {
      const std::ptrdiff_t last = (of.dim[i].extent() - 1) * of.dim[i].stride * of.step();
      (last < 0 ? low : high) += last;
    }
    const std::size_t bytes = static_cast<std::size_t>(high - low) + of.element.bytes;
    SINEW_ASSERT(low <= 0 && high >= 0);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::memcpy(memory_.get(), static_cast<const std::byte*>(of.base) + low, bytes);
    copy_.base = memory_.get() - low;
  }
  [[nodiscard]] const descriptor& it() const noexcept { return copy_; }

 private:
  descriptor copy_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_register_accessor(int hash, void* accessor) { add_accessor(hash, accessor); }

/// Comes after each batch of registrations; the table is ready at any time.
void _gfortran_caf_register_accessors_finish() {}

int _gfortran_caf_get_remote_function_index(int hash) { return accessor_of(hash); }

void _gfortran_caf_get_from_remote(void* token, const descriptor* src,
                                   const std::size_t* src_length, int image, std::size_t dst_size,
                                   void** dst_data, std::size_t* dst_length, descriptor* dst,
                                   bool may_realloc_dst, int which, void* add_data,
                                   std::size_t add_bytes, int* stat, void** team,
                                   int* team_number) {
  const outcome out{stat};
  constexpr const char* statement = "reference to another image";
  const job_rank rank = rank_in(image, team, team_number, out, statement);
  if (rank < 0) {
    return;
  }
  at_images({rank}, out, statement, [&] {
    const traced here(sinew::trace::kind::get, "get", image);
    remote_call a =
        call_of(dst == nullptr ? role::fetch : role::fetch_array, src, add_data, add_bytes);
    set_lengths(a, dst_length, src_length);
    if (dst == nullptr) {
      fetch_one(which, a, token_of(token), rank, dst_size, dst_data, dst_length, may_realloc_dst);
    } else {
      fetch_array(which, a, token_of(token), rank, *dst, dst_data, may_realloc_dst);
    }
  });
}

void _gfortran_caf_send_to_remote(void* token, descriptor* dst, const std::size_t* dst_length,
                                  int image, std::size_t src_size, const void* src_data,
                                  const std::size_t* src_length, const descriptor* src, int which,
                                  void* add_data, std::size_t add_bytes, int* stat, void** team,
                                  int* team_number) {
  const outcome out{stat};
  constexpr const char* statement = "assignment to another image";
  const job_rank rank = rank_in(image, team, team_number, out, statement);
  if (rank < 0) {
    return;
  }
  at_images({rank}, out, statement, [&] {
    const traced here(sinew::trace::kind::put, "put", image);
    remote_call a = call_of(role::store, dst, add_data, add_bytes);
    set_lengths(a, dst_length, src_length);
    a.source_is_array = src != nullptr;
    a.source = src != nullptr ? static_cast<const void*>(src) : src_data;
    std::unique_ptr<own_copy> copy;
    if (src != nullptr && rank == this_job.rank && bytes_of(*src) != 0) {
      copy = std::make_unique<own_copy>(*src);
      a.source = &copy->it();
    }
    reach(which, a, token_of(token), rank, src_size, 0);
  });
}

#if SINEW_COARRAY_ABI >= 16
void _gfortran_caf_transfer_between_remotes(
    void* dst_token, descriptor* dst, std::size_t* dst_length, int dst_image, int dst_which,
    void* dst_add_data, std::size_t dst_add_bytes, void* src_token, const descriptor* src,
    const std::size_t* src_length, int src_image, int src_which, void* src_add_data,
    std::size_t src_add_bytes, std::size_t src_size, bool scalar, int* dst_stat, int* src_stat,
    void** dst_team, int* dst_team_number, void** src_team, int* src_team_number) {
#else
/// GCC 15 does not pass the source's team.
void _gfortran_caf_transfer_between_remotes(
    void* dst_token, descriptor* dst, std::size_t* dst_length, int dst_image, int dst_which,
    void* dst_add_data, std::size_t dst_add_bytes, void* src_token, const descriptor* src,
    const std::size_t* src_length, int src_image, int src_which, void* src_add_data,
    std::size_t src_add_bytes, std::size_t src_size, bool scalar, int* dst_stat, void** dst_team,
    int* dst_team_number, int* src_stat) {
  void** const src_team = nullptr;
  int* const src_team_number = nullptr;
#endif
  constexpr const char* statement = "assignment from image to image";
  const outcome out{dst_stat};
  const outcome in{src_stat};
  const job_rank from = rank_in(src_image, src_team, src_team_number, in, statement);
  const job_rank to = from < 0 ? -1 : rank_in(dst_image, dst_team, dst_team_number, out, statement);
  if (to < 0) {
    return;
  }
  at_images({from}, in, statement, [&] {
    at_images({to}, out, statement, [&] {
      remote_call get =
          call_of(scalar ? role::fetch : role::fetch_array, src, src_add_data, src_add_bytes);
      set_lengths(get, src_length, src_length);
      descriptor array{};
      get.array = scalar ? nullptr : &array;
      reach(src_which, get, token_of(src_token), from, src_size,
            src_size * std::max<std::size_t>(get.src_length, 1));
      remote_call put = call_of(role::store, dst, dst_add_data, dst_add_bytes);
      set_lengths(put, dst_length, get.has_dst_length ? &get.dst_length : nullptr);
      put.source_is_array = !scalar;
      put.source = scalar ? get.found : static_cast<const void*>(&array);
      reach(dst_which, put, token_of(dst_token), to, src_size, 0);
      release(get);
    });
  });
}

std::int32_t _gfortran_caf_is_present_on_remote(void* token, int image, int which, void* add_data,
                                                std::size_t add_bytes) {
  if (!is_registered(token)) {
    return 0;  // before ALLOCATE, or after DEALLOCATE
  }
  const job_rank rank = rank_of(*this_job.now, image, {}, "allocated");
  const auto& t = token_of(token);
  if (rank < 0 || t.at(rank).offset == 0) {
    return 0;
  }
  std::int32_t present = 0;
  guarded({}, "allocated", [&] {
    remote_call a = call_of(role::ask, t.shape, add_data, add_bytes);
#if SINEW_COARRAY_ABI >= 16
    if (t.shape == nullptr) {
      a.given = form::pointer_to_object;
    }
#endif
    reach(which, a, t, rank, 0, 0);
    present = a.present;
  });
  return present;
}

}  // extern "C"
#pragma GCC visibility pop
