// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.4: communicators.
#include "abi/mpi/comm.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/intercomm.hpp"
#include "abi/mpi/request.hpp"
#include "abi/mpi/routed.hpp"
#include "c/mpi-ext.h"
#include "sinew/base/check.hpp"
#include "sinew/coll/connections.hpp"

namespace sinew::mpi {
namespace {

void copy_out(const std::string& from, char* to, int* length) {
  check_out(to, "name");
  check_out(length, "resultlen");
  SINEW_ASSERT(from.size() < MPI_MAX_OBJECT_NAME);
  std::memcpy(to, from.c_str(), from.size() + 1);
  *length = static_cast<int>(from.size());
}

/// Freed communicators whose operations have not all ended.
struct waiting_list {
  base::lock lock;
  std::vector<comm_object*> comms;
};
waiting_list& lingering() {
  static auto& it = *new waiting_list;
  return it;
}

}  // namespace

namespace {

bool has_kind(MPI_Comm handle, kind wanted) noexcept {
  const std::uintptr_t v = value_of(handle);
  return v >= first_address && v % alignof(comm_object) == 0 &&
         reinterpret_cast<const object*>(handle)->what.load(std::memory_order_relaxed) == wanted;
}

}  // namespace

comm_object::comm_object(coll::communicator_ref c)
    : object(tag),
      owned(std::move(c)),
      comm(owned.get()),
      handle(handle_of<MPI_Comm>(this)),
      errors(nullptr) {
  SINEW_EXPECT(comm != nullptr && comm->size() > 0);
}

comm_object::comm_object(coll::intercommunicator_ref two_groups)
    : comm_object(two_groups->across()) {
  sides = std::move(two_groups);
  SINEW_ENSURE(comm->size() == sides->remote().size());
}

comm_object::~comm_object() {
  drop(errors);
  drop(session);
}

void check_one_job(const comm_object& c, const char* what) {
  if (c.comm->spans_jobs) {
    fail(MPI_ERR_COMM, "%s is for ranks of one job, and the communicator has ranks of several",
         what);
  }
}

void not_between_groups() {
  fail(MPI_ERR_COMM, "the communicator is an intercommunicator, and the call is for one group");
}

comm_object* find_comm(MPI_Comm handle) noexcept {
  const std::uintptr_t v = value_of(handle);
  if (is_initial_comm(v)) {
    return process.comms[v - abi::handle_comm_null];
  }
  auto* found = resolve<comm_object>(handle);
  return found != nullptr || !has_kind(handle, kind::revoked_comm)
             ? found
             : static_cast<comm_object*>(reinterpret_cast<object*>(handle));
}

namespace {

bool is_unfinished(MPI_Comm handle) { return has_kind(handle, kind::unfinished_comm); }

/// Calls that say or change something of a communicator, and communicate nothing.
bool allowed_when_revoked(std::string_view call) {
  constexpr std::string_view calls[] = {
      "MPIX_Comm_",       "MPI_Comm_free",  "MPI_Comm_rank",    "MPI_Comm_size",
      "MPI_Comm_group",   "MPI_Comm_get_",  "MPI_Comm_set_",    "MPI_Comm_test_inter",
      "MPI_Comm_compare", "MPI_Comm_call_", "MPI_Comm_delete_", "MPI_Comm_remote_",
      "MPI_Topo_test",    "MPI_Abort",      "MPI_Comm_toint",   "MPI_Comm_disconnect"};
  return std::any_of(std::begin(calls), std::end(calls),
                     [&](std::string_view each) { return call.starts_with(each); });
}

}  // namespace

comm_object& revoked_comm(MPI_Comm handle) {
  if (!has_kind(handle, kind::revoked_comm)) {
    bad_comm(handle);
  }
  auto& c = *static_cast<comm_object*>(reinterpret_cast<object*>(handle));
  if (!allowed_when_revoked(current_call)) {
    fail_on(&c, MPIX_ERR_REVOKED, "the communicator has been revoked (MPIX_Comm_revoke)");
  }
  return c;
}

void mark_revoked(comm_object& c) noexcept {
  if (!is_initial_comm(value_of(c.handle))) {
    c.what.store(kind::revoked_comm, std::memory_order_relaxed);  // a hint: sends find out, too
  }
}

comm_object& unfinished_comm(MPI_Comm handle) {
  if (has_kind(handle, kind::revoked_comm)) {
    return revoked_comm(handle);
  }
  if (!is_unfinished(handle)) {
    bad_comm(handle);
  }
  return *static_cast<comm_object*>(reinterpret_cast<object*>(handle));
}

void bad_comm(MPI_Comm handle) {
  if (handle == MPI_COMM_NULL) {
    fail(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  }
  if (is_unfinished(handle)) {
    fail(MPI_ERR_COMM,
         "the communicator %p cannot be used yet: the MPI_Comm_idup that makes it has not been "
         "completed (MPI_Wait)",
         static_cast<const void*>(handle));
  }
  fail(MPI_ERR_COMM, "the communicator %p has been freed or never was one",
       static_cast<const void*>(handle));
}

void bad_rank(const comm_object& c, int rank, const char* which) {
  SINEW_EXPECT(rank < 0 || rank >= c.comm->size());
  const int code = std::strcmp(which, "root") == 0 ? MPI_ERR_ROOT : MPI_ERR_RANK;
  fail(code, "the %s %d is not one of the ranks 0 to %d of %s", which, rank, c.comm->size() - 1,
       c.comm->name.empty() ? "the communicator" : c.comm->name.c_str());
}

void bad_tag(int tag) {
  SINEW_EXPECT(tag < 0);
  fail(MPI_ERR_TAG, "the tag %d is not between 0 and %d", tag, p2p::max_tag.value());
}

void broken_promise(const comm_object& c, const char* wildcard) {
  const bool tag = std::strcmp(wildcard, "tag") == 0;
  SINEW_EXPECT(tag || std::strcmp(wildcard, "source") == 0);
  fail(tag ? MPI_ERR_TAG : MPI_ERR_RANK,
       "%s in %s, of which mpi_assert_no_any_%s has promised none",
       tag ? "MPI_ANY_TAG" : "MPI_ANY_SOURCE",
       c.comm->name.empty() ? "a communicator" : c.comm->name.c_str(), wildcard);
}

void bad_count(MPI_Count count) {
  SINEW_EXPECT(count < 0);
  fail(MPI_ERR_COUNT, "the count %lld is negative", static_cast<long long>(count));
}

namespace {

template <class Made>
MPI_Comm adopt_any(Made made, const comm_object& parent) {
  if (made == nullptr) {
    return MPI_COMM_NULL;
  }
  auto* c = arena<comm_object>::make(std::move(made));
  c->errors = keep(parent.errors);
  c->session = keep(parent.session);
  return c->handle;
}

}  // namespace

MPI_Comm adopt(coll::communicator_ref made, const comm_object& parent) {
  return adopt_any(std::move(made), parent);
}
MPI_Comm adopt(coll::intercommunicator_ref made, const comm_object& parent) {
  return adopt_any(std::move(made), parent);
}

void release_comm(comm_object* c) {
  waiting_list& list = lingering();
  std::vector<comm_object*> over;
  list.lock.acquire();
  if (c != nullptr) {
    list.comms.push_back(c);
  }
  for (std::size_t i = 0; i < list.comms.size();) {
    // Acquire: with the release in received(), so that its thread is done with the communicator.
    if (list.comms[i]->probed.load(std::memory_order_acquire) != 0 ||
        uses(*process.requests, *list.comms[i])) {
      ++i;
    } else {
      over.push_back(list.comms[i]);
      list.comms.erase(list.comms.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  list.lock.release();
  for (comm_object* gone : over) {
    SINEW_ASSERT(gone->probed.load(std::memory_order_relaxed) == 0);
    drop(gone);
  }
}

int impl::Comm_size(MPI_Comm comm, int* size) {
  check_out(size, "size");
  *size = local_comm_of(comm).local_group().size();
  SINEW_ENSURE(*size > 0);
  return MPI_SUCCESS;
}

int impl::Comm_rank(MPI_Comm comm, int* rank) {
  check_out(rank, "rank");
  const core::communicator& c = *local_comm_of(comm).comm;
  *rank = c.rank().value();
  SINEW_ENSURE(*rank >= 0);
  return MPI_SUCCESS;
}

int impl::Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  check_out(result, "result");
  const comm_object& a = local_comm_of(comm1);
  const comm_object& b = local_comm_of(comm2);
  if (&a == &b) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  if ((a.sides == nullptr) != (b.sides == nullptr)) {
    *result = MPI_UNEQUAL;
    return MPI_SUCCESS;
  }
  using relation = core::group::relation;
  const relation near = core::group::compare(a.local_group(), b.local_group());
  const relation far = core::group::compare(a.comm->members(), b.comm->members());
  const relation r = std::max(near, far);  // the less alike of the two
  *result = r == relation::identical ? MPI_CONGRUENT
            : r == relation::similar ? MPI_SIMILAR
                                     : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

namespace {

/// By colour and key, of one group or of both; MPI_COMM_NULL where the colour is negative, and
/// between groups where only one of them has it.
MPI_Comm split(comm_object& c, int color, int key) {
  if (c.sides != nullptr) {
    return adopt(coll::split(*process.engine, *c.sides, color, key), c);
  }
  const MPI_Comm made = adopt(coll::split(participant_of(c), color, key), c);
  SINEW_ENSURE((made == MPI_COMM_NULL) == (color < 0));
  return made;
}

}  // namespace

int impl::Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  comm_object& c = comm_of(comm);
  check_out(newcomm, "newcomm");
  if (color < 0 && color != MPI_UNDEFINED) {
    fail(MPI_ERR_ARG, "the color %d is negative and not MPI_UNDEFINED", color);
  }
  *newcomm = split(c, color, key);
  return MPI_SUCCESS;
}

int impl::Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                          MPI_Comm* newcomm) {
  comm_object& c = comm_of(comm);
  check_out(newcomm, "newcomm");
  const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
  bool node = split_type == MPI_COMM_TYPE_SHARED;
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
      break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      // The only resource type that is supported: memory shared by the ranks of a node.
      node = hints != nullptr && hints->value("mpi_hw_resource_type") == "mpi_shared_memory";
      break;
    default:
      fail(MPI_ERR_ARG, "%d is no split type", split_type);
  }
  // Ranks that get MPI_COMM_NULL take part too, since the split type may differ between ranks.
  // Ranks of several jobs share no memory, on one node either.
  int lowest_here = process.runtime->session().where().node_leader().value();
  if (coll::spans_jobs(*process.engine, c.together()->members())) {
    lowest_here ^= static_cast<int>(core::name_of_job(*process.runtime) & 0x7ffff000);
  }
  *newcomm = split(c, node ? lowest_here : -1, key);
  if (hints != nullptr && *newcomm != MPI_COMM_NULL) {
    apply_hints(comm_of(*newcomm), *hints);
  }
  return MPI_SUCCESS;
}

int impl::Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  comm_object& c = comm_of(comm);
  check_out(newcomm, "newcomm");
  const core::group& members = group_of(group);
  for (const job_rank r : members.members()) {
    if (c.local_group().find(r) < 0) {
      fail(MPI_ERR_GROUP, "the group has a member that is not in the communicator");
    }
  }
  if (c.sides != nullptr) {
    const int place = members.find(process.runtime->rank()).value();
    *newcomm = split(c, place >= 0 ? 0 : -1, place);
    return MPI_SUCCESS;
  }
  *newcomm = adopt(coll::create(participant_of(c), members), c);
  SINEW_ENSURE((*newcomm != MPI_COMM_NULL) == (members.find(process.runtime->rank()) >= 0));
  return MPI_SUCCESS;
}

int impl::Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  comm_object& c = intracomm_of(comm);
  check_out(newcomm, "newcomm");
  check_tag(tag);
  *newcomm = adopt(coll::create_group(participant_of(c), group_of(group), message_tag{tag}), c);
  return MPI_SUCCESS;
}

namespace {

/// The communicator that a call is to end. A callback that fails leaves it as it is, so callbacks
/// come before all that concerns other ranks, which then wait until the program has tried again.
comm_object& without_attributes(const MPI_Comm* comm) {
  check_out(comm, "comm");
  comm_object& c = comm_of(*comm);
  if (c.handle != handle_of<MPI_Comm>(&c)) {
    fail(MPI_ERR_COMM, "%s cannot be freed", c.comm->name.c_str());
  }
  delete_attributes(attached_to::comm, c.handle, c.attached);
  return c;
}

}  // namespace

int impl::Comm_free(MPI_Comm* comm) {
  comm_object& c = without_attributes(comm);
  flush_buffer(c);
  c.routes.reset();  // collective, as this call is
  // The handle is invalid from here on; the object stays until its operations are complete.
  c.what = kind::dead;
  c.freed = true;
  if (*comm == process.parent) {
    process.parent = nullptr;
  }
  *comm = MPI_COMM_NULL;
  release_comm(&c);
  return MPI_SUCCESS;
}

int impl::Comm_disconnect(MPI_Comm* comm) {
  const coll::communicator_ref all = without_attributes(comm).together();
  const bool leaves = coll::begin_to_leave(*process.engine, *all);
  if (leaves) {
    dynamic::tell_connections(*process.engine);  // before the others can come out, and end
  }
  (void)coll::barrier({*process.engine, *all}, "MPI_Comm_disconnect");
  if (leaves) {
    coll::end_leaving(*process.engine, *all);
    dynamic::tell_connections(*process.engine);
  }
  return Comm_free(comm);
}

int impl::Comm_set_name(MPI_Comm comm, const char* comm_name) {
  check_out(comm_name, "comm_name");
  local_comm_of(comm).comm->name = std::string(comm_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int impl::Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  if (comm == MPI_COMM_NULL) {
    copy_out("MPI_COMM_NULL", comm_name, resultlen);
  } else {
    copy_out(local_comm_of(comm).comm->name, comm_name, resultlen);
  }
  return MPI_SUCCESS;
}

int impl::Comm_group(MPI_Comm comm, MPI_Group* group) {
  check_out(group, "group");
  const comm_object& c = local_comm_of(comm);
  *group = new_group(c.local_group(), c.session);
  return MPI_SUCCESS;
}

int impl::Comm_get_parent(MPI_Comm* parent) {
  check_out(parent, "parent");
  *parent = process.parent != nullptr ? process.parent : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
