// SPDX-License-Identifier: BSD-3-Clause
// The same in C++, with the headers of the module itself: a pipeline over the ranks of a job. Each
// stage is a fiber that receives, works and passes on; fibers of one rank hand over through a
// mutex and a condition variable, fibers of different ranks through MPI.
//
//   mpicxx.sinew -std=c++20 fibers.cpp -o fibers_cpp -lsinew
//   sinew run -n 2 ./fibers_cpp
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "sinew/fiber/condition_variable.hpp"
#include "sinew/fiber/fiber.hpp"
#include "sinew/fiber/mutex.hpp"
#include "sinew/fiber/scheduler.hpp"

namespace fiber = sinew::fiber;

namespace {

constexpr int stages = 200;
constexpr int items = 50;

int rank, size;

/// A place for one item between two stages of a rank.
class slot {
 public:
  void put(long item) {
    std::unique_lock hold(mutex_);
    changed_.wait(mutex_, [this] { return !full_; });
    item_ = item;
    full_ = true;
    changed_.notify_all();
  }
  long take() {
    std::unique_lock hold(mutex_);
    changed_.wait(mutex_, [this] { return full_; });
    full_ = false;
    changed_.notify_all();
    return item_;
  }

 private:
  fiber::mutex mutex_;
  fiber::condition_variable changed_;
  long item_ = 0;
  bool full_ = false;
};

struct stage {
  slot* in = nullptr;   ///< null: from the rank before
  slot* out = nullptr;  ///< null: to the next rank

  void run() const {
    for (int i = 0; i < items; ++i) {
      long item = i;
      if (in != nullptr) {
        item = in->take();
      } else if (rank > 0) {
        MPI_Recv(&item, 1, MPI_LONG, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      ++item;  // the work
      if (out != nullptr) {
        out->put(item);
      } else {
        MPI_Send(&item, 1, MPI_LONG, (rank + 1) % size, rank == size - 1 ? 1 : 0, MPI_COMM_WORLD);
      }
    }
  }
};

/// Rank 0 receives what has passed through all stages of all ranks.
struct end_of_line {
  int wrong = 0;

  void run() {
    for (int i = 0; i < items; ++i) {
      long item = 0;
      MPI_Recv(&item, 1, MPI_LONG, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += item != i + static_cast<long>(stages) * size;
    }
  }
};

template <class Body>
fiber::fiber& spawn(Body& body) {
  fiber::fiber* made = nullptr;
  const auto entry = [](void* it) { static_cast<Body*>(it)->run(); };
  if (fiber::spawn(entry, &body, &made).retry()) {
    std::fprintf(stderr, "rank %d: no memory for a fiber\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return *made;
}

int run_pipeline() {
  std::vector<std::unique_ptr<slot>> between;
  std::vector<stage> all(stages);
  for (int i = 1; i < stages; ++i) {
    between.push_back(std::make_unique<slot>());
    all[static_cast<std::size_t>(i) - 1].out = all[static_cast<std::size_t>(i)].in =
        between.back().get();
  }
  std::vector<fiber::fiber*> running;
  for (stage& each : all) {
    running.push_back(&spawn(each));
  }
  end_of_line end;
  if (rank == 0) {
    running.push_back(&spawn(end));
  }
  for (fiber::fiber* each : running) {
    fiber::join(*each);
  }
  return end.wrong;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = 0;
  {
    fiber::scheduler workers;
    wrong = run_pipeline();
    std::printf("rank %d of %d: %d items passed %d stages on %d workers", rank, size, items, stages,
                workers.workers());
    std::printf(rank == 0 ? ", and came back %s\n" : "\n", wrong == 0 ? "right" : "WRONG");
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
