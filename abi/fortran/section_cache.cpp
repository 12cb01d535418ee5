// SPDX-License-Identifier: BSD-3-Clause
#include "abi/fortran/section_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>

namespace sinew::fortran {

class held_type {
 public:
  explicit held_type(MPI_Datatype type) : type_(type) {}

  [[nodiscard]] MPI_Datatype type() const { return type_; }

  // Whoever holds it may hand it on, so a further holder needs no order.
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }

  // Release: what the holder has done with the type comes before its end. Acquire: the last holder
  // sees all of that.
  void let_go() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      int over = 0;
      PMPI_Finalized(&over);  // a thread may end later than MPI
      if (over == 0) {
        PMPI_Type_free(&type_);  // what is under way keeps it
      }
      delete this;
    }
  }

 private:
  MPI_Datatype type_;
  std::atomic<int> holders_{1};  ///< never 0 while anybody has a pointer to it
};

namespace {

/// As many as a step of a code with halos in three dimensions has of one array: 6 faces, sent and
/// received, and some more.
constexpr std::size_t entries = 16;

/// Of one thread, which alone looks here; entries are replaced in turn.
class cache {
 public:
  cache() = default;
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;
  ~cache() {
    for (const entry& e : all_) {
      if (e.held != nullptr) {
        e.held->let_go();
      }
    }
  }

  held_type* find(const section_key& key) {
    for (const entry& e : all_) {
      if (e.held != nullptr && e.key == key) {
        e.held->hold();
        return e.held;
      }
    }
    return nullptr;
  }

  void add(const section_key& key, held_type* held) {
    entry& e = all_[next_++ % entries];
    if (e.held != nullptr) {
      e.held->let_go();
    }
    held->hold();
    e = {key, held};
  }

 private:
  struct entry {
    section_key key{section_key::counted, MPI_DATATYPE_NULL, 0, {}};
    held_type* held = nullptr;
  };

  std::array<entry, entries> all_;
  std::size_t next_ = 0;
};

cache& of_this_thread() {
  static thread_local cache it;
  return it;
}

/// Whether datatypes outlive the present call for sure: a session may end with all of its objects.
bool may_keep(MPI_Datatype element) {
  int world = 0;
  return is_predefined(element) && PMPI_Initialized(&world) == MPI_SUCCESS && world != 0;
}

}  // namespace

bool section_key::operator==(const section_key& other) const {
  return element == other.element && count == other.count && how == other.how &&
         where.rank == other.where.rank && where.element == other.where.element &&
         std::equal(where.extent, where.extent + where.rank, other.where.extent) &&
         std::equal(where.stride, where.stride + where.rank, other.where.stride);
}

MPI_Datatype type_of(const held_type& held) { return held.type(); }

held_type* find_type(const section_key& key) { return of_this_thread().find(key); }

held_type* keep_type(const section_key& key, MPI_Datatype made) {
  auto* const held = new held_type(made);
  if (may_keep(key.element)) {
    of_this_thread().add(key, held);
  }
  return held;
}

void release(held_type* held) { held->let_go(); }

}  // namespace sinew::fortran
