// SPDX-License-Identifier: BSD-3-Clause
// Tasks: functions with names that any rank can start on any processor, when an event has
// triggered; the end is an event. A task is a fiber and may wait.
//
//   void add(double factor, int count);
//   tasks all(events);
//   all.add<&add>("add");
//   all.start();                                   // collective; the names must be the same
//   event e = all.spawn<&add>(all.at(1), {.after = ready}, 2.0, 7);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sinew/base/ids.hpp"
#include "sinew/event/event.hpp"
#include "sinew/event/machine.hpp"
#include "sinew/event/processor.hpp"

namespace sinew::event {

class system;
class tasks;

/// What a task may ask for as its first parameter.
struct task_context {
  tasks& all;
  processor here;
  event done;  ///< triggers when it has ended
};

struct spawn_how {
  event after = {};  ///< it starts when this has triggered; poisoned: it never runs, its event is
                     ///< poisoned
  int priority = 0;  ///< of tasks that could start on a processor, the greatest first
  std::size_t stack_bytes = 0;  ///< that it needs, at most 1 GiB; 0: SINEW_FIBER_STACK of the rank
                                ///< where it runs
};

namespace detail {

/// Whose address names a function within a program.
template <auto Function>
inline constexpr char task_key = 0;

/// A task's result says whether it did well, if it is bool.
template <class Call>
bool well(Call&& call) {
  if constexpr (std::is_same_v<decltype(call()), bool>) {
    return call();
  } else {
    (void)call();
    return true;
  }
}

/// A task's function: its parameters without the context, and how to call it with their values.
template <class Function>
struct task_shape;

template <class Result, class... Values>
struct task_shape<Result (*)(Values...)> {
  using values = std::tuple<Values...>;
  static bool call(Result (*f)(Values...), task_context&, const values& v) {
    return well([&] { return std::apply(f, v); });
  }
};

template <class Result, class... Values>
struct task_shape<Result (*)(task_context&, Values...)> {
  using values = std::tuple<Values...>;
  static bool call(Result (*f)(task_context&, Values...), task_context& c, const values& v) {
    return well([&] { return std::apply(f, std::tuple_cat(std::tie(c), v)); });
  }
};

template <class Function>
struct task_values;
template <class... Values>
struct task_values<std::tuple<Values...>> {
  static constexpr bool plain =
      ((std::is_trivially_copyable_v<Values> && !std::is_reference_v<Values> &&
        !std::is_pointer_v<Values> && std::is_default_constructible_v<Values>) &&
       ...);
  static constexpr std::size_t bytes = (sizeof(Values) + ... + 0);
  static void pack(std::byte* to, const Values&... v) {
    ((std::memcpy(to, &v, sizeof v), to += sizeof v), ...);
  }
  static std::tuple<Values...> unpack(const std::byte* from) {
    std::tuple<Values...> v;
    std::apply(
        [&](auto&... each) { ((std::memcpy(&each, from, sizeof each), from += sizeof each), ...); },
        v);
    return v;
  }
};

}  // namespace detail

/// A rank's tasks. One per system, made by every rank before any rank calls start(): let them meet
/// in between (a message that finds none ends the job and says so). Processors are the workers of
/// the process's fiber scheduler, which must exist and outlive it. Calls wait only where it is
/// said. Any thread if the runtime is threaded, from tasks, waiters and handlers too.
class tasks {
 public:
  explicit tasks(system& s);
  /// Waits for the tasks of this rank to end, those too whose event has yet to come; no rank starts
  /// another here. SINEW_CORE_HANG_TIMEOUT tells which they are. While an exception is on its way
  /// it does not wait for events to come: such tasks fail.
  ~tasks();
  tasks(const tasks&) = delete;
  tasks& operator=(const tasks&) = delete;

  /// Gives a function its name. Parameters: a task_context& first if it wants one, then values that
  /// are copied as bytes (no pointers or references: they mean nothing on another rank). Result:
  /// nothing, or bool; false or an exception poisons the task's event. Before start(). Cold.
  template <auto Function>
  void add(std::string_view name) {
    using shape = detail::task_shape<decltype(Function)>;
    using values = detail::task_values<typename shape::values>;
    static_assert(values::plain,
                  "parameters of a task are trivially copyable values, neither pointers nor "
                  "references");
    register_task(name, &detail::task_key<Function>, typeid_of<decltype(Function)>(),
                  [](task_context& c, std::span<const std::byte> bytes, const void*) {
                    return shape::call(Function, c, values::unpack(bytes.data()));
                  });
  }
  /// So many of the scheduler's further workers (fiber::scheduler_options) become processors of a
  /// kind that the program names: only tasks that are sent there run there. The same kinds in the
  /// same order on every rank, with any number of workers, none as well. Before start(). Cold.
  void open(std::string_view kind, int workers);
  /// Collective: compares the tables of all ranks and learns of their processors. Waits. Throws
  /// sinew::error on every rank if the tables differ; it says how. Once. Cold.
  void start();

  /// Runs Function(values...) there; the event says when it has ended. Hot: a message if it is
  /// another rank's processor, no allocation for values of up to 64 bytes once as many have run.
  template <auto Function, class... Values>
  [[nodiscard]] event spawn(processor where, const spawn_how& how, const Values&... values) {
    using shape = detail::task_shape<decltype(Function)>;
    static_assert(std::is_constructible_v<typename shape::values, const Values&...>,
                  "these values do not fit the task's parameters");
    using packed = detail::task_values<typename shape::values>;
    std::byte bytes[packed::bytes + 1];
    const typename shape::values exact(values...);
    std::apply([&](const auto&... each) { packed::pack(bytes, each...); }, exact);
    return launch(where, how, &detail::task_key<Function>, bytes, packed::bytes);
  }

  // --- for bindings of other languages ---

  /// A function that takes bytes (aligned for any type). `key` is the address that names it here.
  using raw_function = bool (*)(task_context&, std::span<const std::byte> values, const void* key);
  void add_raw(std::string_view name, const void* key, raw_function call) {
    register_task(name, key, "bytes", call);
  }
  [[nodiscard]] event spawn_raw(processor where, const spawn_how& how, const void* key,
                                std::span<const std::byte> values) {
    return launch(where, how, key, values.data(), values.size());
  }

  /// The processor of that number of a rank.
  [[nodiscard]] processor at(job_rank rank, std::uint32_t index = 0) const noexcept {
    return {rank, index};
  }
  [[nodiscard]] const machine& all() const noexcept;
  /// A task waits at the rank that made the group until it can start and a member is free, that is,
  /// has none of the group's tasks; then it goes there, or to whichever has had the fewest. (Where
  /// none ends for 10 ms, and then for twice as long each time, one more is handed out: tasks may
  /// wait for each other.) If none is free, a task that is more urgent than one that waits at a
  /// member for its processor takes that one's place. Members may be of any rank, and those of lost
  /// ranks get none; if all are lost its event is poisoned. Groups have no groups. Kept to the end;
  /// lost with the rank that made it. Cold.
  [[nodiscard]] processor group(std::span<const processor> members);

  /// A group of all processors of a kind, of all ranks. Throws sinew::error if there are none.
  /// After start(). Cold.
  [[nodiscard]] processor of_kind(std::string_view kind);

  [[nodiscard]] system& events() const noexcept { return system_; }
  /// Tasks of this rank that have not ended.
  [[nodiscard]] std::size_t pending() const;

 private:
  struct body;

  template <class Function>
  static constexpr std::string_view typeid_of() noexcept {
    return __PRETTY_FUNCTION__;
  }
  void check_name(std::string_view name) const;
  void register_task(std::string_view name, const void* key, std::string_view shape,
                     raw_function run);
  [[nodiscard]] event launch(processor where, const spawn_how& how, const void* key,
                             const std::byte* values, std::size_t bytes);

  system& system_;
  std::unique_ptr<body> body_;
};

}  // namespace sinew::event
