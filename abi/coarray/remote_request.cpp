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
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/base/memory.hpp"
#include "sinew/core/handlers.hpp"
#include "sinew/core/retry.hpp"

namespace sinew::coarray {
namespace {

enum class topic : std::uint64_t { request, answer, release };

/// What the asking image writes down; behind it lie add_data, the source, room for the result. The
/// other image writes the results. The messages order their accesses.
struct remote_request {
  remote_call call;
  int hash;
  std::uint64_t object;  ///< in the heap of the image that carries it out
  descriptor source;
  descriptor array;
  std::size_t source_at;  ///< after this struct
  std::size_t room_at;
  std::size_t room;
  // results
  bool known;            ///< there was such a function
  std::size_t bytes;     ///< of the result
  std::uint64_t beyond;  ///< where it is in the other process, if there was no room; else 0
  bool* done;            ///< of the asking process

  [[nodiscard]] std::byte* after() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

// The call is written by one image and carried out by another.
static_assert(std::is_trivially_copyable_v<remote_call>);
constexpr std::size_t least_room = 1024;
constexpr std::size_t aligned(std::size_t n) noexcept { return (n + 63) / 64 * 64; }

struct request {
  job_rank rank;
  std::uint64_t offset;
  bool performed = false;
};

struct service {
  std::deque<request> requests;  ///< changed within progress only, one thread at a time
  int chore = -1;
};
service& here() {
  static auto& it = *new service;
  return it;
}

bool send(job_rank rank, std::uint64_t word, topic t) {
  const fabric::header head{{word, static_cast<std::uint64_t>(t)}};
  return this_job.runtime->endpoint()
      .send_short(rank, core::handlers::coarray, head, nullptr, 0)
      .done();
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
  if (!e.known) {
    return;
  }
  a.add_data = a.add_bytes != 0 ? e.after() : nullptr;
  if (a.what == role::store) {
    e.source.base = e.after() + e.source_at;
    a.source = a.source_is_array ? static_cast<const void*>(&e.source) : e.source.base;
  }
  a.array = a.what == role::fetch_array ? &e.array : nullptr;
  perform(accessor, a, this_job.engine->at({this_job.rank, e.object}));
  keep_result(e);
}

/// Runs after a round of progress, since message handlers must neither block nor send.
int do_requests(void*) {
  int done = 0;
  auto& queue = here().requests;
  while (!queue.empty()) {
    request& next = queue.front();
    auto& e = *reinterpret_cast<remote_request*>(this_job.engine->at({next.rank, next.offset}));
    SINEW_ASSERT(next.offset != 0);
    if (!next.performed) {
      perform_request(e);
      next.performed = true;
    }
    if (!send(next.rank, reinterpret_cast<std::uintptr_t>(e.done), topic::answer)) {
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
  switch (static_cast<topic>(m.head.word[1])) {
    case topic::request:
      try {
        here().requests.push_back({m.source, word});
      } catch (const std::bad_alloc&) {
        static base::shortage shortage;
        return shortage.again("serving another image's access");
      }
      this_job.runtime->want_chore(here().chore, true);
      break;
    case topic::answer:
      *reinterpret_cast<bool*>(word) = true;
      break;
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
    offset_ = this_job.engine->memory().allocate(rma::part::local,
                                                 sizeof(remote_request) + room_at + kept);
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
  remote_request* e_;
};

void ask(job_rank rank, written_down& w) {
  SINEW_EXPECT(rank != this_job.rank && w.offset() != 0);
  struct waiting {
    bool done = false;
    job_rank rank;
  } self{false, rank};
  w.it().done = &self.done;
  core::retry_loop tries(*this_job.runtime);
  while (!send(rank, w.offset(), topic::request)) {
    tries.again();
  }
  const pending there{.what = pending::sort::remote_request, .rank = rank};
  this_job.waiting = &there;
  this_job.runtime->wait_until(
      [](void* c) {
        const auto& s = *static_cast<waiting*>(c);
        return s.done || this_job.engine->load<std::uint64_t>(this_job.status_of(s.rank)) ==
                             image_words::failed;
      },
      &self);
  this_job.waiting = nullptr;
  if (!self.done) {
    throw error("image " + std::to_string(this_job.now->image_of(rank)) + " has failed",
                "it was to reach one of its components");
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
  core::retry_loop tries(*this_job.runtime);
  while (e.call.made && !send(rank, e.beyond, topic::release)) {
    tries.again();
  }
  return mine;
}

}  // namespace

void serve_remote_requests() {
  SINEW_EXPECT(this_job.runtime != nullptr && here().chore < 0);
  here().chore = this_job.runtime->add_chore(do_requests, nullptr);
  this_job.runtime->endpoint().set_handler(core::handlers::coarray, on_message, nullptr);
}

void perform_there(int accessor, remote_call& a, rma::place object, std::size_t element_bytes,
                   std::size_t room) {
  SINEW_EXPECT(object.rank != this_job.rank && object.offset != 0);
  written_down w(a, element_bytes, room);
  remote_request& e = w.it();
  e.hash = hash_of(accessor);
  e.object = object.offset;
  ask(object.rank, w);
  if (!e.known) {
    throw error("the other image has not the compiler's function for this access",
                "all images must run the same program");
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
