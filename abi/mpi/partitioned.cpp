// MPI-5.0 chapter 4: partitioned communication.
#include "abi/mpi/partitioned.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "abi/mpi/info.hpp"
#include "abi/mpi/message.hpp"

namespace sinew::mpi {
namespace {

using p2p::engine;

/// What the sender tells.
struct terms {
  std::uint32_t partitions;
  std::uint32_t first_tag;  ///< the others' tags follow it, from 0 on again after the last one
  std::uint64_t bytes;      ///< of a partition
};

int tag_of(std::uint32_t first, std::size_t partition) noexcept {
  return static_cast<int>((first + partition) & static_cast<std::uint32_t>(p2p::max_tag));
}

p2p::channel& channel_of(const comm_object& c, engine::partitioned what) {
  return process.engine->channel_for(*c.comm, what);
}

/// A message that tells somebody when it has ended.
struct told : core::waiter {
  p2p::request* message = nullptr;

  /// False if it has ended already: then nobody is told.
  [[nodiscard]] bool tell_when_ended(p2p::request* m) noexcept {
    message = m;
    return m->attach(*this);
  }
  p2p::fault take() noexcept {
    const p2p::fault f = message->outcome.error;
    process.engine->release(message);
    return f;
  }
};

}  // namespace

void* partitioned_operation::place_of(std::size_t instance) const noexcept {
  // By numbers: the base may be MPI_BOTTOM.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(with_.each.base) +
                                 instance * static_cast<std::size_t>(with_.each.type->extent()));
}

void partitioned_operation::begin() noexcept {
  over_.reset();
  fault_.store(p2p::fault::none, std::memory_order_relaxed);
  left_.store(1, std::memory_order_relaxed);
}

void partitioned_operation::end_some(std::size_t messages) noexcept {
  const std::size_t before = left_.fetch_sub(messages, std::memory_order_acq_rel);
  SINEW_ASSERT(before >= messages);
  if (before == messages) {
    over_.complete();
  }
}

void partitioned_operation::note(p2p::fault f) noexcept {
  if (f != p2p::fault::none) {
    fault_.store(f, std::memory_order_relaxed);
  }
}

int partitioned_operation::conclude(MPI_Status* status, std::string* sentence) const {
  tell(status);
  const p2p::fault f = fault_.load(std::memory_order_relaxed);
  if (f != p2p::fault::none && sentence != nullptr) {
    *sentence = about(f);
  }
  return code_of(f);
}

namespace {

// --- sending ---

/// The terms on their way. Nobody waits for them, so the object is its own.
struct terms_sent : told {
  terms what{};
};

class partitioned_send final : public partitioned_operation {
 public:
  explicit partitioned_send(const arguments& with)
      : partitioned_operation(with, true),
        data_(channel_of(with.comm, engine::partitioned::data)),
        parts_(std::make_unique<part[]>(static_cast<std::size_t>(with.partitions))) {
    const auto n = static_cast<std::uint32_t>(with.partitions);
    first_tag_ = with.comm.partition_tags.fetch_add(n, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < n; ++i) {
      parts_[i].of = this;
      parts_[i].fire = [](core::waiter& w) noexcept { ended(static_cast<part&>(w)); };
    }
  }

  void introduce() override;

  void start() override {
    const auto n = static_cast<std::size_t>(with_.partitions);
    for (std::size_t i = 0; i < n; ++i) {
      parts_[i].ready.store(false, std::memory_order_relaxed);
    }
    begin();
    expect(n);
    end_one();
  }

  /// The partition can go. Any thread.
  void ready(std::size_t i) {
    part& p = parts_[i];
    if (p.ready.exchange(true, std::memory_order_relaxed)) {
      fail_on(&with_.comm, MPI_ERR_ARG,
              "the partition %zu has been marked ready already since the request was started", i);
    }
    if (with_.peer == MPI_PROC_NULL) {
      end_one();
      return;
    }
    p2p::request* m = nullptr;
    try {
      m = process.engine->isend(*with_.comm.comm, data_,
                                {place_of(i * with_.each.count), with_.each.count, with_.each.type},
                                with_.peer, tag_of(first_tag_, i));
    } catch (...) {
      p.ready.store(false, std::memory_order_relaxed);
      throw;
    }
    if (m == nullptr) {
      end_one();
    } else if (!p.tell_when_ended(m)) {
      ended(p);
    }
  }

  void tell(MPI_Status* status) const noexcept override { set_empty(status); }

 private:
  struct part : told {
    partitioned_send* of = nullptr;
    /// Marked since the last start. Relaxed: it only tells errors apart.
    std::atomic<bool> ready{false};
  };

  static void ended(part& p) noexcept {
    p.of->note(p.take());
    p.of->end_one();
  }

  std::string about(p2p::fault) const override {
    return "partitions to rank " + std::to_string(with_.peer) + ", tag " +
           std::to_string(with_.tag) + ": no memory for a message";
  }

  p2p::channel& data_;
  std::unique_ptr<part[]> parts_;
  std::uint32_t first_tag_;
};

void partitioned_send::introduce() {
  if (with_.peer == MPI_PROC_NULL) {
    return;
  }
  auto sent = std::make_unique<terms_sent>();
  sent->what = {static_cast<std::uint32_t>(with_.partitions), first_tag_, with_.each.bytes()};
  sent->fire = [](core::waiter& w) noexcept {
    auto& self = static_cast<terms_sent&>(w);
    (void)self.take();
    delete &self;
  };
  p2p::request* const m = process.engine->isend(
      *with_.comm.comm, channel_of(with_.comm, engine::partitioned::terms),
      p2p::buffer::of_bytes(&sent->what, sizeof sent->what), with_.peer, with_.tag);
  if (m == nullptr) {
    return;
  }
  terms_sent* const own = sent.release();
  if (!own->tell_when_ended(m)) {
    own->fire(*own);
  }
}

// --- receiving ---

class partitioned_receive final : public partitioned_operation,
                                  public std::enable_shared_from_this<partitioned_receive> {
 public:
  explicit partitioned_receive(const arguments& with)
      : partitioned_operation(with, false),
        data_(channel_of(with.comm, engine::partitioned::data)),
        missing_(std::make_unique<std::atomic<std::uint32_t>[]>(
            static_cast<std::size_t>(with.partitions))) {
    coming_.of = this;
    coming_.fire = [](core::waiter& w) noexcept { static_cast<terms_coming&>(w).of->terms_came(); };
  }

  void introduce() override;
  void start() override;

  /// Any thread.
  [[nodiscard]] bool arrived(std::size_t partition) const noexcept {
    return missing_[partition].load(std::memory_order_acquire) == 0;
  }

  void tell(MPI_Status* status) const noexcept override {
    if (with_.peer == MPI_PROC_NULL) {
      set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
      set_status(status, with_.peer, with_.tag, std::min(room(), sent_bytes()));
    }
  }

  /// Receives what the sender's partitions bring. Its terms are known, and it has begun.
  void post() noexcept;

  partitioned_receive* next = nullptr;  ///< in late_starts

 private:
  struct terms_coming : told {
    partitioned_receive* of = nullptr;
  };
  /// One of the sender's partitions.
  struct part : told {
    partitioned_receive* of = nullptr;
    /// Where it cannot be received in place, since it ends within an instance of our datatype that
    /// is not dense, or lies beyond our end.
    std::unique_ptr<std::byte[]> aside;
  };
  /// Both kinds of partitions in steps of one scale. Bytes; but if the two sides are equally long,
  /// shares of the whole, since a partition may be empty.
  struct scale {
    std::uint64_t theirs;
    std::uint64_t ours;
  };
  struct range {
    std::uint64_t from;
    std::uint64_t to;  ///< one after the last
  };

  [[nodiscard]] std::size_t room() const noexcept {
    return static_cast<std::size_t>(with_.partitions) * with_.each.bytes();
  }
  [[nodiscard]] std::size_t sent_bytes() const noexcept { return terms_.partitions * terms_.bytes; }
  [[nodiscard]] scale steps() const noexcept {
    const auto own = static_cast<std::uint64_t>(with_.partitions);
    return room() == sent_bytes() || with_.each.bytes() == 0 || terms_.bytes == 0
               ? scale{own, terms_.partitions}
               : scale{terms_.bytes, with_.each.bytes()};
  }
  /// Which of the sender's partitions touch ours: what lies beyond the sender's end comes with its
  /// last one.
  [[nodiscard]] range theirs_in(std::uint64_t ours) const noexcept {
    const scale by = steps();
    const std::uint64_t n = terms_.partitions;
    if (n == 0) {
      return {0, 0};
    }
    return {std::min(ours * by.ours / by.theirs, n - 1),
            std::min(((ours + 1) * by.ours - 1) / by.theirs, n - 1) + 1};
  }
  /// The inverse.
  [[nodiscard]] range ours_in(std::uint64_t theirs) const noexcept {
    const scale by = steps();
    const auto n = static_cast<std::uint64_t>(with_.partitions);
    if (n == 0) {
      return {0, 0};
    }
    return {std::min(theirs * by.theirs / by.ours, n),
            theirs + 1 == terms_.partitions
                ? n
                : std::min(((theirs + 1) * by.theirs - 1) / by.ours + 1, n)};
  }

  void terms_came() noexcept;
  void make_parts();
  [[nodiscard]] p2p::buffer place_for(std::size_t i);
  static void ended(part& p) noexcept;
  std::string about(p2p::fault f) const override;

  p2p::channel& data_;
  /// Of each of our partitions: how many of the sender's it still waits for. Counting down is a
  /// release, and seeing 0 an acquire, so that the data is seen, too.
  std::unique_ptr<std::atomic<std::uint32_t>[]> missing_;
  std::unique_ptr<part[]> parts_;
  terms terms_{};
  terms_coming coming_;
  std::shared_ptr<partitioned_receive> self_;  ///< until the terms have come
  core::lock lock_;                            ///< guards the next two
  bool has_terms_ = false;
  bool started_early_ = false;
  bool broken_ = false;  ///< messages of an earlier start have not all found a receive
};

/// Receives that were started before their terms came. They go on in a chore of the runtime's,
/// since no receive can be posted while a message is being delivered.
struct late_starts {
  core::lock lock;
  partitioned_receive* first = nullptr;
  int chore = -1;
  std::once_flag once;

  void prepare() {
    std::call_once(once, [this] {
      chore = process.runtime->add_chore(
          [](void* self) { return static_cast<late_starts*>(self)->go_on(); }, this);
    });
  }
  void add(partitioned_receive& r) noexcept {
    const core::guard held(lock, process.threaded);
    r.next = first;
    first = &r;
    process.runtime->want_chore(chore, true);
  }
  int go_on() noexcept {
    partitioned_receive* all = nullptr;
    {
      const core::guard held(lock, process.threaded);
      std::swap(all, first);
      process.runtime->want_chore(chore, false);
    }
    int done = 0;
    while (all != nullptr) {
      partitioned_receive& r = *all;
      all = r.next;  // before the program can free it
      r.post();
      ++done;
    }
    return done;
  }
};
late_starts late;

void partitioned_receive::start() {
  if (broken_) {
    fail_on(&with_.comm, MPI_ERR_NO_MEM,
            "an earlier start of the request found no memory: free it and make another");
  }
  if (with_.peer == MPI_PROC_NULL) {
    begin();
    end_one();
    return;
  }
  {
    const core::guard held(lock_, process.threaded);
    if (!has_terms_) {
      begin();  // ended by post(), when they have come
      for (int i = 0; i < with_.partitions; ++i) {
        missing_[static_cast<std::size_t>(i)].store(1, std::memory_order_relaxed);
      }
      started_early_ = true;
      return;
    }
  }
  if (parts_ == nullptr) {
    make_parts();
  }
  begin();
  post();
}

void partitioned_receive::introduce() {
  if (with_.peer == MPI_PROC_NULL) {
    return;
  }
  p2p::request* const m =
      process.engine->irecv(*with_.comm.comm, channel_of(with_.comm, engine::partitioned::terms),
                            p2p::buffer::of_bytes(&terms_, sizeof terms_), with_.peer, with_.tag);
  self_ = shared_from_this();
  if (!coming_.tell_when_ended(m)) {
    terms_came();
  }
}

void partitioned_receive::terms_came() noexcept {
  // If the request has been freed meanwhile, the object goes with this.
  const std::shared_ptr<partitioned_receive> self = std::move(self_);
  (void)coming_.take();
  bool started = false;
  {
    const core::guard held(lock_, process.threaded);
    has_terms_ = true;
    started = started_early_;
  }
  if (started) {
    late.add(*this);
  }
}

void partitioned_receive::make_parts() {
  auto fresh = std::make_unique<part[]>(terms_.partitions);
  for (std::size_t i = 0; i < terms_.partitions; ++i) {
    fresh[i].of = this;
    fresh[i].fire = [](core::waiter& w) noexcept { ended(static_cast<part&>(w)); };
  }
  parts_ = std::move(fresh);
}

p2p::buffer partitioned_receive::place_for(std::size_t i) {
  const layout::datatype& type = *with_.each.type;
  const std::size_t offset = i * terms_.bytes;
  if (terms_.bytes == 0) {
    return p2p::buffer::of_bytes(static_cast<void*>(nullptr), 0);
  }
  if (offset + terms_.bytes <= room()) {
    if (offset % type.size() == 0 && terms_.bytes % type.size() == 0) {
      return {place_of(offset / type.size()), terms_.bytes / type.size(), &type};
    }
    if (type.dense()) {
      return p2p::buffer::of_bytes(static_cast<std::byte*>(with_.each.base) + offset, terms_.bytes);
    }
  }
  if (parts_[i].aside == nullptr) {
    parts_[i].aside = std::make_unique<std::byte[]>(terms_.bytes);
  }
  return p2p::buffer::of_bytes(parts_[i].aside.get(), terms_.bytes);
}

void partitioned_receive::post() noexcept {
  const std::size_t n = terms_.partitions;
  for (int j = 0; j < with_.partitions; ++j) {
    const range r = theirs_in(static_cast<std::uint64_t>(j));
    missing_[static_cast<std::size_t>(j)].store(static_cast<std::uint32_t>(r.to - r.from),
                                                std::memory_order_relaxed);
  }
  expect(n);
  if (sent_bytes() > room()) {
    note(p2p::fault::truncated);
  }
  std::size_t i = 0;
  try {
    if (parts_ == nullptr) {
      make_parts();
    }
    for (; i < n; ++i) {
      p2p::request* const m = process.engine->irecv(*with_.comm.comm, data_, place_for(i),
                                                    with_.peer, tag_of(terms_.first_tag, i));
      if (!parts_[i].tell_when_ended(m)) {
        ended(parts_[i]);
      }
    }
  } catch (...) {  // no memory
    broken_ = true;
    note(p2p::fault::no_memory);
  }
  end_some(n - i + 1);
}

void partitioned_receive::ended(part& p) noexcept {
  partitioned_receive& self = *p.of;
  const auto i = static_cast<std::size_t>(&p - self.parts_.get());
  self.note(p.take());
  if (p.aside != nullptr && i * self.terms_.bytes < self.room()) {
    (void)layout::unpack(*self.with_.each.type,
                         self.with_.each.count * static_cast<std::size_t>(self.with_.partitions),
                         self.with_.each.base, i * self.terms_.bytes,
                         {p.aside.get(), self.terms_.bytes});
  }
  const range to = self.ours_in(i);
  for (std::uint64_t j = to.from; j < to.to; ++j) {
    self.missing_[j].fetch_sub(1, std::memory_order_release);
  }
  self.end_one();
}

std::string partitioned_receive::about(p2p::fault f) const {
  const std::string which =
      "partitions from rank " + std::to_string(with_.peer) + ", tag " + std::to_string(with_.tag);
  return f == p2p::fault::truncated
             ? which + ": the sender's have " + std::to_string(sent_bytes()) +
                   " bytes in all, the receiver's only " + std::to_string(room())
             : which + ": no memory to receive a message";
}

// --- requests ---

void start_partitioned(request_object& r) { r.parts->start(); }

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

MPI_Request request_for(comm_object& c, std::shared_ptr<partitioned_operation> parts) {
  request_object& r = new_request(&c, request_object::sort::partitioned);
  r.inner = nullptr;
  r.second = nullptr;
  r.persistent = true;
  r.active = false;
  r.again = {};
  r.again.start = start_partitioned;
  r.parts = std::move(parts);
  r.owns = true;
  try {
    r.parts->introduce();
  } catch (...) {
    free_request(r);
    throw;
  }
  return handle_of<MPI_Request>(&r);
}

request_object& partitioned_request(MPI_Request request, bool sends) {
  request_object* r = request_of(request);
  if (r == nullptr) {
    fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  }
  if (r->what_for != request_object::sort::partitioned || r->parts->sends() != sends) {
    fail_on(r->comm, MPI_ERR_REQUEST, "the request was not made by %s",
            sends ? "MPI_Psend_init" : "MPI_Precv_init");
  }
  return *r;
}

partitioned_send& started_send(MPI_Request request) {
  request_object& r = partitioned_request(request, true);
  if (!r.active) {
    fail_on(r.comm, MPI_ERR_REQUEST,
            "the request is not active: MPI_Start comes before its partitions are marked ready");
  }
  return static_cast<partitioned_send&>(*r.parts);
}

void check_partition(comm_object* c, const partitioned_operation& in, int partition) {
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
  *request = request_for(c, std::make_shared<partitioned_send>(
                                partitioned_operation::arguments{c, each, partitions, dest, tag}));
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
  late.prepare();
  *request = request_for(c, std::make_shared<partitioned_receive>(partitioned_operation::arguments{
                                c, each, partitions, source, tag}));
  return MPI_SUCCESS;
}

int impl::Pready(int partition, MPI_Request request) {
  partitioned_send& to = started_send(request);
  check_partition(request_of(request)->comm, to, partition);
  to.ready(static_cast<std::size_t>(partition));
  return MPI_SUCCESS;
}

int impl::Pready_range(int partition_low, int partition_high, MPI_Request request) {
  partitioned_send& to = started_send(request);
  comm_object* const c = request_of(request)->comm;
  check_partition(c, to, partition_low);
  check_partition(c, to, partition_high);
  if (partition_low > partition_high) {
    fail_on(c, MPI_ERR_ARG, "the range of partitions ends at %d, before its first, %d",
            partition_high, partition_low);
  }
  // Once the last one is marked another thread may free the request: nothing of it is used then.
  for (int i = partition_low; i <= partition_high; ++i) {
    to.ready(static_cast<std::size_t>(i));
  }
  return MPI_SUCCESS;
}

int impl::Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  partitioned_send& to = started_send(request);
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
    to.ready(static_cast<std::size_t>(array_of_partitions[i]));
  }
  return MPI_SUCCESS;
}

int impl::Parrived(MPI_Request request, int partition, int* flag) {
  check_out(flag, "flag");
  *flag = 1;  // of a request that is null or inactive, too (MPI-5.0 section 4.2.2)
  if (request == MPI_REQUEST_NULL) {
    return MPI_SUCCESS;
  }
  const request_object& r = partitioned_request(request, false);
  const auto& from = static_cast<const partitioned_receive&>(*r.parts);
  check_partition(r.comm, from, partition);
  const auto i = static_cast<std::size_t>(partition);
  if (r.active && !from.arrived(i)) {
    process.runtime->poll();
    *flag = from.arrived(i) ? 1 : 0;
  }
  return MPI_SUCCESS;
}

}  // namespace sinew::mpi
