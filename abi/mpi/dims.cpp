// SPDX-License-Identifier: BSD-3-Clause
#include "abi/mpi/dims.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "sinew/base/check.hpp"

namespace sinew::mpi {
namespace {

std::vector<int> divisors_of(int n) {
  SINEW_EXPECT(n >= 1);
  std::vector<int> all{1};
  const auto take = [&](int prime, int power) {
    const std::size_t before = all.size();
    int factor = 1;
    for (int p = 0; p < power; ++p) {
      factor *= prime;
      for (std::size_t i = 0; i < before; ++i) {
        all.push_back(all[i] * factor);
      }
    }
  };
  int rest = n;
  for (int p = 2; p <= rest / p; p += p == 2 ? 1 : 2) {
    int power = 0;
    for (; rest % p == 0; rest /= p) {
      ++power;
    }
    if (power != 0) {
      take(p, power);
    }
  }
  if (rest > 1) {
    take(rest, 1);
  }
  std::sort(all.begin(), all.end());
  SINEW_ENSURE(all.front() == 1 && all.back() == n);
  return all;
}

/// Whether base to the power of `exponent` is at most `limit`.
bool power_fits(std::int64_t base, int exponent, std::int64_t limit) {
  std::int64_t product = 1;
  for (int i = 0; i < exponent; ++i) {
    product *= base;
    if (product > limit) {
      return false;
    }
  }
  return true;
}

/// The largest integer whose power is at most n.
int root(int n, int exponent) {
  SINEW_EXPECT(n >= 1 && exponent >= 1);
  int r = static_cast<int>(std::pow(n, 1.0 / exponent));
  while (!power_fits(r, exponent, n)) {
    --r;
  }
  while (power_fits(std::int64_t{r} + 1, exponent, n)) {
    ++r;
  }
  SINEW_ENSURE(r >= 1 && power_fits(r, exponent, n));
  return r;
}

/// Branch and bound over the divisors, from the most even products on.
class search {
 public:
  search(int n, int count) : divisors_(divisors_of(n)), now_(static_cast<std::size_t>(count)) {
    place(0, n, n);
  }
  [[nodiscard]] const std::vector<int>& best() const { return best_; }

 private:
  void place(std::size_t at, int rest, int most) {
    const int left = static_cast<int>(now_.size() - at);
    SINEW_ASSERT(left >= 1 && rest >= 1);
    if (left == 1) {
      now_[at] = rest;
      if (now_.front() - rest < best_spread_) {
        best_spread_ = now_.front() - rest;
        best_ = now_;
      }
      return;
    }
    // The largest of the factors that are left is not below their geometric mean.
    const int mean = root(rest, left);
    const int least = power_fits(mean, left, rest - 1) ? mean + 1 : mean;
    for (auto f = std::lower_bound(divisors_.begin(), divisors_.end(), least);
         f != divisors_.end() && *f <= most; ++f) {
      if (rest % *f != 0) {
        continue;
      }
      now_[at] = *f;
      // The last factor is not above the mean of those after this one. With larger ones for this
      // place it only gets worse.
      if (now_.front() - root(rest / *f, left - 1) >= best_spread_) {
        return;
      }
      place(at + 1, rest / *f, *f);
    }
  }

  std::vector<int> divisors_;
  std::vector<int> now_;
  std::vector<int> best_;
  int best_spread_ = INT_MAX;
};

}  // namespace

std::vector<int> balanced_factors(int n, int count) {
  SINEW_EXPECT(n >= 1 && count >= 1);
  std::vector<int> best = search(n, count).best();
  SINEW_ENSURE(best.size() == static_cast<std::size_t>(count));
  SINEW_ENSURE(std::accumulate(best.begin(), best.end(), 1, std::multiplies<>()) == n);
  return best;
}

}  // namespace sinew::mpi
