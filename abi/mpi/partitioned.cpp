// SPDX-License-Identifier: BSD-3-Clause
// MPI-5.0 chapter 4: the calls of partitioned communication.
#include <memory>
#include <string>
#include <utility>

#include "abi/mpi/info.hpp"
#include "abi/mpi/message.hpp"
#include "sinew/partitioned/operation.hpp"

namespace sinew::mpi {
namespace {

class partitioned_message final : public operation {
 public:
  explicit partitioned_message(std::shared_ptr<partitioned::operation> parts) noexcept
      : parts_(std::move(parts)) {}

  [[nodiscard]] partitioned::operation& parts() const noexcept { return *parts_; }

  bool ended(const request_object&) const noexcept override { return parts_->over().done(); }
  void wait(request_object&) override { process.runtime->wait(parts_->over()); }
  int finish(request_object& r, MPI_Status* status, std::string* sentence) override {
    const p2p::fault f = parts_->outcome().error;
    peek(r, status);
    if (f != p2p::fault::none && sentence != nullptr) {
      *sentence = parts_->about(f);
    }
    return code_of(f);
  }
  void peek(const request_object&, MPI_Status* status) override {
    parts_->sends() ? set_empty(status) : set_status(status, parts_->outcome());
  }
  void start(request_object& r) override {
    if (!parts_->start()) {
      fail_on(r.comm, MPI_ERR_NO_MEM,
              "an earlier start of the request found no memory: free it and make another");
    }
  }
  /// MPI-5.0 section 4.2: partitions that are under way need their request.
  void refuse(const request_object& r, const char* what) const override {
    if (r.active) {
      fail_on(r.comm, MPI_ERR_REQUEST,
              "an active request of partitioned communication cannot be %s: wait for it", what);
    }
  }

 private:
  const std::shared_ptr<partitioned::operation> parts_;
};

void mark_ready(comm_object* c, partitioned::operation& to, int partition) {
  if (!to.ready(static_cast<std::size_t>(partition))) {
    fail_on(c, MPI_ERR_ARG,
            "the partition %d has been marked ready already since the request was started",
            partition);
  }
}

/// The first partition; throws if an argument is wrong.
p2p::buffer checked(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                    MPI_Info info) {
  if (partitions < 0) {
    fail(MPI_ERR_ARG, "the number of partitions %d is negative", partitions);
  }
  check_count(count);
  const p2p::buffer each = data_of(buf, partitions == 0 ? 0 : count, datatype);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(each.count, each.type->size(), &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::size_t>(partitions), &bytes)) {
    fail(MPI_ERR_COUNT, "%d partitions of %zu elements are more than memory can hold", partitions,
         each.count);
  }
  if (info != MPI_INFO_NULL) {
    (void)info_of(info);  // no hints are known
  }
  return each;
}

MPI_Request request_for(comm_object& c, std::shared_ptr<partitioned::operation> parts) {
  partitioned::operation& made = *parts;
  request_object& r = new_request(&c, std::make_unique<partitioned_message>(std::move(parts)));
  r.persistent = true;
  r.active = false;
  try {
    made.introduce();
  } catch (...) {
    free_request(r);
    throw;
  }
  return handle_of<MPI_Request>(&r);
}

partitioned::operation& partitioned_request(const request_object& r, bool sends) {
  const auto* const found = operation_as<partitioned_message>(r);
  if (found == nullptr || found->parts().sends() != sends) {
    fail_on(r.comm, MPI_ERR_REQUEST, "the request was not made by %s",
            sends ? "MPI_Psend_init" : "MPI_Precv_init");
  }
  return found->parts();
}

const request_object& existing(MPI_Request request) {
  const request_object* r = request_of(request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  return *r;
}

partitioned::operation& started_send(MPI_Request request) {
  const request_object& r = existing(request);
  partitioned::operation& parts = partitioned_request(r, true);
  if (!r.active) {
    fail_on(r.comm, MPI_ERR_REQUEST,
            "the request is not active: MPI_Start comes before its partitions are marked ready");
  }
  return parts;
}

void check_partition(comm_object* c, const partitioned::operation& in, int partition) {
  if (partition < 0 || partition >= in.partitions()) {
    fail_on(c, MPI_ERR_ARG, "the partition %d is not one of the request's %d, from 0 on", partition,
            in.partitions());
  }
}

}  // namespace

int impl::Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                     int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  comm_object& c = comm_of(comm);
  check_dest(c, dest);
  check_tag(tag);
  check_out(request, "request");
  const p2p::buffer each = checked(buf, partitions, count, datatype, info);
  *request = request_for(c, partitioned::new_send({*process.engine, *c.comm, each, partitions,
                                                   comm_rank{dest}, message_tag{tag}}));
  return MPI_SUCCESS;
}

int impl::Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
                     int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  comm_object& c = comm_of(comm);
  if (source == MPI_ANY_SOURCE) {
    fail(MPI_ERR_RANK, "MPI_ANY_SOURCE: partitioned receives have one source");
  }
  if (tag == MPI_ANY_TAG) {
    fail(MPI_ERR_TAG, "MPI_ANY_TAG: partitioned receives have one tag");
  }
  check_source(c, source);
  check_tag(tag);
  check_out(request, "request");
  const p2p::buffer each = checked(buf, partitions, count, datatype, info);
  *request = request_for(c, partitioned::new_receive({*process.engine, *c.comm, each, partitions,
                                                      comm_rank{source}, message_tag{tag}}));
  return MPI_SUCCESS;
}

int impl::Pready(int partition, MPI_Request request) {
  partitioned::operation& to = started_send(request);
  comm_object* const c = request_of(request)->comm;
  check_partition(c, to, partition);
  mark_ready(c, to, partition);
  return MPI_SUCCESS;
}

int impl::Pready_range(int partition_low, int partition_high, MPI_Request request) {
  partitioned::operation& to = started_send(request);
  comm_object* const c = request_of(request)->comm;
  check_partition(c, to, partition_low);
  check_partition(c, to, partition_high);
  if (partition_low > partition_high) {
    fail_on(c, MPI_ERR_ARG, "the range of partitions ends at %d, before its first, %d",
            partition_high, partition_low);
  }
  // Once the last one is marked another thread may free the request: nothing of it is used then.
  for (int i = partition_low; i <= partition_high; ++i) {
    mark_ready(c, to, i);
  }
  return MPI_SUCCESS;
}

int impl::Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  partitioned::operation& to = started_send(request);
  comm_object* const c = request_of(request)->comm;
  if (length < 0) {
    fail_on(c, MPI_ERR_ARG, "the length %d of the list is negative", length);
  }
  if (length > 0) {
    check_out(array_of_partitions, "array_of_partitions");
  }
  for (int i = 0; i < length; ++i) {
    check_partition(c, to, array_of_partitions[i]);
  }
  for (int i = 0; i < length; ++i) {
    mark_ready(c, to, array_of_partitions[i]);
  }
  return MPI_SUCCESS;
}

int impl::Parrived(MPI_Request request, int partition, int* flag) {
  check_out(flag, "flag");
  *flag = 1;  // of a request that is null or inactive, too (MPI-5.0 section 4.2.2)
  if (request == MPI_REQUEST_NULL) {
    return MPI_SUCCESS;
  }
  const request_object& r = existing(request);
  const partitioned::operation& from = partitioned_request(r, false);
  check_partition(r.comm, from, partition);
  const auto i = static_cast<std::size_t>(partition);
  if (r.active && !from.arrived(i)) {
    process.runtime->poll();
    *flag = from.arrived(i) ? 1 : 0;
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
