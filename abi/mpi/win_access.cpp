// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 12.4: puts, gets and accumulates. All have been done at the origin when their
// call returns (see sinew/window/memory.hpp), so that a request of theirs is complete at once; but
// for what brings something from another node, of which much is under way at a time.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/message.hpp"
#include "abi/mpi/op.hpp"
#include "abi/mpi/tool_watch.hpp"
#include "abi/mpi/window.hpp"
#include "abi/mpi/window_at_once.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

constexpr const char* no_epoch =
    "no epoch is open in which rank %d may be accessed: MPI_Win_fence, MPI_Win_start, MPI_Win_lock "
    "or MPI_Win_lock_all come first";

/// Throws if [from, to), counted from the attached address 0, is not within one attached piece.
void check_attached(const window_object& w, int target, std::uint64_t from, std::uint64_t to) {
  if (!w.memory->has_attached(target, from, to)) {
    fail(MPI_ERR_RMA_RANGE, "the memory is not attached at rank %d (MPI_Win_attach)", target);
  }
}

/// Where data begin in memory that is attached: displacements are addresses.
[[gnu::noinline]] window::place dynamic_place_of(const window_object& w, int target, MPI_Aint disp,
                                                 const p2p::buffer& data, std::ptrdiff_t low,
                                                 std::ptrdiff_t high) {
  const auto address = static_cast<std::uint64_t>(disp);
  if (data.bytes() != 0) {
    check_attached(w, target, address + static_cast<std::uint64_t>(low),
                   address + static_cast<std::uint64_t>(high));
  }
  return w.memory->at_address(target, address);
}

/// Where instances of `data.type` begin at the target; checks the epoch and that all lie inside.
window::place place_of(const window_object& w, tool::access what, int target, MPI_Aint disp,
                       const p2p::buffer& data) {
  SINEW_EXPECT(data.type != nullptr);
  check_target(w, target);
  check_lives(w, target);
  if (!w.access_open(target)) [[unlikely]] {
    fail(MPI_ERR_RMA_SYNC, no_epoch, target);
  }
  const auto last =
      data.count == 0 ? 0 : static_cast<std::ptrdiff_t>(data.count - 1) * data.type->extent();
  const std::ptrdiff_t low = data.type->true_lower() + std::min<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t high =
      data.type->true_lower() + data.type->true_extent() + std::max<std::ptrdiff_t>(last, 0);
  if (const auto special = w.special.load(std::memory_order_relaxed); special != 0) [[unlikely]] {
    if ((special & window_object::observed) != 0) {
      tool::count_access(w, what, data.bytes());
    }
    if ((special & window_object::dynamic) != 0) {
      return dynamic_place_of(w, target, disp, data, low, high);
    }
  }
  const window::record& r = w.memory->of(target);
  std::int64_t begin = 0;
  const bool overflows = __builtin_mul_overflow(disp, r.unit, &begin);
  if (data.bytes() != 0 && (overflows || begin + low < 0 ||
                            begin + high > static_cast<std::int64_t>(r.bytes))) [[unlikely]] {
    if (disp < 0) {
      fail(MPI_ERR_DISP, "the displacement %lld is negative", static_cast<long long>(disp));
    }
    fail(MPI_ERR_RMA_RANGE, "bytes %lld to %lld are not in the window of rank %d, which has %lld",
         static_cast<long long>(begin + low), static_cast<long long>(begin + high), target,
         static_cast<long long>(r.bytes));
  }
  return w.memory->behind_base(target, begin);
}

/// The target's side of a call: how many of what.
p2p::buffer target_of(MPI_Count count, MPI_Datatype datatype) {
  check_count(count);
  return {nullptr, static_cast<std::size_t>(count), &layout_of(datatype, count == 0)};
}

/// The element that all of a type's data are, or a failure.
layout::element element_of(const p2p::buffer& b, const char* which) {
  const layout::element e = b.type->base();
  if (e == layout::element::none && b.bytes() != 0) {
    fail(MPI_ERR_TYPE, "the datatype of %s is made of elements of several kinds", which);
  }
  return e;
}

/// Elements of one kind side by side, as the operators take them.
class operand {
 public:
  explicit operand(layout::element e, std::size_t count)
      : type_(layout::of(e)), count_(count), bytes_(count * layout::extent_of(e)) {}
  [[nodiscard]] p2p::buffer all() { return {bytes_.data(), count_, &type_}; }
  [[nodiscard]] std::byte* at(std::size_t i) {
    SINEW_EXPECT(i < count_);
    return bytes_.data() + static_cast<std::ptrdiff_t>(i) * type_.extent();
  }

 private:
  const layout::datatype& type_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

void copy_elements(const p2p::buffer& from, const p2p::buffer& to) {
  layout::copy(*from.type, from.count, from.base, *to.type, to.count, to.base);
}

/// An integer of 8 bytes, of any name.
[[nodiscard]] bool is_word(layout::element e) noexcept {
  using layout::element;
  return e == element::i64 || e == element::u64 || e == element::c_long || e == element::c_ulong;
}

/// The usual of the usual: a counter. Under the lock, as all accumulates are. Hot.
void add_word(const window_object& w, int target, std::byte* here, const void* origin,
              void* result) noexcept {
  std::uint64_t now = 0;
  std::uint64_t more = 0;
  std::memcpy(&more, origin, sizeof more);
  {
    const window::exclusion alone(*w.memory, w.memory->of(target));
    std::memcpy(&now, here, sizeof now);
    more += now;
    std::memcpy(here, &more, sizeof more);
  }
  if (result != nullptr) {
    std::memcpy(result, &now, sizeof now);
  }
}

/// The usual accumulate: elements of one predefined datatype, side by side here and there, in
/// memory that is mapped here. `result`: null if none. False: nothing has been done. Hot.
bool combine_at_once(const window_object& w, const void* origin, void* result, MPI_Count count,
                     MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op) {
  const std::uintptr_t t = value_of(type);
  if (!is_predefined_type(t)) {
    return false;
  }
  const layout::datatype* const one = predefined_layouts[t - first_type_value];
  if (one == nullptr || !one->dense() || one->elements() != 1) [[unlikely]] {
    return false;
  }
  std::byte* const here = w.directly(target, disp, count, one->size());
  if (here == nullptr || count == 0) [[unlikely]] {
    return false;
  }
  if (count == 1 && value_of(op) == abi::handle_sum && origin != nullptr && one->size() == 8 &&
      is_word(one->base())) {
    add_word(w, target, here, origin, result);
    return true;
  }
  const coll::op o = accumulate_op(op, one->base());
  if (origin == nullptr && o.kind != coll::op_kind::no_op) [[unlikely]] {
    return false;
  }
  const auto n = static_cast<std::size_t>(count);
  const window::exclusion alone(*w.memory, w.memory->of(target));
  if (result != nullptr) {
    std::memcpy(result, here, n * one->size());
  }
  o.apply(origin, here, n, *one);
  return true;
}

/// `result`: null type if none.
int accumulate(window_object& w, const p2p::buffer& from, const p2p::buffer& result, int target,
               MPI_Aint disp, const p2p::buffer& there, MPI_Op op) {
  const layout::element e = element_of(there, "the target");
  if (there.bytes() == 0 || target == MPI_PROC_NULL) {
    if (target != MPI_PROC_NULL) {
      (void)place_of(w, tool::access::accumulate, target, disp, there);
    }
    return MPI_SUCCESS;
  }
  const coll::op o = accumulate_op(op, e);
  const window::place at = place_of(w, tool::access::accumulate, target, disp, there);
  const std::size_t n = there.count * there.type->elements();
  SINEW_ASSERT(n > 0);
  const bool reads_origin = o.kind != coll::op_kind::no_op;
  if (reads_origin &&
      (element_of(from, "the origin") != e || from.count * from.type->elements() < n)) {
    fail(MPI_ERR_TYPE, "the origin's data are not as many elements of the target's kind");
  }
  operand origin(e, reads_origin ? n : 0);
  if (reads_origin) {
    copy_elements(from, origin.all());
  }
  // The result may be filled only later: in place, if it has the elements side by side.
  const bool in_place = result.type != nullptr && result.type->dense() &&
                        element_of(result, "the result") == e &&
                        result.count * result.type->elements() >= n;
  operand before(e, result.type != nullptr && !in_place ? n : 0);
  std::byte* const to = in_place                 ? static_cast<std::byte*>(result.base)
                        : result.type != nullptr ? before.at(0)
                                                 : nullptr;
  check_lives(w, target,
              w.memory->combine(target, at, there, o, reads_origin ? origin.at(0) : nullptr, to));
  if (to != nullptr && !in_place) {
    w.memory->finish_gets();
    copy_elements(before.all(), result);
  }
  return MPI_SUCCESS;
}

int get_accumulate(window_object& w, const void* origin_addr, MPI_Count origin_count,
                   MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                   MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                   MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op) {
  // With MPI_NO_OP the origin means nothing.
  const bool alike =
      result_datatype == target_datatype && result_count == target_count &&
      (op == MPI_NO_OP || (origin_datatype == target_datatype && origin_count == target_count));
  if (alike && result_addr != nullptr &&
      combine_at_once(w, origin_addr, result_addr, target_count, target_datatype, target_rank,
                      target_disp, op)) {
    return MPI_SUCCESS;
  }
  const p2p::buffer from =
      op == MPI_NO_OP ? p2p::buffer{} : data_of(origin_addr, origin_count, origin_datatype);
  return accumulate(w, from, data_of(result_addr, result_count, result_datatype), target_rank,
                    target_disp, target_of(target_count, target_datatype), op);
}

/// The general way. Of its own, so that the direct one needs no frame for it.
[[gnu::noinline]] void compare_swap(window_object& w, const void* origin, const void* compare,
                                    void* result, MPI_Datatype datatype, int target,
                                    MPI_Aint disp) {
  const p2p::buffer there = target_of(1, datatype);
  const window::place at = place_of(w, tool::access::compare, target, disp, there);
  check_lives(w, target, w.memory->compare_swap(target, at, *there.type, origin, compare, result));
}

/// What a call brings: all gets that `by` had begun when it returned.
class window_fetch final : public operation {
 public:
  window_fetch(const rma::engine& by, int target) noexcept
      : by_(by), up_to_(by.gets_begun()), target_(target) {}
  bool ended(const request_object&) const noexcept override { return by_.gets_ended(up_to_); }
  /// What came from a rank that has died means nothing.
  int finish(request_object& r, MPI_Status* status, std::string* sentence) override {
    set_empty(status);
    if (!process.engine->is_dead(r.comm->comm->job_rank(comm_rank{target_}))) {
      return MPI_SUCCESS;
    }
    if (sentence != nullptr) {
      *sentence = "rank " + std::to_string(target_) + " has died";
    }
    return MPIX_ERR_PROC_FAILED;
  }
  void peek(const request_object&, MPI_Status* status) override { set_empty(status); }

 private:
  const rma::engine& by_;
  const std::uint64_t up_to_;
  const int target_;
};

/// The call that `done` was has ended well: so has its request.
int requested(int done, MPI_Request* request) {
  SINEW_EXPECT(*request == MPI_REQUEST_NULL);
  if (done == MPI_SUCCESS) {
    *request = done_request();
  }
  return done;
}

/// The same for calls that bring something, which may be under way.
int requested(int begun, MPI_Win win, int target, MPI_Request* request) {
  window_object& w = window_of(win);
  const rma::engine* const by =
      target != MPI_PROC_NULL && begun == MPI_SUCCESS ? w.memory->bringing(target) : nullptr;
  if (by == nullptr) {
    return requested(begun, request);
  }
  *request =
      handle_of<MPI_Request>(&new_request(w.comm, std::make_unique<window_fetch>(*by, target)));
  return begun;
}

/// Whether it is an int, as the fast paths take it.
bool is_short(MPI_Count count) noexcept { return count == static_cast<int>(count); }

void check_request(MPI_Request* request) {
  check_out(request, "request");
  *request = MPI_REQUEST_NULL;
}

}  // namespace

int impl::Put(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, MPI_Count target_count,
              MPI_Datatype target_datatype, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    const p2p::buffer from = data_of(origin_addr, origin_count, origin_datatype);
    const p2p::buffer there = target_of(target_count, target_datatype);
    if (target_rank != MPI_PROC_NULL) {
      const auto at = place_of(w, tool::access::put, target_rank, target_disp, there);
      check_lives(w, target_rank, w.memory->write(target_rank, at, from, there));
    }
    return MPI_SUCCESS;
  });
}

int impl::Get(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, MPI_Count target_count,
              MPI_Datatype target_datatype, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    const p2p::buffer into = data_of(origin_addr, origin_count, origin_datatype);
    const p2p::buffer there = target_of(target_count, target_datatype);
    if (target_rank != MPI_PROC_NULL) {
      const auto at = place_of(w, tool::access::get, target_rank, target_disp, there);
      check_lives(w, target_rank, w.memory->read_later(target_rank, at, into, there));
    }
    return MPI_SUCCESS;
  });
}

int impl::Accumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    if (origin_datatype == target_datatype && origin_count == target_count &&
        combine_at_once(w, origin_addr, nullptr, target_count, target_datatype, target_rank,
                        target_disp, op)) {
      return MPI_SUCCESS;
    }
    return accumulate(w, data_of(origin_addr, origin_count, origin_datatype), {}, target_rank,
                      target_disp, target_of(target_count, target_datatype), op);
  });
}

int impl::Get_accumulate(const void* origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                         MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    return get_accumulate(w, origin_addr, origin_count, origin_datatype, result_addr, result_count,
                          result_datatype, target_rank, target_disp, target_count, target_datatype,
                          op);
  });
}

int impl::Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    return get_accumulate(w, origin_addr, 1, datatype, result_addr, 1, datatype, target_rank,
                          target_disp, 1, datatype, op);
  });
}

namespace {

/// Predefined ones of these kinds (MPI-5.0 section 12.3.4). Hot.
bool is_comparable(MPI_Datatype handle, layout::element kind) noexcept {
  using layout::element;
  return is_predefined_type(value_of(handle)) &&
         ((kind >= element::byte && kind <= element::u64) ||
          (kind >= element::boolean && kind <= element::c_ulong &&
           kind != element::wide_character));
}

}  // namespace

int impl::Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                           MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Win win) {
  return on_window(win, [&](window_object& w) -> int {
    const p2p::buffer there = target_of(1, datatype);
    constexpr std::size_t most = window::memory::longest_word;
    if (!is_comparable(datatype, there.type->base()) || there.bytes() > most) {
      fail(MPI_ERR_TYPE, "the datatype is no integer, logical, multi-language type or byte");
    }
    if (std::byte* here = w.directly(target_rank, target_disp, 1, there.bytes())) [[likely]] {
      const std::size_t n = there.bytes();
      std::byte now[most];
      SINEW_ASSERT(n <= most);
      const window::exclusion alone(*w.memory, w.memory->of(target_rank));
      std::memcpy(now, here, n);
      if (std::memcmp(now, compare_addr, n) == 0) {
        std::memcpy(here, origin_addr, n);
      }
      std::memcpy(result_addr, now, n);
      return MPI_SUCCESS;
    }
    if (target_rank != MPI_PROC_NULL) {
      compare_swap(w, origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp);
    }
    return MPI_SUCCESS;
  });
}

int impl::Rput(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  check_request(request);
  if (is_short(origin_count) && is_short(target_count) &&
      put_at_once(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank,
                  target_disp, static_cast<int>(target_count), target_datatype, win)) {
    return requested(MPI_SUCCESS, request);
  }
  return requested(impl::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, win),
                   request);
}

int impl::Rget(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  check_request(request);
  if (is_short(origin_count) && is_short(target_count) &&
      got_at_once(origin_addr, static_cast<int>(origin_count), origin_datatype, target_rank,
                  target_disp, static_cast<int>(target_count), target_datatype, win)) {
    return requested(MPI_SUCCESS, request);
  }
  return requested(impl::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, win),
                   win, target_rank, request);
}

int impl::Raccumulate(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  check_request(request);
  return requested(impl::Accumulate(origin_addr, origin_count, origin_datatype, target_rank,
                                    target_disp, target_count, target_datatype, op, win),
                   request);
}

int impl::Rget_accumulate(const void* origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request* request) {
  check_request(request);
  return requested(impl::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                        result_count, result_datatype, target_rank, target_disp,
                                        target_count, target_datatype, op, win),
                   win, target_rank, request);
}

}  // namespace sinew::mpi
