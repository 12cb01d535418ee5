// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/pool.hpp"

#include <atomic>

namespace sinew::core {

thread_local constinit unsigned own_thread_number [[gnu::tls_model("initial-exec")]] = 0;

unsigned draw_thread_number() noexcept {
  static std::atomic<unsigned> last{0};  // relaxed: it only hands out numbers
  own_thread_number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return own_thread_number;
}

}  // namespace sinew::core
