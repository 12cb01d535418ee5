#include "abi/coarray/remote_request.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <type_traits>

#include "abi/coarray/collective.hpp"
#include "abi/coarray/job.hpp"
#include "abi/coarray/statement.hpp"
#include "abi/coarray/team.hpp"
#include "abi/coarray/transfer.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::coarray {
namespace {

/// Word 1 of a message; what word 0 is.
enum class topic : std::uint64_t {
  request,      ///< where it lies in the asking image's heap, which the other one has mapped
  reserve,      ///< of the asking process, for the answer; then the bytes of a request
  request_far,  ///< where it lies in the process that carries it out
  answer,       ///< of the asking process; then an address, if one is wanted
  release,      ///< what is to be freed
};

/// An answer that is awaited, of the asking process.
struct reply {
  bool done = false;
  std::uint64_t address = 0;  ///< to `reserve`; 0: no memory
};

/// What the asking image writes down; behind it lie add_data, the source, room for the result. The
/// other image writes the results. The messages order their accesses. An image of another node
/// first writes it into memory of the one that carries it out.
struct remote_request {
  remote_call call;
  int hash;
  std::uint64_t object;  ///< in the heap of the image that carries it out
  std::size_t within;    ///< what is found lies in so many bytes from there on; 0: anywhere
  descriptor source;
  descriptor array;
  std::size_t source_at;  ///< after this struct
  std::size_t room_at;
  std::size_t room;
  // results
  bool known;            ///< there was such a function
  std::size_t bytes;     ///< of the result
  std::uint64_t beyond;  ///< where it is in the other process, if there was no room; else 0
  bool outside;          ///< not `within`: at `found_at` from the object
  std::ptrdiff_t found_at;
  reply* to;  ///< of the asking process

  [[nodiscard]] std::byte* after() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

// The call is written by one image and carried out by another.
static_assert(std::is_trivially_copyable_v<remote_call>);
constexpr std::size_t least_room = 1024;
constexpr std::size_t aligned(std::size_t n) noexcept { return (n + 63) / 64 * 64; }

struct request {
  job_rank rank;
  topic what;
  std::uint64_t where;    ///< word 0 of its message
  std::size_t bytes = 0;  ///< to reserve
  bool performed = false;
  void* reserved = nullptr;
};

struct service {
  std::deque<request> requests;  ///< changed within progress only, one thread at a time
  int chore = -1;
};
service& here() {
  static auto& it = *new service;
  return it;
}

bool try_send(job_rank rank, std::uint64_t word, topic t, const std::uint64_t* more = nullptr) {
  const fabric::header head{{word, static_cast<std::uint64_t>(t)}};
  return this_job.runtime->endpoint()
      .send_short(rank, core::handlers::coarray, head, more, more != nullptr ? sizeof *more : 0)
      .done();
}
void send(job_rank rank, std::uint64_t word, topic t, const std::uint64_t* more = nullptr) {
  core::retry_loop tries(*this_job.runtime);
  while (!try_send(rank, word, t, more)) {
    tries.again();
  }
}

// --- the image that carries it out ---

std::size_t bytes_of_result(const remote_call& a, std::size_t element_bytes) noexcept {
  if (a.what == role::fetch_array) {
    return bytes_of(*a.array);
  }
  return a.what == role::fetch ? element_bytes * (a.has_dst_length ? a.dst_length : 1) : 0;
}

void keep_result(remote_request& e) {
  SINEW_EXPECT(e.known);
  remote_call& a = e.call;
  e.bytes = bytes_of_result(a, e.bytes);
  e.beyond = 0;
  if (e.bytes <= e.room) {
    if (e.bytes != 0) {
      std::memcpy(e.after() + e.room_at, a.found, e.bytes);
    }
    if (a.made) {
      std::free(a.found);
      a.made = false;
    }
  } else {
    e.beyond = reinterpret_cast<std::uintptr_t>(a.found);
  }
}

void perform_request(remote_request& e) {
  remote_call& a = e.call;
  const int accessor = accessor_of(e.hash);
  e.known = accessor >= 0;
  e.outside = false;
  if (!e.known) {
    return;
  }
  a.add_data = a.add_bytes != 0 ? e.after() : nullptr;
  if (a.what == role::store) {
    e.source.base = e.after() + e.source_at;
    a.source = a.source_is_array ? static_cast<const void*>(&e.source) : e.source.base;
  }
  a.array = a.what == role::fetch_array ? &e.array : nullptr;
  std::byte* const object = this_job.engine->at({this_job.rank, e.object});
  perform(accessor, a, object);
  if (e.within != 0 && a.what == role::fetch && !a.made) {
    e.found_at = static_cast<const std::byte*>(a.found) - object;
    e.outside = e.found_at < 0 || static_cast<std::size_t>(e.found_at) > e.within ||
                e.bytes > e.within - static_cast<std::size_t>(e.found_at);
  }
  if (!e.outside) {
    keep_result(e);
  }
}

/// One that `next` names; false if its answer has to wait.
bool answer(request& next) {
  if (next.what == topic::reserve) {
    if (!next.performed) {
      next.reserved = std::malloc(next.bytes);
      next.performed = true;
    }
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(next.reserved);
    return try_send(next.rank, next.where, topic::answer, &address);
  }
  auto& e = *reinterpret_cast<remote_request*>(next.what == topic::request_far
                                                   ? reinterpret_cast<std::byte*>(next.where)
                                                   : this_job.engine->at({next.rank, next.where}));
  if (!next.performed) {
    perform_request(e);
    next.performed = true;
  }
  return try_send(next.rank, reinterpret_cast<std::uintptr_t>(e.to), topic::answer);
}

/// Runs after a round of progress, since message handlers must neither block nor send.
int do_requests(void*) {
  int done = 0;
  auto& queue = here().requests;
  while (!queue.empty()) {
    SINEW_ASSERT(queue.front().where != 0);
    if (!answer(queue.front())) {
      return done;
    }
    queue.pop_front();
    ++done;
  }
  this_job.runtime->want_chore(here().chore, false);
  return done;
}

status on_message(void*, const fabric::arrival& m) noexcept {
  SINEW_EXPECT(m.source.below(this_job.size));
  const std::uint64_t word = m.head.word[0];
  const auto what = static_cast<topic>(m.head.word[1]);
  std::uint64_t more = 0;
  if (m.size == sizeof more) {
    std::memcpy(&more, m.data, sizeof more);
  }
  switch (what) {
    case topic::request:
    case topic::reserve:
    case topic::request_far:
      try {
        here().requests.push_back({.rank = m.source, .what = what, .where = word, .bytes = more});
      } catch (const std::bad_alloc&) {
        static base::shortage shortage;
        return shortage.again("serving another image's access");
      }
      this_job.runtime->want_chore(here().chore, true);
      break;
    case topic::answer: {
      auto& waiting = *reinterpret_cast<reply*>(word);
      waiting.address = more;
      waiting.done = true;
      break;
    }
    case topic::release:
      std::free(reinterpret_cast<void*>(word));
      break;
  }
  return status::ok();
}

// --- the image that asks ---

/// The block in this image's heap.
class written_down {
 public:
  written_down(const remote_call& a, std::size_t element_bytes, std::size_t room) {
    const std::size_t source = source_bytes(a, element_bytes);
    const std::size_t source_at = aligned(a.add_bytes);
    const std::size_t room_at = source_at + aligned(source);
    const std::size_t kept =
        a.what == role::fetch || a.what == role::fetch_array ? std::max(room, least_room) : 0;
    bytes_ = sizeof(remote_request) + room_at + kept;
    offset_ = this_job.engine->memory().allocate(rma::part::local, bytes_);
    SINEW_ASSERT(offset_ != 0 && offset_ % alignof(remote_request) == 0);
    e_ = new (this_job.engine->at({this_job.rank, offset_})) remote_request;
    e_->call = a;
    e_->source_at = source_at;
    e_->room_at = room_at;
    e_->room = kept;
    e_->bytes = element_bytes;
    if (a.add_bytes != 0) {
      std::memcpy(e_->after(), a.add_data, a.add_bytes);
    }
    if (a.array != nullptr) {
      copy_descriptor(e_->array, *a.array);
      e_->array.base = nullptr;
    }
    if (a.what == role::store) {
      write_source(a, source);
    }
  }
  ~written_down() { this_job.engine->memory().release(offset_); }
  written_down(const written_down&) = delete;
  written_down& operator=(const written_down&) = delete;

  [[nodiscard]] remote_request& it() noexcept { return *e_; }
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] static std::size_t source_bytes(const remote_call& a,
                                                std::size_t element) noexcept {
    if (a.what != role::store) {
      return 0;
    }
    return a.source_is_array ? bytes_of(*static_cast<const descriptor*>(a.source))
                             : element * (a.has_src_length ? a.src_length : 1);
  }
  /// Element after element, with a descriptor that says so.
  void write_source(const remote_call& a, std::size_t bytes) {
    std::byte* at = e_->after() + e_->source_at;
    if (!a.source_is_array) {
      std::memcpy(at, a.source, bytes);
      return;
    }
    const auto& from = *static_cast<const descriptor*>(a.source);
    each_element(from, [&](const std::byte* each) {
      std::memcpy(at, each, from.element.bytes);
      at += from.element.bytes;
    });
    copy_descriptor(e_->source, from);
    pack_shape(e_->source);
  }
  static void pack_shape(descriptor& d) noexcept {
    index n = 1;
    for (int i = 0; i < d.rank(); ++i) {
      const index extent = d.dim[i].extent();
      d.dim[i].stride = n;
      n *= extent;
    }
    d.span = static_cast<index>(d.element.bytes);
    count_from_one(d);
  }

  std::uint64_t offset_;
  std::size_t bytes_;
  remote_request* e_;
};

/// For the answer to what was sent to `rank`.
void await_reply(job_rank rank, const reply& awaited) {
  struct waiting {
    const reply& awaited;
    job_rank rank;
  } self{awaited, rank};
  const pending there{.what = pending::sort::remote_request, .rank = rank};
  this_job.waiting = &there;
  this_job.runtime->wait_until(
      [](void* c) {
        const auto& s = *static_cast<waiting*>(c);
        return s.awaited.done || this_job.engine->load<std::uint64_t>(this_job.status_of(s.rank)) ==
                                     image_words::failed;
      },
      &self);
  this_job.waiting = nullptr;
  if (!awaited.done) {
    throw error("image " + std::to_string(this_job.now->image_of(rank)) + " has failed",
                "it was to reach one of its components");
  }
}

void ask(job_rank rank, written_down& w) {
  SINEW_EXPECT(rank != this_job.rank && w.offset() != 0);
  reply answered;
  w.it().to = &answered;
  send(rank, w.offset(), topic::request);
  await_reply(rank, answered);
}

/// A block of an image of another node, until the end of the scope.
class reserved_there {
 public:
  reserved_there(job_rank rank, std::uint64_t bytes) : rank_(rank) {
    reply got;
    send(rank, reinterpret_cast<std::uintptr_t>(&got), topic::reserve, &bytes);
    await_reply(rank, got);
    address_ = got.address;
    if (address_ == 0) {
      throw error("image " + std::to_string(this_job.now->image_of(rank)) + " has no memory for " +
                      std::to_string(bytes) + " bytes",
                  "an access to one of its components needs them there");
    }
  }
  ~reserved_there() {
    if (address_ != 0) {
      send(rank_, address_, topic::release);
    }
  }
  reserved_there(const reserved_there&) = delete;
  reserved_there& operator=(const reserved_there&) = delete;

  [[nodiscard]] rma::outside at(std::size_t bytes = 0) const noexcept {
    return rma::outside::of(rank_, address_ + bytes);
  }
  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }

 private:
  job_rank rank_;
  std::uint64_t address_ = 0;
};

/// The same, where the other image is on another node.
void ask_far(job_rank rank, written_down& w) {
  SINEW_EXPECT(!this_job.engine->maps(rank));
  remote_request& e = w.it();
  const reserved_there block(rank, w.bytes());
  reply answered;
  e.to = &answered;
  this_job.engine->put(block.at(), &e, sizeof e + e.room_at);
  this_job.engine->flush(rank);
  send(rank, block.address(), topic::request_far);
  await_reply(rank, answered);
  this_job.engine->get(&e, block.at(), sizeof e);
  if (e.known && !e.outside && e.beyond == 0 && e.bytes != 0) {
    SINEW_ASSERT(e.bytes <= e.room);
    this_job.engine->get(e.after() + e.room_at, block.at(sizeof e + e.room_at), e.bytes);
  }
}

/// The result in memory of this process that is for free().
void* take_result(job_rank rank, remote_request& e) {
  SINEW_EXPECT(e.known && (e.beyond != 0 || e.bytes <= e.room));
  void* const mine = std::malloc(e.bytes + 1);
  if (mine == nullptr) {
    throw std::bad_alloc();
  }
  if (e.beyond == 0) {
    std::memcpy(mine, e.after() + e.room_at, e.bytes);
    return mine;
  }
  this_job.engine->get(mine, rma::outside::of(rank, e.beyond), e.bytes);
  if (e.call.made) {
    send(rank, e.beyond, topic::release);
  }
  return mine;
}

}  // namespace

void serve_remote_requests() {
  SINEW_EXPECT(this_job.runtime != nullptr && here().chore < 0);
  here().chore = this_job.runtime->add_chore(do_requests, nullptr);
  this_job.runtime->endpoint().set_handler(core::handlers::coarray, on_message, nullptr);
}

void perform_there(int accessor, remote_call& a, rma::place object, std::size_t within,
                   std::size_t element_bytes, std::size_t room) {
  SINEW_EXPECT(object.rank != this_job.rank && object.offset != 0);
  written_down w(a, element_bytes, room);
  remote_request& e = w.it();
  e.hash = hash_of(accessor);
  e.object = object.offset;
  e.within = within;
  if (this_job.engine->maps(object.rank)) {
    ask(object.rank, w);
  } else {
    ask_far(object.rank, w);
  }
  if (!e.known) {
    throw error("the other image has not the compiler's function for this access",
                "all images must run the same program");
  }
  if (e.outside) {
    subscripts_outside({e.found_at, e.found_at}, element_bytes, within);
  }
  a.dst_length = e.call.dst_length;
  a.present = e.call.present;
  a.made = false;
  if (a.what == role::fetch || a.what == role::fetch_array) {
    a.found = take_result(object.rank, e);
    a.made = true;
  }
  if (a.array != nullptr) {
    std::free(a.array->base);  // as the function does where it runs
    copy_descriptor(*a.array, e.array);
    a.array->base = a.found;
  }
}

}  // namespace sinew::coarray
