// SPDX-License-Identifier: BSD-3-Clause
#include "abi/coarray/registration.hpp"

#include <cstring>
#include <string>
#include <unordered_set>

#include "abi/coarray/exchange.hpp"
#include "abi/coarray/synchronisation.hpp"
#include "abi/coarray/team.hpp"
#include "sinew/base/check.hpp"

namespace sinew::coarray {
namespace {

/// Components' tokens may hold anything before they are registered: the compiler leaves those of
/// pointers unset. So only what is listed here is followed.
std::unordered_set<const void*>& tokens() {
  static auto& it = *new std::unordered_set<const void*>;
  return it;
}

token& make_token(void** at) {
  SINEW_EXPECT(at != nullptr);
  auto* made = new token;
  tokens().insert(made);
  *at = made;
  return *made;
}

bool is_synchronisation(registration kind) noexcept {
  return kind == registration::static_lock || kind == registration::allocatable_lock ||
         kind == registration::critical || kind == registration::static_event ||
         kind == registration::allocatable_event;
}

bool is_plain(type t) noexcept {
  return t == type::integer || t == type::logical || t == type::real || t == type::complex ||
         t == type::character;
}

std::byte* mine(std::uint64_t offset) noexcept {
  SINEW_EXPECT(offset != 0);
  return this_job.engine->at({this_job.rank, offset});
}

/// Memory that every image of the current team asks for. In a team of fewer images the symmetric
/// heap would get out of step with the other teams', so each allocates locally and exchanges
/// offsets.
void allocate_for_team(token& t, std::size_t bytes) {
  if (this_job.now == this_job.first) {
    t.offset = this_job.engine->memory().allocate(rma::part::symmetric, bytes);
    t.symmetric_bytes = bytes;
    SINEW_ENSURE(t.offset != 0 && t.table.empty());
    return;
  }
  t.home = this_job.now;
  t.offset = this_job.engine->memory().allocate(rma::part::local, bytes);
  t.table = exchange_offsets(*this_job.now, t.offset);
  SINEW_ENSURE(t.table.size() == static_cast<std::size_t>(this_job.size));
  SINEW_ENSURE(t.offset != 0 && t.at(this_job.rank).offset == t.offset);
}

/// The allocatable array that was registered last: see check_component().
struct {
  const descriptor* array = nullptr;
  std::size_t element_bytes = 0;
} last_allocated;

/// After ALLOCATE of an array whose type has pointer components, gfortran 12 sets up the components
/// of its descriptor instead of its elements', and so has written over that. Its descriptors are
/// static, and components elsewhere.
void check_component(void** token_at) {
  const auto begin = reinterpret_cast<std::uintptr_t>(last_allocated.array);
  if (reinterpret_cast<std::uintptr_t>(token_at) - begin < last_allocated.element_bytes) {
    throw error("the compiler has written over the array's descriptor",
                "its type has a pointer component, with which gfortran 12 allocates no arrays of "
                "coarrays",
                "declare its bounds (`x(3)[*]`), or make the component allocatable");
  }
}

void enrol_component(std::size_t size, registration kind, void** token_at, descriptor& d) {
  const bool known = tokens().contains(*token_at);
  if (kind == registration::component_token) {
    check_component(token_at);
    make_token(token_at).component = true;
    d.base = nullptr;
    return;
  }
  token& t = known ? token_of(*token_at) : make_token(token_at);
  SINEW_ASSERT(is_registered(&t));
  t.component = true;
  t.bytes = size;
  t.offset = this_job.engine->memory().allocate(rma::part::local, size);
  d.base = mine(t.offset);
}

bool is_allocation(registration kind) noexcept {
  return kind == registration::allocatable || kind == registration::allocatable_lock ||
         kind == registration::allocatable_event;
}

/// The compiler lets `sync all` follow, and keeps its outcome from STAT=, which it takes from here.
/// So a stopped image is found here. With a failed one the others are to have their arrays; the
/// compiler sets bounds only if STAT= is 0, and it is the program's next statement that is told.
void begin_allocation(bool has_stat) {
  this_job.allocating = true;
  if (has_stat) {
    this_job.forgiving = true;
    if (this_job.now->sync_all() == stat::stopped_image) {
      throw image_left(stat::stopped_image);
    }
  }
}

/// A component that is copied by ALLOCATE comes as a coarray of its own. Its descriptor has no
/// codimensions between the dimensions and the token.
bool is_copied_component(registration kind, void** token_at, const descriptor& d) noexcept {
  return kind == registration::allocatable &&
         static_cast<const void*>(token_at) == static_cast<const void*>(&d.dim[d.rank()]);
}

/// CHANGE TEAM's association: the compiler has copied the other coarray's token and address.
void enrol_alias(void** token_at, const descriptor& d) {
  SINEW_EXPECT(is_registered(*token_at));
  const token old = token_of(*token_at);
  token& t = make_token(token_at);
  t = old;
  t.owner = false;
  const auto shift = static_cast<std::uint64_t>(static_cast<std::byte*>(d.base) - mine(old.offset));
  SINEW_ASSERT(shift <= old.bytes);
  t.offset += shift;
  t.bytes -= shift;
  for (std::uint64_t& each : t.table) {
    each += shift;
  }
}

}  // namespace

void enrol(std::size_t size, registration kind, void** token_at, descriptor& d, bool has_stat) {
  ensure_open();
  if (is_copied_component(kind, token_at, d)) {
    kind = registration::component_memory;
    *token_at = nullptr;  // it may have come with the copy, and be the original's
  }
  switch (kind) {
    case registration::component_token:
    case registration::component_memory:
      enrol_component(size, kind, token_at, d);
      return;
    case registration::alias:
      enrol_alias(token_at, d);
      return;
    default:
      break;
  }
  if (is_allocation(kind)) {
    begin_allocation(has_stat);
  }
  // Locks and events come as numbers of elements.
  const std::size_t bytes = is_synchronisation(kind) ? size * sizeof(synchronisation) : size;
  auto made = std::make_unique<token>();
  SINEW_ASSERT(this_job.open() && this_job.now != nullptr);
  made->bytes = bytes;
  allocate_for_team(*made, bytes);
  if (is_synchronisation(kind)) {
    // No image uses them before the synchronisation that ends ALLOCATE or the program's start.
    std::memset(mine(made->offset), 0, bytes);
  }
  d.base = mine(made->offset);
  made->shape = kind == registration::allocatable && d.rank() > 0 ? &d : nullptr;
  if (made->shape != nullptr) {
    last_allocated = {&d, d.element.bytes};
  }
  made->plain = is_plain(d.element.type);
  made->held_at = token_at;
  made->array = is_allocation(kind) ? &d : nullptr;  // else it is a temporary
  tokens().insert(made.get());
  *token_at = made.release();
  SINEW_ENSURE(is_registered(*token_at) && d.base != nullptr);
}

void no_token() noexcept {
  die("coarray",
      "it is not allocated on this image (gfortran has passed no token). Allocate it before it is "
      "used. All calls of a recursive procedure share its allocatable coarrays, as gfortran "
      "compiles "
      "them, and lose them when an inner call returns: allocate such a coarray outside of the "
      "procedure, and pass it as an argument.");
}

bool is_registered(const void* token) noexcept { return tokens().contains(token); }

// Descriptors and tokens of what is still allocated are still there: what a procedure has for
// itself it deallocates when it ends.
void release_memory_of(const team& t) {
  std::erase_if(tokens(), [&](const void* each) {
    auto& found = *static_cast<token*>(const_cast<void*>(each));
    if (found.home != &t || !found.owner) {
      return false;
    }
    this_job.engine->memory().release(found.offset);
    SINEW_ASSERT(found.array != nullptr && found.held_at != nullptr && found.offset != 0);
    found.array->base = nullptr;
    *found.held_at = nullptr;
    delete &found;
    return true;
  });
}

int withdraw(void** token_at, deregistration kind) {
  if (!tokens().contains(*token_at)) {
    return 0;  // a component that was never allocated by us
  }
  token& t = token_of(*token_at);
  int left = 0;
  if (!t.component && t.owner && !this_job.over) {
    // DEALLOCATE of a coarray waits for all images; the compiler leaves that to us.
    left = this_job.now->sync_all();
  }
  SINEW_EXPECT(kind == deregistration::everything || kind == deregistration::memory_only);
  // With a stopped image the others have not waited: they may still use this one's memory.
  if (t.owner && t.offset != 0 && left != stat::stopped_image) {
    this_job.engine->memory().release(t.offset);
  }
  if (left != 0 && t.array != nullptr) {
    // The compiler does this if STAT= is 0. MOVE_ALLOC moves token and descriptor alike.
    const auto moved = reinterpret_cast<char*>(token_at) - reinterpret_cast<char*>(t.held_at);
    reinterpret_cast<descriptor*>(reinterpret_cast<char*>(t.array) + moved)->base = nullptr;
  }
  t.offset = 0;
  t.symmetric_bytes = 0;
  t.table.clear();
  if (kind == deregistration::everything) {
    tokens().erase(&t);
    delete &t;
    *token_at = nullptr;
  }
  return left;
}

}  // namespace sinew::coarray
