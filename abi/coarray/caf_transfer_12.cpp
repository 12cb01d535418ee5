// SPDX-License-Identifier: BSD-3-Clause
// GCC 8 to 14: the runtime walks the arrays.
#include "abi/coarray/access.hpp"
#include "abi/coarray/failure.hpp"
#include "abi/coarray/reference_walk.hpp"
#include "abi/coarray/traced.hpp"

using namespace sinew::coarray;
using sinew::job_rank;

namespace {

/// One side's arguments.
struct remote {
  void* token;
  std::size_t offset;
  const descriptor* shape;
  const vector_subscript* subscripts;
  int kind;
};

team& team_of(void** given) noexcept {
  return given != nullptr && *given != nullptr ? *static_cast<team*>(*given) : *this_job.now;
}

/// `bytes` from there on lie in the coarray.
bool inside(const token& t, std::size_t offset, std::size_t bytes) noexcept {
  return offset <= t.bytes && bytes <= t.bytes - offset;
}

/// A substring comes with the length of the whole text, and so would reach behind the coarray.
void cut_text(side& s, const token& t, std::size_t offset) noexcept {
  if (s.what.type == type::character && t.plain && s.what.bytes != 0) {
    s.what.bytes -= offset % s.what.bytes;
  }
}

far_side far(const remote& r, job_rank rank) {
  far_side side;
  const std::ptrdiff_t begin = describe(side, *r.shape, r.kind, r.subscripts);
  cut_text(side, token_of(r.token), r.offset);
  if (side.elements() != 0) {
    const side::span reached = side.extent();
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(r.offset) + begin;
    check_inside({first + reached.low, first + reached.high}, side.what.bytes,
                 token_of(r.token).bytes);
  }
  side.image_rank = rank;
  side.offset =
      shifted(token_of(r.token).at(rank), r.offset).offset + static_cast<std::uint64_t>(begin);
  return side;
}

/// Whole arrays of another image, which cannot overlap with this one's, need no more than a copy; 0
/// for all other transfers, and for those that a trace shows.
std::size_t plain_bytes(void* token, std::size_t offset, job_rank rank, const descriptor& far,
                        const vector_subscript* subscripts, int far_kind, const descriptor& near,
                        int near_kind) noexcept {
  if (rank < 0 || rank == this_job.rank || subscripts != nullptr || sinew::trace::on()) {
    return 0;
  }
  const std::size_t bytes = plain_arrays(far, far_kind, near, near_kind);
  if (far.element.type == type::character && bytes != 0 && offset % far.element.bytes != 0) {
    return 0;  // see cut_text()
  }
  return inside(token_of(token), offset, bytes) ? bytes : 0;
}

constexpr const char* putting = "assignment to another image";
constexpr const char* getting = "reference to another image";

}  // namespace

namespace sinew::coarray {

// What a caller got on the stack comes by reference: so it stays there, and the caller's short way
// has registers enough and no frame. Not local to this file, lest the optimizer makes values of the
// references; and no bool, of which it would make another one. (Of a bool only the low byte is
// defined: taken for true by mistake, it costs a copy.)
[[gnu::noinline]] void send_any(void* token, std::size_t offset, int image, descriptor* dst,
                                vector_subscript* dst_vector, descriptor* src, const int& dst_kind,
                                const int& src_kind, const int& may_require_tmp, int* const& stat,
                                void** const& team) {
  const outcome out{stat};
  const job_rank rank = rank_of(team_of(team), image, out, putting);
  if (const std::size_t bytes =
          plain_bytes(token, offset, rank, *dst, dst_vector, dst_kind, *src, src_kind)) {
    this_job.engine->put(shifted(token_of(token).at(rank), offset), src->base, bytes);
    out.good();  // to an image that has died meanwhile as if it had been done before
  } else if (rank >= 0) {
    guarded(out, putting, [&] {
      traced put_here(sinew::trace::kind::put, "put", image);
      put(put_here.moving(far({token, offset, dst, dst_vector, dst_kind}, rank)),
          near(*src, src_kind), may_require_tmp);
      out.good();
    });
  }
}

[[gnu::noinline]] void get_any(void* token, std::size_t offset, int image, descriptor* src,
                               vector_subscript* src_vector, descriptor* dst, const int& src_kind,
                               const int& dst_kind, const int& may_require_tmp, int* const& stat) {
  const outcome out{stat};
  const job_rank rank = rank_of(*this_job.now, image, out, getting);
  if (const std::size_t bytes =
          plain_bytes(token, offset, rank, *src, src_vector, src_kind, *dst, dst_kind)) {
    this_job.engine->get(dst->base, shifted(token_of(token).at(rank), offset), bytes);
    end_at(rank, out, getting);
  } else if (rank >= 0) {
    at_images({rank}, out, getting, [&] {
      traced get_here(sinew::trace::kind::get, "get", image);
      get(near(*dst, dst_kind),
          get_here.moving(far({token, offset, src, src_vector, src_kind}, rank)), may_require_tmp);
    });
  }
}

}  // namespace sinew::coarray

namespace {

/// One element of a type on both sides, at the same offset in all images, of which none has left,
/// with nothing else asked for. Hot: every single put and get has this in front of it. What has an
/// order comes first, so that nothing need be loaded again after it.
inline bool is_simple(const token& t, std::size_t offset, unsigned from_0, const descriptor& a,
                      int a_kind, const descriptor& b, int b_kind) noexcept {
  return a_kind == b_kind && from_0 < this_job.images && !this_job.somebody_left() &&
         offset < t.symmetric_bytes && a.element.bytes <= t.symmetric_bytes - offset &&
         (a.element.rank | b.element.rank) == 0 && a.element.type == b.element.type &&
         a.element.bytes == b.element.bytes;
}

inline std::byte* simple_place(const token& t, std::size_t offset, unsigned from_0) noexcept {
  return this_job.parts[from_0] + (t.offset + offset);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void _gfortran_caf_send(void* token, std::size_t offset, int image, descriptor* dst,
                        vector_subscript* dst_vector, descriptor* src, int dst_kind, int src_kind,
                        int may_require_tmp, int* stat, void** team) {
  const sinew::coarray::token& t = token_of(token);
  const unsigned from_0 = static_cast<unsigned>(image) - 1;
  if (stat == nullptr && team == nullptr &&
      is_simple(t, offset, from_0, *dst, dst_kind, *src, src_kind)) [[likely]] {
    sinew::rma::engine::move_out(simple_place(t, offset, from_0), src->base, src->element.bytes);
    return;
  }
  send_any(token, offset, image, dst, dst_vector, src, dst_kind, src_kind, may_require_tmp, stat,
           team);
}

void _gfortran_caf_get(void* token, std::size_t offset, int image, descriptor* src,
                       vector_subscript* src_vector, descriptor* dst, int src_kind, int dst_kind,
                       int may_require_tmp, int* stat) {
  const sinew::coarray::token& t = token_of(token);
  const unsigned from_0 = static_cast<unsigned>(image) - 1;
  if (stat == nullptr && is_simple(t, offset, from_0, *src, src_kind, *dst, dst_kind)) [[likely]] {
    sinew::rma::engine::move_in(dst->base, simple_place(t, offset, from_0), src->element.bytes);
    return;
  }
  get_any(token, offset, image, src, src_vector, dst, src_kind, dst_kind, may_require_tmp, stat);
}

void _gfortran_caf_sendget(void* dst_token, std::size_t dst_offset, int dst_image, descriptor* dst,
                           vector_subscript* dst_vector, void* src_token, std::size_t src_offset,
                           int src_image, descriptor* src, vector_subscript* src_vector,
                           int dst_kind, int src_kind, bool, int* stat) {
  const outcome out{stat};
  constexpr const char* statement = "assignment from image to image";
  const job_rank to = rank_of(*this_job.now, dst_image, out, statement);
  const job_rank from = to < 0 ? -1 : rank_of(*this_job.now, src_image, out, statement);
  if (from < 0) {
    return;
  }
  at_images({from}, out, statement, [&] {
    const traced both(sinew::trace::kind::copy, "image to image", dst_image);
    move(far({dst_token, dst_offset, dst, dst_vector, dst_kind}, to),
         far({src_token, src_offset, src, src_vector, src_kind}, from));
  });
}

void _gfortran_caf_get_by_ref(void* token, int image, descriptor* dst, reference* refs,
                              int dst_kind, int src_kind, bool may_require_tmp,
                              bool dst_reallocatable, int* stat, int src_type) {
  const outcome out{stat};
  constexpr const char* statement = "reference to another image";
  const job_rank rank = rank_of(*this_job.now, image, out, statement);
  if (rank < 0) {
    return;
  }
  at_images({rank}, out, statement, [&] {
    traced get_here(sinew::trace::kind::get, "get component", image);
    const far_side from = walk(token_of(token), rank, refs, static_cast<type>(src_type), src_kind);
    get_here.moving(from);
    if (dst_reallocatable) {
      make_room(*dst, from);
    }
    get(near(*dst, dst_kind), from, may_require_tmp);
  });
}

void _gfortran_caf_send_by_ref(void* token, int image, descriptor* src, reference* refs,
                               int dst_kind, int src_kind, bool may_require_tmp, bool, int* stat,
                               int dst_type) {
  const outcome out{stat};
  constexpr const char* statement = "assignment to another image";
  const job_rank rank = rank_of(*this_job.now, image, out, statement);
  if (rank < 0) {
    return;
  }
  at_images({rank}, out, statement, [&] {
    traced put_here(sinew::trace::kind::put, "put component", image);
    put(put_here.moving(walk(token_of(token), rank, refs, static_cast<type>(dst_type), dst_kind)),
        near(*src, src_kind), may_require_tmp);
  });
}

void _gfortran_caf_sendget_by_ref(void* dst_token, int dst_image, reference* dst_refs,
                                  void* src_token, int src_image, reference* src_refs, int dst_kind,
                                  int src_kind, bool, int* dst_stat, int* src_stat, int dst_type,
                                  int src_type) {
  constexpr const char* statement = "assignment from image to image";
  const outcome out{dst_stat};
  const outcome in{src_stat};
  const job_rank from = rank_of(*this_job.now, src_image, in, statement);
  const job_rank to = from < 0 ? -1 : rank_of(*this_job.now, dst_image, out, statement);
  if (to < 0) {
    return;
  }
  at_images({from}, in, statement, [&] {
    at_images({to}, out, statement, [&] {
      const traced both(sinew::trace::kind::copy, "image to image", dst_image);
      move(walk(token_of(dst_token), to, dst_refs, static_cast<type>(dst_type), dst_kind),
           walk(token_of(src_token), from, src_refs, static_cast<type>(src_type), src_kind));
    });
  });
}

int _gfortran_caf_is_present(void* token, int image, reference* refs) {
  constexpr const char* statement = "allocated";
  const job_rank rank = rank_of(*this_job.now, image, {}, statement);
  bool present = false;
  guarded({}, statement, [&] { present = is_present(token_of(token), rank, refs); });
  return present ? 1 : 0;
}

}  // extern "C"
#pragma GCC visibility pop
