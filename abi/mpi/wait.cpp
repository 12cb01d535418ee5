// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 sections 3.7.3 and 3.7.5: waiting for and testing one, any, some or all requests.
#include "abi/mpi/wait.hpp"

#include <set>
#include <utility>

#include "abi/mpi/generated/impl.hpp"
#include "abi/mpi/request.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/lock.hpp"
#include "sinew/boot/wait_report.hpp"

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
  /// The first active request of which that holds, or -1.
  [[nodiscard]] int first(bool (*holds)(const request_object&) noexcept) const {
    for (int i = 0; i < count; ++i) {
      if (active(i) && holds(*(*this)[i])) {
        return i;
      }
    }
    return -1;
  }
  /// The first that has ended, one that is complete if there is any; or -1.
  [[nodiscard]] int first_ended() const {
    const int complete = first(is_complete);
    return complete >= 0 ? complete : first(ended);
  }
  [[nodiscard]] bool all_complete() const {
    return first([](const request_object& r) noexcept { return !is_complete(r); }) < 0;
  }
  [[nodiscard]] bool all_ended() const {
    return first([](const request_object& r) noexcept { return !ended(r); }) < 0;
  }
  /// Where ranks may die: one of the requests tells of a death (or of a revoked communicator). Who
  /// waits for all has to hear of that before the others have ended, since what they wait for may
  /// depend on what the program does then.
  [[nodiscard]] bool has_met_failure() const {
    return process.engine->outlives_ranks() && first(mpi::has_met_failure) >= 0;
  }
};

/// Ends one request of a call that has one; throws what went wrong. `gone` (if not null) says
/// whether it has, or stays, interrupted: who has looked before does not know it, since another
/// thread may bring the end meanwhile.
void conclude_one(request_object* r, MPI_Request* handle, MPI_Status* status, int* gone = nullptr) {
  comm_object* c = r == nullptr ? nullptr : r->comm;
  std::string sentence;
  const int code = conclude(r, handle, status, &sentence);
  if (gone != nullptr) {
    *gone = r == nullptr || *handle == MPI_REQUEST_NULL || !r->active ? 1 : 0;
  }
  if (code != MPI_SUCCESS) [[unlikely]] {
    throw failure{code, std::move(sentence), c};
  }
}

/// Ends requests of a call that has several: errors go to the statuses, and MPI_ERR_IN_STATUS to
/// the error handler of the first that failed.
class several {
 public:
  /// MPI-5.0 section 3.7.5: one that has not ended says MPI_ERR_PENDING, and stays.
  void conclude(request_object* r, MPI_Request* handle, MPI_Status* status) {
    if (r != nullptr && !ended(*r)) [[unlikely]] {
      if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_ERR_PENDING;
      }
      some_stay_ = true;
      return;
    }
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
    if (failed_ || some_stay_) {
      throw failure{MPI_ERR_IN_STATUS, sentence_, comm_};
    }
    return MPI_SUCCESS;
  }

 private:
  bool failed_ = false;
  bool some_stay_ = false;
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

/// Lists of which threads wait for the first, for whoever is told what they wait for.
class waited_lists {
 public:
  class entry {
   public:
    explicit entry(const list& all) : all_(all) {
      const base::guard held(lock_, process.threaded);
      next_ = std::exchange(first_, this);
    }
    ~entry() {
      const base::guard held(lock_, process.threaded);
      entry** at = &first_;
      while (*at != this) {
        at = &(*at)->next_;
      }
      *at = next_;
    }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

   private:
    friend class waited_lists;
    const list& all_;
    entry* next_;
  };

  /// See core::runtime::explainer.
  static bool explain(void*, const void* waited, boot::awaited& what) {
    const base::guard held(lock_, process.threaded);
    for (const entry* each = first_; each != nullptr; each = each->next_) {
      if (&each->all_ == waited) {
        return explain_any(each->all_, what);
      }
    }
    return false;
  }

 private:
  /// Where all are of messages: any of their ranks may end the wait.
  static bool explain_any(const list& all, boot::awaited& what) {
    bool is_first = true;
    for (int i = 0; i < all.count; ++i) {
      boot::awaited one;
      const request_object* const r = all.active(i) ? all[i] : nullptr;
      if (r == nullptr) {
        continue;
      }
      if (r->inner == nullptr || !process.engine->explain(*r->inner, one)) {
        return false;
      }
      add(one, is_first, what);
      is_first = false;
    }
    return !is_first && what.ranks.size() <= boot::most_awaited_ranks;
  }

  /// What they do not have in common is not told.
  static void add(const boot::awaited& one, bool is_first, boot::awaited& to) {
    if (is_first) {
      to = one;
      return;
    }
    const bool alike =
        one.what == to.what && one.tag == to.tag && one.communicator == to.communicator;
    boot::awaited sum = alike ? to : boot::awaited{};
    sum.bytes = one.bytes == to.bytes ? one.bytes : -1;
    sum.other_tag = -1;
    sum.ranks.clear();
    if (!one.ranks.empty() && !to.ranks.empty()) {  // empty: any rank
      std::set<int> ranks(to.ranks.begin(), to.ranks.end());
      ranks.insert(one.ranks.begin(), one.ranks.end());
      sum.ranks.assign(ranks.begin(), ranks.end());
    }
    to = std::move(sum);
  }

  inline static base::lock lock_;
  inline static entry* first_ = nullptr;
};

void wait_for_first(const list& all) {
  SINEW_EXPECT(all.any_active());
  if (all.first(is_complete) >= 0) {
    return;
  }
  let_messages_in();
  const waited_lists::entry known(all);
  process.runtime->wait_until(
      [](void* l) { return static_cast<const list*>(l)->first_ended() >= 0; },
      const_cast<list*>(&all));
  SINEW_ENSURE(all.first_ended() >= 0);
}

}  // namespace

void explain_waits(core::runtime& rt) {
  rt.add_diagnosis(nullptr, &process, waited_lists::explain);
}

int impl::Wait(MPI_Request* request, MPI_Status* status) {
  check_out(request, "request");
  request_object* r = request_of(*request);
  if (end_usual(r, request, status)) {
    return MPI_SUCCESS;
  }
  if (r != nullptr) {
    await(*r);
  }
  conclude_one(r, request, status);
  return MPI_SUCCESS;
}

int impl::Test(MPI_Request* request, int* flag, MPI_Status* status) {
  check_out(request, "request");
  check_out(flag, "flag");
  request_object* r = request_of(*request);
  if (r != nullptr && !is_complete(*r)) {
    process.runtime->poll();
  }
  *flag = 0;
  if (r == nullptr || ended(*r)) {
    conclude_one(r, request, status, flag);
  }
  return MPI_SUCCESS;
}

namespace {

int wait_for_all_or_failure(const list& all, MPI_Status* statuses) {
  let_messages_in();
  process.runtime->wait_until(
      [](void* l) {
        const auto& of = *static_cast<const list*>(l);
        return of.has_met_failure() || of.all_complete();
      },
      const_cast<list*>(&all));
  return conclude_all(all, statuses);
}

}  // namespace

int impl::Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  check_count(count);
  if (count > 0) {
    check_out(array_of_requests, "array_of_requests");
  }
  if (process.engine->outlives_ranks()) [[unlikely]] {
    return wait_for_all_or_failure(list(count, array_of_requests), array_of_statuses);
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
    of.conclude(r, &array_of_requests[i], status);
  }
  return of.verdict();
}

int impl::Testall(int count, MPI_Request array_of_requests[], int* flag,
                  MPI_Status* array_of_statuses) {
  check_out(flag, "flag");
  const list all(count, array_of_requests);
  if (!all.all_complete()) {
    process.runtime->poll();
  }
  *flag = all.all_complete() ? 1 : 0;
  return *flag != 0 || all.has_met_failure() ? conclude_all(all, array_of_statuses) : MPI_SUCCESS;
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
  if (all.first(is_complete) < 0) {
    process.runtime->poll();
  }
  const int first = all.first_ended();
  *flag = 0;
  if (first >= 0) {
    SINEW_ASSERT(first < count && all.active(first));
    *index = first;
    conclude_one(all[first], &array_of_requests[first], status, flag);
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
  if (all.first(is_complete) < 0) {
    process.runtime->poll();
  }
  return conclude_some(all, outcount, array_of_indices, array_of_statuses);
}

// --- looking without freeing (MPI-5.0 section 3.7.6) ---

namespace {

void peek(const request_object* r, MPI_Status* status) {
  if (r == nullptr || !r->active || !is_complete(*r)) {
    set_empty(status);
  } else {
    r->stands_for->peek(*r, status);
  }
}

}  // namespace

int impl::Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  check_out(flag, "flag");
  const request_object* r = request_of(request);
  if (r != nullptr && !is_complete(*r)) {
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
  if (!all.all_complete()) {
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
  if (all.first(is_complete) < 0) {
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
  if (all.first(is_complete) < 0) {
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
