// SPDX-License-Identifier: BSD-3-Clause
// Started by a launcher that speaks PMIx: `srun --mpi=pmix`, PRRTE, Open MPI's mpirun over hosts.
//
// PMIx finds a value by who has put it, and waits for ever for one that nobody puts: asked not to
// wait, PRRTE's server does not find what is of other hosts. So each rank puts one value before
// every fence, with all that it has to say; that is always there to be asked for.
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "boot/environment.hpp"
#include "boot/node_session.hpp"
#include "boot/pmi_channel.hpp"
#include "boot/pmix/library.hpp"
#include "boot/ways_in.hpp"
#include "sinew/base/check.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {
namespace {

using pmix::library;

// The standard's names of what launchers tell.
constexpr const char* key_job_size = "pmix.job.size";
constexpr const char* key_application = "pmix.appnum";
constexpr const char* key_node = "pmix.nodeid";
constexpr const char* key_host = "pmix.hname";
constexpr const char* key_collect = "pmix.collect";    // a fence hands round what was put
constexpr const char* key_optional = "pmix.optional";  // only what this process has been told

void check(const library& with, pmix::status status, const char* what, const char* hint) {
  SINEW_CHECK(status == pmix::success, std::string("PMIx: ") + what,
              std::string(with.error_string(status)) + " (" + with.version() + ")", hint);
}

/// Frees what PMIx_Get has allocated.
class fetched {
 public:
  fetched() = default;
  fetched(const fetched&) = delete;
  fetched& operator=(const fetched&) = delete;
  ~fetched() {
    if (value_ != nullptr) {
      if (value_->is == pmix::kind::string) {
        std::free(value_->text);
      } else if (value_->is == pmix::kind::bytes) {
        std::free(value_->bytes.data);
      }
      std::free(value_);
    }
  }
  [[nodiscard]] pmix::value** address() noexcept { return &value_; }
  [[nodiscard]] std::optional<int> number() const noexcept {
    if (value_ == nullptr) {
      return std::nullopt;
    }
    switch (value_->is) {
      case pmix::kind::number16:
        return value_->number16;
      case pmix::kind::number32:
      case pmix::kind::rank:
        return static_cast<int>(value_->number32);
      default:
        return std::nullopt;
    }
  }
  [[nodiscard]] std::optional<std::string> text() const {
    return value_ != nullptr && value_->is == pmix::kind::string && value_->text != nullptr
               ? std::optional<std::string>(value_->text)
               : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> bytes() const {
    return value_ != nullptr && value_->is == pmix::kind::bytes
               ? std::optional<std::string>(std::string(value_->bytes.data, value_->bytes.size))
               : std::nullopt;
  }

 private:
  pmix::value* value_ = nullptr;
};

std::string record(const std::string& key, const std::string& value) {
  return std::to_string(key.size()) + ' ' + std::to_string(value.size()) + ' ' + key + value;
}

/// A size and the space behind it, taken off `rest`; nothing if that is not what stands there.
std::optional<std::size_t> take_size(std::string_view& rest) {
  std::size_t size = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (failure != std::errc{} || digits == rest.size() || *end != ' ') {
    return std::nullopt;
  }
  rest.remove_prefix(digits + 1);
  return size;
}

/// Reads records into `values`, up to what is none.
void read_records(std::string_view rest, std::map<std::string, std::string>& values) {
  for (;;) {
    const auto key = take_size(rest);
    const auto value = key ? take_size(rest) : std::nullopt;
    if (!value || *key > rest.size() || *value > rest.size() - *key) {
      return;
    }
    values[std::string(rest.substr(0, *key))] = rest.substr(*key, *value);
    rest.remove_prefix(*key + *value);
  }
}

/// The number behind the last '-', or -1.
int number_at_end(const std::string& key) {
  const std::size_t dash = key.rfind('-');
  return dash == std::string::npos ? -1 : parse_number(key.substr(dash + 1)).value_or(-1);
}

class pmix_session final : public node_session {
 public:
  explicit pmix_session(const library& with) : pmix_(with) {
    const pmix::status joined = pmix_.init(&all_, nullptr, 0);
    check(pmix_, joined, "the launcher cannot be reached",
          "start the program with its launcher rather than by hand");
    place_.rank = job_rank{static_cast<int>(all_.rank)};
    all_.rank = pmix::any_rank;
    fetched size;
    check(pmix_, pmix_.get(&all_, key_job_size, nullptr, 0, size.address()),
          "the launcher does not tell the number of ranks", "start the job with `sinew run`");
    place_.size = size.number().value_or(0);
    SINEW_CHECK(place_.rank.below(place_.size), "PMIx: the launcher contradicts itself",
                "this is rank " + to_string(place_.rank) + " of " + std::to_string(place_.size),
                "start the job with `sinew run`");
    place_.launcher = "pmix";
    place_.application = told_number(place_.rank, key_application).value_or(0);
    // The server's address tells apart jobs whose launchers got the same pid. Hashed, because a
    // socket's name is short.
    const std::size_t mark = std::hash<std::string>{}(std::string(all_.space) + " " +
                                                      variable("PMIX_SERVER_URI2").value_or(""));
    place_.job = "pmix-" + std::to_string(mark);
    settle(find_nodes());
  }

  void put(const std::string& key, const std::string& value) override {
    check_key(key);
    unsaid_ += record(key, value);
  }

  /// Keys tell by their ends who has put them: a rank, or a node, whose first rank it then was.
  /// Rank 0 is asked next, then all others.
  [[nodiscard]] std::optional<std::string> get(const std::string& key) override {
    check_key(key);
    const std::scoped_lock held(mutex_);
    const int number = number_at_end(key);
    const job_rank likely{number >= 0 && number < place_.size ? number : 0};
    const job_rank leader = number >= 0 && number < place_.nodes ? leader_of(number) : likely;
    for (const job_rank first : {likely, leader, job_rank{0}}) {
      if (auto found = value_of(first, key)) {
        return found;
      }
    }
    for (job_rank rank = 0; rank.below(place_.size); ++rank) {
      if (auto found = value_of(rank, key)) {
        return found;
      }
    }
    return std::nullopt;
  }

  void fence() override {
    const std::scoped_lock held(mutex_);
    std::string said = std::exchange(unsaid_, {}) + '.';  // none is a value, too
    pmix::value bytes;
    bytes.is = pmix::kind::bytes;
    bytes.bytes = {said.data(), said.size()};
    check(pmix_, pmix_.put(pmix::for_all, name_of(fences_).c_str(), &bytes),
          "what this rank tells the others is refused", "");
    check(pmix_, pmix_.commit(), "what this rank tells the others is refused", "");
    const pmix::directive collect = pmix::yes(key_collect);
    check(pmix_, pmix_.fence(nullptr, 0, &collect, 1), "the ranks cannot meet",
          "most likely one of them has ended: see what was said before");
    ++fences_;
  }

  [[noreturn]] void abort(int code, std::string_view why) override {
    if (!why.empty()) {
      tell_abort(code, why);
    }
    const int told = (code & 0xff) == 0 ? 1 : code & 0xff;
    (void)pmix_.abort(told, std::string(why).c_str(), nullptr, 0);
    leave(told);
  }

  void finalize() override {
    finalized_ = true;
    attendance_.leave();
    (void)pmix_.finalize(nullptr, 0);
  }

 private:
  /// What a rank has said before its fences, as far as it was asked for.
  struct told_by {
    int fences = 0;
    std::map<std::string, std::string> values;
  };

  static std::string name_of(int fence) { return "sinew.fence-" + std::to_string(fence); }

  [[nodiscard]] pmix::process rank_of_job(job_rank rank) const noexcept {
    pmix::process who = all_;
    who.rank = static_cast<std::uint32_t>(rank.value());
    return who;
  }

  [[nodiscard]] job_rank leader_of(int node) const noexcept {
    job_rank rank = 0;
    while (place_.nodes > 1 && place_.node_of[rank.index()] != node) {
      ++rank;
    }
    return rank;
  }

  [[nodiscard]] std::optional<std::string> value_of(job_rank rank, const std::string& key) {
    told_by& of = told_by_[rank.value()];
    for (; of.fences < fences_; ++of.fences) {
      const pmix::process who = rank_of_job(rank);
      fetched found;
      const pmix::status got =
          pmix_.get(&who, name_of(of.fences).c_str(), nullptr, 0, found.address());
      SINEW_CHECK(got == pmix::success && found.bytes(),
                  "PMIx: the launcher does not tell what rank " + to_string(rank) + " has said",
                  pmix_.error_string(got), "most likely it has gone: see what was said before");
      read_records(*found.bytes(), of.values);
    }
    const auto found = of.values.find(key);
    return found == of.values.end() ? std::nullopt : std::optional(found->second);
  }

  // What the launcher has told this process about a rank; nothing is asked for it.
  [[nodiscard]] std::optional<int> told_number(job_rank rank, const char* key) const {
    fetched found;
    return told(rank, key, found) ? found.number() : std::nullopt;
  }
  [[nodiscard]] bool told(job_rank rank, const char* key, fetched& found) const {
    const pmix::process who = rank_of_job(rank);
    const pmix::directive optional = pmix::yes(key_optional);
    return pmix_.get(&who, key, &optional, 1, found.address()) == pmix::success;
  }

  [[nodiscard]] std::vector<int> find_nodes() {
    std::vector<std::string> hosts;
    std::vector<int> nodes;
    for (job_rank rank = 0; rank.below(place_.size); ++rank) {
      if (const auto node = told_number(rank, key_node)) {
        nodes.push_back(*node);
      }
      fetched found;
      if (told(rank, key_host, found) && found.text()) {
        hosts.push_back(*found.text());
      }
    }
    const auto all = static_cast<std::size_t>(place_.size);
    if (hosts.size() == all) {
      return nodes_by_name(hosts);
    }
    return nodes.size() == all ? nodes : nodes_by_told_name();
  }

  const library& pmix_;
  pmix::process all_;   ///< every rank of the job
  std::string unsaid_;  ///< records put since the last fence
  std::mutex mutex_;    ///< of the rest; held while a fence lasts
  int fences_ = 0;
  std::map<int, told_by> told_by_;  ///< by rank
};

}  // namespace

std::unique_ptr<session> join_pmix() { return std::make_unique<pmix_session>(library::load()); }

}  // namespace sinew::boot
