// MPI-5.0 sections 3.7.3 and 3.7.5: waiting for and testing one, any, some or all requests.
#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/partitioned.hpp"
#include "abi/mpi/request.hpp"
#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

/// The requests of one call: all handles are good, and which are active.
struct list {
  MPI_Request* handles;
  int count;

  list(int n, MPI_Request* first) : handles(first), count(n) {
    check_count(n);
    if (n > 0) {
      check_out(first, "array_of_requests");
    }
    for (int i = 0; i < n; ++i) {
      (void)request_of(first[i]);
    }
  }
  [[nodiscard]] request_object* operator[](int i) const { return request_of(handles[i]); }
  [[nodiscard]] bool active(int i) const {
    const request_object* r = (*this)[i];
    return r != nullptr && r->active;
  }
  [[nodiscard]] bool any_active() const {
    for (int i = 0; i < count; ++i) {
      if (active(i)) {
        return true;
      }
    }
    return false;
  }
  /// The first active request that has ended, or -1.
  [[nodiscard]] int first_ended() const {
    for (int i = 0; i < count; ++i) {
      if (active(i) && ended(*(*this)[i])) {
        return i;
      }
    }
    return -1;
  }
  [[nodiscard]] bool all_ended() const {
    for (int i = 0; i < count; ++i) {
      if (active(i) && !ended(*(*this)[i])) {
        return false;
      }
    }
    return true;
  }
};

/// Ends one request of a call that has one; throws what went wrong.
void conclude_one(request_object* r, MPI_Request* handle, MPI_Status* status) {
  comm_object* c = r == nullptr ? nullptr : r->comm;
  std::string sentence;
  const int code = conclude(r, handle, status, &sentence);
  if (code != MPI_SUCCESS) [[unlikely]] {
    throw failure{code, std::move(sentence), c};
  }
}

/// Ends requests of a call that has several: errors go to the statuses, and MPI_ERR_IN_STATUS to
/// the error handler of the first that failed.
class several {
 public:
  void conclude(request_object* r, MPI_Request* handle, MPI_Status* status) {
    comm_object* c = r == nullptr ? nullptr : r->comm;
    const int code = mpi::conclude(r, handle, status, failed_ ? nullptr : &sentence_);
    if (status != MPI_STATUS_IGNORE) {
      status->MPI_ERROR = code;
    }
    if (code != MPI_SUCCESS && !failed_) [[unlikely]] {
      failed_ = true;
      comm_ = c;
    }
  }
  int verdict() {
    if (failed_) {
      throw failure{MPI_ERR_IN_STATUS, sentence_, comm_};
    }
    return MPI_SUCCESS;
  }

 private:
  bool failed_ = false;
  comm_object* comm_ = nullptr;
  std::string sentence_;
};

MPI_Status* nth(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

int conclude_all(const list& all, MPI_Status* statuses) {
  several of;
  for (int i = 0; i < all.count; ++i) {
    of.conclude(all[i], &all.handles[i], nth(statuses, i));
  }
  return of.verdict();
}

int conclude_some(const list& all, int* outcount, int* indices, MPI_Status* statuses) {
  several of;
  int n = 0;
  for (int i = 0; i < all.count; ++i) {
    if (all.active(i) && ended(*all[i])) {
      indices[n] = i;
      of.conclude(all[i], &all.handles[i], nth(statuses, n));
      ++n;
    }
  }
  SINEW_ENSURE(n <= all.count);
  *outcount = n;
  return of.verdict();
}

void wait_for_first(const list& all) {
  SINEW_EXPECT(all.any_active());
  if (all.first_ended() >= 0) {
    return;
  }
  process.runtime->wait_until(
      [](void* l) { return static_cast<const list*>(l)->first_ended() >= 0; },
      const_cast<list*>(&all));
  SINEW_ENSURE(all.first_ended() >= 0);
}

}  // namespace

int impl::Wait(MPI_Request* request, MPI_Status* status) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (end_usual(r, request, status)) {
    return MPI_SUCCESS;
  }
  if (r != nullptr) {
    await(*r);
  }
  SINEW_ASSERT(r == nullptr || ended(*r));
  conclude_one(r, request, status);
  return MPI_SUCCESS;
}

int impl::Test(MPI_Request* request, int* flag, MPI_Status* status) {
  check_out(request, "request");
  check_out(flag, "flag");
  request_object* r = request_of(*request);
  if (r != nullptr && !ended(*r)) {
    process.runtime->poll();
  }
  *flag = r == nullptr || ended(*r) ? 1 : 0;
  if (*flag != 0) {
    conclude_one(r, request, status);
  }
  return MPI_SUCCESS;
}

int impl::Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  check_count(count);
  if (count > 0) {
    check_out(array_of_requests, "array_of_requests");
  }
  several of;
  for (int i = 0; i < count; ++i) {
    request_object* r = request_of(array_of_requests[i]);
    MPI_Status* status = nth(array_of_statuses, i);
    if (end_usual(r, &array_of_requests[i], status)) {
      if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_SUCCESS;
      }
      continue;
    }
    if (r != nullptr) {
      await(*r);
    }
    SINEW_ASSERT(r == nullptr || ended(*r));
    of.conclude(r, &array_of_requests[i], status);
  }
  return of.verdict();
}

int impl::Testall(int count, MPI_Request array_of_requests[], int* flag,
                  MPI_Status* array_of_statuses) {
  check_out(flag, "flag");
  const list all(count, array_of_requests);
  if (!all.all_ended()) {
    process.runtime->poll();
  }
  *flag = all.all_ended() ? 1 : 0;
  return *flag != 0 ? conclude_all(all, array_of_statuses) : MPI_SUCCESS;
}

int impl::Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  check_out(index, "index");
  const list all(count, array_of_requests);
  if (!all.any_active()) {
    *index = MPI_UNDEFINED;
    set_empty(status);
    return MPI_SUCCESS;
  }
  wait_for_first(all);
  *index = all.first_ended();
  SINEW_ASSERT(*index >= 0 && *index < count);
  conclude_one(all[*index], &array_of_requests[*index], status);
  return MPI_SUCCESS;
}

int impl::Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                  MPI_Status* status) {
  check_out(index, "index");
  check_out(flag, "flag");
  const list all(count, array_of_requests);
  *index = MPI_UNDEFINED;
  if (!all.any_active()) {
    *flag = 1;
    set_empty(status);
    return MPI_SUCCESS;
  }
  int first = all.first_ended();
  if (first < 0) {
    process.runtime->poll();
    first = all.first_ended();
  }
  *flag = first >= 0 ? 1 : 0;
  if (first >= 0) {
    SINEW_ASSERT(first < count && all.active(first));
    *index = first;
    conclude_one(all[first], &array_of_requests[first], status);
  }
  return MPI_SUCCESS;
}

int impl::Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                   int array_of_indices[], MPI_Status* array_of_statuses) {
  check_out(outcount, "outcount");
  const list all(incount, array_of_requests);
  if (!all.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  check_out(array_of_indices, "array_of_indices");
  wait_for_first(all);
  return conclude_some(all, outcount, array_of_indices, array_of_statuses);
}

int impl::Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                   int array_of_indices[], MPI_Status* array_of_statuses) {
  check_out(outcount, "outcount");
  const list all(incount, array_of_requests);
  if (!all.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  check_out(array_of_indices, "array_of_indices");
  if (all.first_ended() < 0) {
    process.runtime->poll();
  }
  return conclude_some(all, outcount, array_of_indices, array_of_statuses);
}

// --- looking without freeing (MPI-5.0 section 3.7.6) ---

namespace {

void peek(const request_object* r, MPI_Status* status) {
  SINEW_EXPECT(r == nullptr || ended(*r));
  using sort = request_object::sort;
  const sort what = r == nullptr || !r->active ? sort::finished : r->what_for;
  if (what == sort::generalized) {
    MPI_Status own{};
    set_empty(&own);
    if (r->own.query != nullptr) {
      r->own.query(r->own.state, &own);
    }
    if (status != MPI_STATUS_IGNORE) {
      *status = own;
    }
  } else if (what == sort::duplicate) {
    SINEW_ASSERT(r->duplicates != nullptr);
    (void)install(*r->duplicates, nullptr);  // an error is returned when the request is completed
    set_empty(status);
  } else if (what == sort::partitioned) {
    r->parts->fill(status);
  } else if (what == sort::file) {
    SINEW_ASSERT(r->file != nullptr);
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, static_cast<std::size_t>(r->file->bytes));
  } else if (what != sort::finished && what != sort::send && r->inner != nullptr) {
    SINEW_ASSERT(r->inner->done());
    set_status(status, r->inner->outcome);
  } else {
    set_empty(status);
  }
}

}  // namespace

int impl::Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  check_out(flag, "flag");
  const request_object* r = request_of(request);
  if (r != nullptr && !ended(*r)) {
    process.runtime->poll();
  }
  *flag = r == nullptr || ended(*r) ? 1 : 0;
  if (*flag != 0) {
    peek(r, status);
  }
  return MPI_SUCCESS;
}

int impl::Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                                 MPI_Status* array_of_statuses) {
  check_out(flag, "flag");
  const list all(count, const_cast<MPI_Request*>(array_of_requests));
  if (!all.all_ended()) {
    process.runtime->poll();
  }
  *flag = all.all_ended() ? 1 : 0;
  for (int i = 0; *flag != 0 && i < count; ++i) {
    peek(all[i], nth(array_of_statuses, i));
  }
  return MPI_SUCCESS;
}

int impl::Request_get_status_any(int count, const MPI_Request array_of_requests[], int* index,
                                 int* flag, MPI_Status* status) {
  check_out(index, "index");
  check_out(flag, "flag");
  const list all(count, const_cast<MPI_Request*>(array_of_requests));
  *index = MPI_UNDEFINED;
  if (!all.any_active()) {
    *flag = 1;
    set_empty(status);
    return MPI_SUCCESS;
  }
  if (all.first_ended() < 0) {
    process.runtime->poll();
  }
  const int first = all.first_ended();
  *flag = first >= 0 ? 1 : 0;
  if (first >= 0) {
    SINEW_ASSERT(first < count && all.active(first));
    *index = first;
    peek(all[first], status);
  }
  return MPI_SUCCESS;
}

int impl::Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                                  int array_of_indices[], MPI_Status* array_of_statuses) {
  check_out(outcount, "outcount");
  const list all(incount, const_cast<MPI_Request*>(array_of_requests));
  if (!all.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  check_out(array_of_indices, "array_of_indices");
  if (all.first_ended() < 0) {
    process.runtime->poll();
  }
  int n = 0;
  for (int i = 0; i < incount; ++i) {
    if (all.active(i) && ended(*all[i])) {
      array_of_indices[n] = i;
      peek(all[i], nth(array_of_statuses, n));
      ++n;
    }
  }
  *outcount = n;
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
