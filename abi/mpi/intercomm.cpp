// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.6: intercommunicators. Their collectives are described in collective_calls.cpp.
#include "abi/mpi/intercomm.hpp"

#include "abi/mpi/from_groups.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

const coll::intercommunicator& sides_of(const comm_object& c) {
  if (c.sides == nullptr) {
    fail(MPI_ERR_COMM, "the communicator is no intercommunicator");
  }
  SINEW_ENSURE(c.sides->remote().size() > 0 && c.sides->local().size() > 0);
  return *c.sides;
}

}  // namespace

void check_leader(int leader, int size, const char* which) {
  if (leader < 0 || leader >= size) {
    fail(MPI_ERR_RANK, "the %s leader %d is not one of the ranks 0 to %d", which, leader, size - 1);
  }
}

int impl::Comm_test_inter(MPI_Comm comm, int* flag) {
  check_out(flag, "flag");
  *flag = local_comm_of(comm).sides != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int impl::Comm_remote_size(MPI_Comm comm, int* size) {
  check_out(size, "size");
  *size = sides_of(local_comm_of(comm)).remote().size();
  return MPI_SUCCESS;
}

int impl::Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  check_out(group, "group");
  const comm_object& c = local_comm_of(comm);
  *group = new_group(sides_of(c).remote(), c.session);
  return MPI_SUCCESS;
}

int impl::Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                           int remote_leader, int tag, MPI_Comm* newintercomm) {
  comm_object& c = intracomm_of(local_comm);
  check_out(newintercomm, "newintercomm");
  check_leader(local_leader, c.comm->size(), "local");
  const auto find = [&] {
    comm_object& peer = comm_of(peer_comm);
    if (peer.sides != nullptr) {  // as MPICH: the leader is one of the remote group
      check_leader(remote_leader, peer.sides->remote().size(), "remote");
      check_tag(tag);
      return coll::leaders_link{*peer.sides->all(), comm_rank{peer.sides->of_remote(remote_leader)},
                                message_tag{tag}};
    }
    check_leader(remote_leader, peer.comm->size(), "remote");
    if (peer.comm->rank() == comm_rank{remote_leader}) {
      fail(MPI_ERR_RANK, "the remote leader is the local one");
    }
    check_tag(tag);
    return coll::leaders_link{*peer.comm, comm_rank{remote_leader}, message_tag{tag}};
  };
  *newintercomm = adopt(connected_by(participant_of(c), comm_rank{local_leader}, find), c);
  SINEW_ENSURE(*newintercomm != MPI_COMM_NULL);
  return MPI_SUCCESS;
}

int impl::Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  comm_object& c = comm_of(intercomm);
  check_out(newintracomm, "newintracomm");
  *newintracomm = adopt(coll::merge(*process.engine, sides_of(c), high != 0), c);
  return MPI_SUCCESS;
}

/// The local groups become communicators for as long as it takes; their leaders meet in the job.
int impl::Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                       MPI_Group remote_group, int remote_leader,
                                       const char* stringtag, MPI_Info info,
                                       MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  errhandler_object* errors = comm_errhandler_of(errhandler);
  return made_by(*errors, [&] {
    check_out(newintercomm, "newintercomm");
    *newintercomm = MPI_COMM_NULL;
    const core::group& local = group_of(local_group);
    const int tag = tag_of(stringtag);
    const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
    if (local.size() == 0) {
      return;
    }
    check_leader(local_leader, local.size(), "local");
    check_member(local);
    const coll::communicator_ref one =
        coll::create_group(job_participant(), local, message_tag{tag});
    const auto find = [&] {
      const core::group& remote = group_of(remote_group);
      check_leader(remote_leader, remote.size(), "remote");
      if (coll::spans_jobs(*process.engine, remote)) {
        fail(MPI_ERR_GROUP, "the remote group has ranks of other jobs");
      }
      // A rank of the job is the same one in its communicator.
      return coll::leaders_link{*process.job, comm_rank{remote[comm_rank{remote_leader}].value()},
                                message_tag{tag}};
    };
    comm_object* made = arena<comm_object>::make(
        connected_by({*process.engine, *one}, comm_rank{local_leader}, find));
    made->errors = keep(errors);
    made->session = keep(session_of(local_group));
    if (hints != nullptr) {
      apply_hints(*made, *hints);
    }
    *newintercomm = made->handle;
  });
}

}  // namespace sinew::mpi
