// Argobots, found by pkg-config: one stream, by the method of million_bench.hpp.
#include <abt.h>

#include "million_bench.hpp"

namespace {

void good(int code) {
  if (code != ABT_SUCCESS) {
    micro::wrong("Argobots returned an error");
  }
}

class crowd {
 public:
  crowd() {
    ABT_xstream self{};
    good(ABT_xstream_self(&self));
    good(ABT_xstream_get_main_pools(self, 1, &pool_));
    good(ABT_mutex_create(&lock_));
    good(ABT_cond_create(&changed_));
  }
  ~crowd() {
    good(ABT_cond_free(&changed_));
    good(ABT_mutex_free(&lock_));
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  bool make(std::size_t stack) {
    ABT_thread_attr how{};
    good(ABT_thread_attr_create(&how));
    good(ABT_thread_attr_set_stacksize(how, stack));
    ABT_thread made{};
    const auto entry = [](void* self) { static_cast<crowd*>(self)->run(); };
    const bool there = ABT_thread_create(pool_, entry, this, how, &made) == ABT_SUCCESS;
    good(ABT_thread_attr_free(&how));
    if (there) {
      all_.push_back(made);
    }
    return there;
  }
  static void await(int count) {
    while (micro::arrived.load(std::memory_order_acquire) < count) {
      good(ABT_thread_yield());
    }
  }
  void open() {
    good(ABT_mutex_lock(lock_));
    open_ = true;
    good(ABT_mutex_unlock(lock_));
    good(ABT_cond_broadcast(changed_));
  }
  void join_all() {
    for (ABT_thread& each : all_) {
      good(ABT_thread_free(&each));
    }
  }

 private:
  void run() {
    micro::arrive();
    good(ABT_mutex_lock(lock_));
    while (!open_) {
      good(ABT_cond_wait(changed_, lock_));
    }
    good(ABT_mutex_unlock(lock_));
  }

  ABT_pool pool_{};
  ABT_mutex lock_{};
  ABT_cond changed_{};
  bool open_ = false;
  std::vector<ABT_thread> all_;
};

}  // namespace

int main(int argc, char** argv) {
  good(ABT_init(argc, argv));
  const int code = micro::crowd_main<crowd>(argc, argv);
  good(ABT_finalize());
  return code;
}
