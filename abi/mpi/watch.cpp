// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/watch.hpp"

#include <algorithm>

#include "abi/mpi/call_site.hpp"
#include "abi/mpi/check/check.hpp"
#include "abi/mpi/comm.hpp"
#include "abi/mpi/profile/profile.hpp"
#include "abi/mpi/pulse.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/type.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/clock.hpp"

namespace sinew::mpi::watch {

std::size_t amount::bytes() const noexcept {
  const layout::datatype* const layout = layout_if_usable(type);
  return count <= 0 || times <= 0 || layout == nullptr
             ? 0
             : static_cast<std::size_t>(count) * static_cast<std::size_t>(times) * layout->size();
}

amount sum(const MPI_Count* counts, MPI_Datatype type, int blocks) noexcept {
  amount all{0, type, 1};
  for (int i = 0; counts != nullptr && i < blocks; ++i) {
    all.count += counts[i];
  }
  return all;
}

amount sum(const MPI_Count* counts, const MPI_Datatype* types, int blocks) noexcept {
  amount all{0, MPI_BYTE, 1};
  for (int i = 0; counts != nullptr && types != nullptr && i < blocks; ++i) {
    all.count += static_cast<MPI_Count>(amount{counts[i], types[i]}.bytes());
  }
  return all;
}

namespace {

bool is_root(const arguments& given) noexcept {
  const comm_object* const in = find_comm(given.comm);
  return in != nullptr &&
         (in->sides != nullptr ? given.peer == MPI_ROOT : in->comm->rank().value() == given.peer);
}

std::uint64_t moved(flow when, const amount& what, const arguments& given) noexcept {
  switch (when) {
    case flow::none:
      return 0;
    case flow::always:
      return what.bytes();
    case flow::as_root:
      return is_root(given) ? what.bytes() : 0;
    case flow::as_other:
      return is_root(given) ? 0 : what.bytes();
  }
  return 0;
}

bool is_to_nobody(const arguments& given) noexcept {
  return given.nature.peer != named::none && given.peer == MPI_PROC_NULL;
}

}  // namespace

std::uint64_t arguments::bytes_sent() const noexcept {
  return is_to_nobody(*this) ? 0 : moved(nature.sends, sends, *this);
}

std::uint64_t arguments::bytes_received() const noexcept {
  return is_to_nobody(*this) ? 0 : moved(nature.receives, receives, *this);
}

call::call(const arguments& given_arguments)
    : name(current_call),
      given(given_arguments),
      site(call_site(given.from.returns_to, given.from.frame)),
      began(moment()) {
  must_run();
  counted_since = pulse::begin(*this);
}

namespace {

bool receives_still(const void* handle) noexcept {
  const auto* const r = resolve<request_object>(handle);
  return r != nullptr && r->receives && r->inner != nullptr && !r->inner->done();
}

}  // namespace

void call::add(handle_kind kind, void** first, int count, bool may_end) {
  if (first == nullptr || count <= 0) {
    return;
  }
  SINEW_EXPECT(touched_count < static_cast<int>(touched.size()));
  handles& h = touched[static_cast<std::size_t>(touched_count++)];
  h.kind = kind;
  h.first = first;
  h.count = count;
  h.may_end = may_end;
  h.was = may_end ? *first : nullptr;
  if (may_end && count > 1 && check::wanted()) {
    h.were.assign(first, first + count);
  }
  if (may_end && kind == handle_kind::request && profile::wanted()) {
    awaits_message = std::any_of(first, first + count, receives_still);
  }
}

int call::end(int code) {
  ended_ = true;
  succeeded = code == MPI_SUCCESS;
  if (profile::wanted()) {
    profile::end(*this);  // first, since the others take time of their own
  }
  if (counted_since != 0) {
    pulse::end(*this);
  }
  if (check::wanted()) {
    check::end(*this);
  }
  return code;
}

call::~call() {
  if (ended_) {
    return;
  }
  if (profile::wanted()) {
    profile::end(*this);
  }
  if (counted_since != 0) {
    pulse::end(*this);
  }
  if (check::wanted()) {
    check::forget(*this);
  }
}

bool wanted() noexcept { return check::wanted() || profile::wanted(); }

}  // namespace sinew::mpi::watch
