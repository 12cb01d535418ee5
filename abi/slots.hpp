// SPDX-License-Identifier: BSD-3-Clause
// Callbacks without an argument of their own (operations, error handlers), for bindings that
// translate what they are called with: a slot is a C function that knows the one procedure of its
// number. A procedure keeps its slot for ever, so that a program needs one for each procedure that
// it passes, however often.
#pragma once

#include <atomic>
#include <utility>

namespace sinew::slots {

using procedure = void();

/// Slots of each kind.
inline constexpr int most = 256;

/// The procedures of one kind by their slots. A slot is written once, before the C function of its
/// number is handed out: release by the writer, acquire by a thread that looks for its procedure.
/// Whoever calls through a slot has got the C function from one that filled it.
struct table {
  std::atomic<procedure*> entry[most];

  /// -1: all taken.
  int of(procedure* user) {
    for (int i = 0; i < most; ++i) {
      procedure* there = entry[i].load(std::memory_order_acquire);
      if (there == nullptr &&
          entry[i].compare_exchange_strong(there, user, std::memory_order_acq_rel)) {
        return i;
      }
      if (there == user) {
        return i;
      }
    }
    return -1;
  }

  template <class F>
  F* at(int i) const {
    return reinterpret_cast<F*>(entry[i].load(std::memory_order_acquire));
  }
};

template <class F, template <int> class Call, int... Slot>
F* function_at(int i, std::integer_sequence<int, Slot...>) {
  static F* const functions[] = {Call<Slot>::function...};
  return functions[i];
}

/// The C function, `Call<Slot>::function`, through which `user` is called; null: there is no slot
/// left.
template <class F, template <int> class Call>
F* function_of(table& of, procedure* user) {
  const int i = of.of(user);
  return i < 0 ? nullptr : function_at<F, Call>(i, std::make_integer_sequence<int, most>{});
}

}  // namespace sinew::slots
