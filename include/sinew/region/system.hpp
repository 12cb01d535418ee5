// SPDX-License-Identifier: BSD-3-Clause
// One rank's regions: making instances, moving data between them, reducing into them; all deferred.
//
// Each operation takes an event that must come before and returns one that comes after. What can be
// done at once is done in the call, and then there is nothing to wait for: the event returned does
// not exist. If the event before is poisoned, nothing is done, and the event after is poisoned too.
// The model is that of Treichler et al. 2014 (Realm).
//
// Promises (tests/region holds the module to each)
//  values     a copy's result is as if all of its source had been read before its target was
//             written, also where the two overlap. Copies, fills and reductions of the same
//             elements that no event orders may happen in any order, or at the same time.
//  who works  a rank that sees both sides: the caller, if it does; else the owner of a private
//             side. Reductions into an instance are done by the owners of its parts, each in its
//             part. From node to node: ranks that see the source send it, owners of the target's
//             parts put it there.
//  messages   none, if all instances lie in shared memory of one node, except for reductions.
//  errors     what can be found in the call throws sinew::error: a destroyed instance, a section
//             outside of it, different types. What is found later (no memory, an index outside)
//             poisons the event after, and the rank that found it logs it and keeps it for
//             last_problem().
//
// Ranks of any nodes; the first call with a handle from another node asks its creator, and waits.
// Any thread if the runtime is threaded. Warm, unless said otherwise.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "sinew/base/check.hpp"
#include "sinew/base/ids.hpp"
#include "sinew/event/system.hpp"
#include "sinew/region/handle.hpp"
#include "sinew/region/layout.hpp"
#include "sinew/region/operators.hpp"
#include "sinew/region/view.hpp"
#include "sinew/rma/engine.hpp"

namespace sinew::region {

using sinew::event::event;
using sinew::event::user_event;

/// The elements that an operation reads or writes: a section of a field of an instance; or, in its
/// order, those whose numbers stand in an instance of indices.
struct side {
  instance what;
  std::uint16_t field = 0;
  std::uint64_t type_id = 0;  ///< of the field's type; 0: unchecked
  section where = {};
  instance index = {};
  std::uint16_t index_field = 0;
  section index_where = {};

  /// The elements whose numbers (row by row, from 0) stand there, instead of a section. Where a
  /// target's element is named twice the last one counts.
  [[nodiscard]] side by(instance indices, sinew::region::field<std::int64_t> numbers,
                        const section& which = {}) const {
    side s = *this;
    s.index = indices;
    s.index_field = numbers.number;
    s.index_where = which;
    return s;
  }
};

template <class T>
[[nodiscard]] side at(instance what, field<T> of, const section& where = {}) {
  static_assert(std::is_trivially_copyable_v<T>, "fields are moved as bytes");
  return {what, of.number, hash_of(type_name<T>()), where};
}

/// A new instance, and the event from which on it can be used; poisoned if it could not be made.
struct made {
  instance what;
  event ready;
};

class system {
 public:
  /// Every rank makes one, in the same order among its symmetric allocations. Throws sinew::error.
  /// Cold.
  system(rma::engine& memory, sinew::event::system& events);
  ~system();  ///< instances that were not destroyed stay
  system(const system&) = delete;
  system& operator=(const system&) = delete;

  [[nodiscard]] job_rank rank() const noexcept { return rma_.rank(); }
  [[nodiscard]] int size() const noexcept { return rma_.size(); }
  [[nodiscard]] rma::engine& memory() noexcept { return rma_; }
  [[nodiscard]] sinew::event::system& events() noexcept { return events_; }

  // --- instances ---

  /// The handle is valid at once, on every rank; the elements once `ready` has triggered. What they
  /// hold is undefined. Memory is reserved by the call, whatever `after` waits for: what is free,
  /// or what instances have whose destruction waits for an event. Then `ready` waits for that, too:
  /// that event must not wait for it; and what has a place keeps it, unless such a destruction
  /// fails. If there is no room, now or then, `ready` is poisoned without waiting for `after`.
  [[nodiscard]] made create(const schema& what, region::memory where,
                            const layout_options& how = {}, event after = {});
  /// An instance over memory of the program's own, which begins there: heap(rank()), ready at once,
  /// with the values that the memory has. It stays until after destroy(), which gives nothing back.
  /// Throws sinew::error if it is too small for the layout, or a field is not aligned.
  [[nodiscard]] instance attach(const schema& what, std::span<std::byte> memory,
                                const layout_options& how = {});
  /// The image of a symmetric instance that lies on that rank: an instance of one part for all
  /// calls here. create() returns the caller's own. All are made and destroyed together.
  [[nodiscard]] instance image(instance what, job_rank rank) const;
  /// Its handle is invalid from the returned event on, on other nodes once the creator's message is
  /// there: until then calls there do not notice. Nobody may still use it after `after`.
  event destroy(instance what, event after = {});
  /// Why an instance could not be made, or "".
  [[nodiscard]] std::string why(instance what) const;

  [[nodiscard]] shape shape_of(instance what) const;
  [[nodiscard]] std::uint32_t parts_of(instance what) const;
  [[nodiscard]] job_rank owner_of(instance what, std::uint32_t part = 0) const;
  [[nodiscard]] std::uint64_t elements_of(instance what, std::uint32_t part = 0) const;

  /// The elements of an instance of one part that this rank can touch: its own, or shared ones.
  /// Throws sinew::error for others, and for another type or number of axes.
  template <class T, std::size_t Axes = 1>
  [[nodiscard]] view<T, Axes> look(instance what, field<T> of) const {
    std::array<std::uint64_t, Axes> extents{};
    std::array<std::int64_t, Axes> strides{};
    std::byte* first =
        locate(what, of.number, hash_of(type_name<T>()), 0, Axes, extents.data(), strides.data());
    return {reinterpret_cast<T*>(first), extents, strides};
  }
  /// One part of a striped instance, in the order in which its elements lie; with any number of
  /// ranks, and of axes.
  template <class T>
  [[nodiscard]] view<T, 1> look_at_part(instance what, field<T> of, std::uint32_t part) const {
    std::array<std::uint64_t, 1> extents{};
    std::array<std::int64_t, 1> strides{};
    std::byte* first =
        locate(what, of.number, hash_of(type_name<T>()), part, 0, extents.data(), strides.data());
    return {reinterpret_cast<T*>(first), extents, strides};
  }

  /// The first byte of a part that this rank can touch. Throws as look() does.
  [[nodiscard]] std::byte* bytes_of(instance what, std::uint32_t part = 0) const;

  // --- data movement ---

  /// Element by element, in the order of both sides; as many, of the same type.
  event copy(const side& from, const side& to, event after = {});
  /// All fields, between instances of the same fields and shape.
  event copy(instance from, instance to, event after = {});
  template <class T>
  event fill(const side& to, const T& value, event after = {}) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 256);
    return fill_bytes(to, &value, sizeof value, hash_of(type_name<T>()), after);
  }

  // --- reductions ---

  /// Makes an operator known here: needed on each rank that owns what is reduced, before the first
  /// reduction arrives there. Adding it again does nothing. Cold.
  template <reduction Op>
  void add() {
    add_operator(entry_of<Op>());
  }
  /// to = to op from, element by element: `from` holds contributions (Op::rhs), `to` values.
  /// Owners apply one reduction at a time; with `atomic` other threads may meanwhile reduce the
  /// same elements by apply<atomic>. If it fails in one part the event is poisoned at once; `ended`
  /// triggers when no part is worked on any more, and is never poisoned.
  template <reduction Op>
  event reduce(const side& from, const side& to, event after = {}, sharing how = sharing::exclusive,
               event* ended = nullptr) {
    return reduce_by(hash_of(type_name<Op>()), from, to, after, how, ended);
  }

  // --- for reduction instances (reductions.hpp) ---

  /// What a reduction instance must know of its target. Throws sinew::error for another type.
  struct target {
    instance what;
    std::uint16_t field;
    std::uint32_t parts;
    std::uint32_t shift;
    std::uint64_t elements;
    bool in_steps;  ///< elements of a part lie in equal steps: what logs need
  };
  [[nodiscard]] target target_of(const operator_entry& op, instance what, std::uint16_t field);
  /// The owner of `part` applies a log that lies in this rank's shared memory.
  void replay(const target& to, std::uint64_t op, std::uint32_t part, std::uint64_t offset,
              std::uint64_t count, event after, user_event done);
  /// The owner of `part` applies these at once; `done` (may be none) triggers once all of this rank
  /// before it are applied, too. Hot.
  void apply_there(const target& to, std::uint64_t op, std::uint32_t part, const void* entries,
                   std::uint64_t count, std::size_t bytes, event done);
  [[nodiscard]] std::size_t largest_batch() const noexcept;
  /// Shared memory of this rank, by its offset in the heap. Throws if there is none.
  [[nodiscard]] std::uint64_t take_memory(std::size_t bytes);
  void give_memory(std::uint64_t offset);

  /// What this rank found wrong last, after the call that caused it had returned; "" if nothing.
  [[nodiscard]] std::string last_problem() const;

  // --- what look() and fill() call, for bindings of other languages; type 0: unchecked ---

  /// The first element of a field; extents and strides (in bytes) of as many axes as the instance
  /// has.
  [[nodiscard]] std::byte* locate(instance what, std::uint16_t field, std::uint64_t type,
                                  std::uint32_t part, std::size_t axes, std::uint64_t* extents,
                                  std::int64_t* strides) const;
  /// At most 256 bytes, as many as the field has.
  event fill_bytes(const side& to, const void* value, std::size_t bytes, std::uint64_t type,
                   event after);

 private:
  struct body;
  event copy_over_nodes(const side& from, const side& to, event after);
  void add_operator(const operator_entry& e);
  void entrust(event done, job_rank owner);
  event reduce_by(std::uint64_t op, const side& from, const side& to, event after, sharing how,
                  event* ended);

  rma::engine& rma_;
  sinew::event::system& events_;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::region
