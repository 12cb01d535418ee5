// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 section 7.4.2: duplicates of communicators, blocking and not.
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "abi/mpi/comm.hpp"
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/info.hpp"
#include "abi/mpi/request.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {

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

/// What MPI_Comm_idup has begun.
class nonblocking_duplicate final : public operation {
 public:
  /// `fresh` is behind the new handle already; `hints`, which may be null, are this object's.
  nonblocking_duplicate(comm_object* fresh, info_object* hints) noexcept
      : fresh_(fresh), hints_(hints) {}
  ~nonblocking_duplicate() override { mpi::drop(hints_); }

  void begin(const coll::communicator_ref& over) {
    agreed_ = coll::start_duplicate(*process.engine, over);
  }

  bool ended(const request_object&) const noexcept override { return agreed_->over.done(); }
  void wait(request_object&) override { process.runtime->wait(agreed_->over); }
  int finish(request_object&, MPI_Status* status, std::string* sentence) override {
    set_empty(status);
    install();
    if (sentence != nullptr) {
      *sentence = sentence_;
    }
    return code_;
  }
  /// An error is returned when the request is completed.
  void peek(const request_object&, MPI_Status* status) override {
    install();
    set_empty(status);
  }
  void refuse(const request_object&, const char* what) const override { refuse_collective(what); }

 private:
  void install();

  comm_object* fresh_;  ///< null once it could not be made
  info_object* hints_;
  std::shared_ptr<coll::new_communicator> agreed_;
  std::mutex lock_;  ///< several threads may look at one request
  bool installed_ = false;
  int code_ = MPI_SUCCESS;
  std::string sentence_;
};

/// The new handle stands for the communicator, or for nothing.
void nonblocking_duplicate::install() {
  SINEW_EXPECT(agreed_->over.done());
  const std::lock_guard held(lock_);
  if (installed_) {
    return;
  }
  installed_ = true;
  try {
    if (agreed_->problem) {
      std::rethrow_exception(agreed_->problem);
    }
    SINEW_ASSERT(fresh_ != nullptr);
    mpi::finish(*fresh_, agreed_->made, hints_);
  } catch (const std::bad_alloc&) {
    code_ = MPI_ERR_NO_MEM;
    sentence_ = "there is no memory left for the new communicator";
  } catch (const sinew::error& e) {
    code_ = class_of(e);
    sentence_ = e.what();
  } catch (const std::exception& e) {
    code_ = MPI_ERR_OTHER;
    sentence_ = e.what();
  }
  agreed_->made.reset();  // the new handle owns it now
  if (code_ != MPI_SUCCESS) {
    mpi::drop(std::exchange(fresh_, nullptr));
  }
  SINEW_ENSURE((code_ == MPI_SUCCESS) == (fresh_ != nullptr));
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
  comm_object* fresh = nullptr;
  try {
    fresh = begin(comm, old);
  } catch (...) {
    (void)coll::start_duplicate(*process.engine, old.together());
    throw;
  }
  info_object* const hints = info == MPI_INFO_NULL ? nullptr : copy_of(info_of(info));
  auto made = std::make_unique<nonblocking_duplicate>(fresh, hints);
  nonblocking_duplicate& agreement = *made;
  request_object& r = new_request(&old, std::move(made));
  agreement.begin(old.together());
  *newcomm = fresh->handle;
  *request = handle_of<MPI_Request>(&r);
  return MPI_SUCCESS;
}

}  // namespace

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
