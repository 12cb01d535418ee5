// MPI-5.0 section 7.4.2: duplicates of communicators, blocking and not.
#include <mutex>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

struct duplication {
  std::shared_ptr<coll::new_communicator> agreed;
  comm_object* fresh = nullptr;  ///< behind the new handle; null once it could not be made
  info_object* hints = nullptr;  ///< a copy: the program may free its own
  std::mutex lock;               ///< several threads may look at one request
  bool installed = false;
  int code = MPI_SUCCESS;
  std::string sentence;

  duplication() = default;
  duplication(const duplication&) = delete;
  duplication& operator=(const duplication&) = delete;
  ~duplication() { drop(hints); }
};

bool agreed(const duplication& d) noexcept { return d.agreed->over.done(); }

void await(duplication& d) { process.runtime->wait(d.agreed->over); }

namespace {

/// A communicator for local calls only, until it is finished, with the attributes of `old`.
comm_object* begin(MPI_Comm comm, comm_object& old) {
  // Until the context is known it has members, and no channels.
  const core::communicator& c = *old.comm;
  auto* fresh = arena<comm_object>::make(
      std::make_shared<core::communicator>(c.context(), c.members(), c.rank()));
  fresh->what = kind::unfinished_comm;
  fresh->errors = keep(old.errors);
  fresh->session = keep(old.session);
  fresh->places = old.places;
  fresh->sides = old.sides;
  try {
    copy_attributes(attached_to::comm, comm, old.attached, fresh->attached);
  } catch (...) {
    drop(fresh);
    throw;
  }
  return fresh;
}

void finish(comm_object& fresh, coll::communicator_ref made, const info_object* hints) {
  SINEW_EXPECT(made != nullptr && fresh.what.load() == kind::unfinished_comm);
  if (fresh.sides != nullptr) {
    fresh.sides = std::make_shared<coll::intercommunicator>(*process.engine, std::move(made),
                                                            fresh.sides->first_size());
    made = fresh.sides->across();
  }
  SINEW_ASSERT(made->size() == fresh.comm->size() && made->rank() == fresh.comm->rank());
  made->name = fresh.comm->name;
  fresh.owned = std::move(made);
  fresh.comm = fresh.owned.get();
  if (hints != nullptr) {
    apply_hints(fresh, *hints);
  }
  fresh.what.store(kind::comm, std::memory_order_release);
}

int duplicate(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  comm_object& old = comm_of(comm);
  check_out(newcomm, "newcomm");
  *newcomm = MPI_COMM_NULL;
  const info_object* hints = info == MPI_INFO_NULL ? nullptr : &info_of(info);
  coll::communicator_ref made =
      coll::duplicate(coll::participant{*process.engine, *old.together()});
  comm_object* fresh = begin(comm, old);
  finish(*fresh, std::move(made), hints);
  *newcomm = fresh->handle;
  return MPI_SUCCESS;
}

/// As if MPI_Comm_dup were called now, but for the agreement (MPI-5.0 section 7.4.2): attributes
/// are copied at once. If a copy function fails the others must still be able to end their calls,
/// so this rank agrees with them on a communicator that it then does not use.
int start_duplicate(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  comm_object& old = comm_of(comm);
  check_out(newcomm, "newcomm");
  check_out(request, "request");
  *newcomm = MPI_COMM_NULL;
  *request = MPI_REQUEST_NULL;
  auto d = std::make_shared<duplication>();
  if (info != MPI_INFO_NULL) {
    d->hints = copy_of(info_of(info));
  }
  try {
    d->fresh = begin(comm, old);
  } catch (...) {
    (void)coll::start_duplicate(*process.engine, old.together());
    throw;
  }
  request_object& r = new_request(&old, request_object::sort::duplicate);
  d->agreed = coll::start_duplicate(*process.engine, old.together());
  *newcomm = d->fresh->handle;
  r.duplicates = std::move(d);
  r.owns = true;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

}  // namespace

int install(duplication& d, std::string* sentence) {
  SINEW_EXPECT(agreed(d));
  const std::lock_guard held(d.lock);
  if (!d.installed) {
    d.installed = true;
    try {
      if (d.agreed->problem) {
        std::rethrow_exception(d.agreed->problem);
      }
      SINEW_ASSERT(d.fresh != nullptr);
      finish(*d.fresh, d.agreed->made, d.hints);
    } catch (const std::bad_alloc&) {
      d.code = MPI_ERR_NO_MEM;
      d.sentence = "there is no memory left for the new communicator";
    } catch (const sinew::error& e) {
      d.code = class_of(e);
      d.sentence = e.what();
    } catch (const std::exception& e) {
      d.code = MPI_ERR_OTHER;
      d.sentence = e.what();
    }
    d.agreed->made.reset();  // the new handle owns it now
    if (d.code != MPI_SUCCESS) {
      drop(std::exchange(d.fresh, nullptr));
    }
  }
  SINEW_ENSURE((d.code == MPI_SUCCESS) == (d.fresh != nullptr));
  if (sentence != nullptr) {
    *sentence = d.sentence;
  }
  return d.code;
}

int impl::Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return duplicate(comm, MPI_INFO_NULL, newcomm);
}

int impl::Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return duplicate(comm, info, newcomm);
}

int impl::Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  return start_duplicate(comm, MPI_INFO_NULL, newcomm, request);
}

int impl::Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                              MPI_Request* request) {
  return start_duplicate(comm, info, newcomm, request);
}

}  // namespace sinew::mpi
