// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/boot/spawn.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sinew/base/parse.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/base/topology.hpp"
#include "sinew/boot/pmi_wire.hpp"

namespace sinew::boot {
namespace {

// Each place costs a rank some 300 bytes and 0.4 us at its start, and addresses.
constexpr int room_per_processor = 4;
constexpr int usual_room = 256;
/// Where the address space is limited (`ulimit -v`).
constexpr int usual_room_within_limit = 64;
constexpr int most_room = 4096;
/// Entries of any list in a text.
constexpr int longest_list = 20'000;

int room_of_node() noexcept {
  rlimit addresses{};
  const bool limited =
      ::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return std::clamp(room_per_processor * topology::usable_cpus(),
                    limited ? usual_room_within_limit : usual_room, most_room);
}

setting<std::int64_t> wanted_room(
    "boot", "spawn", room_of_node(), "ranks",
    "how many ranks a job on one node may start at run time (MPI_Comm_spawn) beside those of its "
    "start, at a time; where it is not set four times as many as this process may use processors, "
    "at least 256, or 64 where the address space is limited (ulimit -v)",
    {.least = 0, .most = most_room});

/// Words with a zero byte behind each.
class word_writer {
 public:
  void add(std::string_view word) {
    text_ += word;
    text_ += '\0';
  }
  void add(int number) { add(std::to_string(number)); }
  void add(const std::vector<std::string>& words) {
    add(static_cast<int>(words.size()));
    for (const std::string& each : words) {
      add(each);
    }
  }
  void add(const std::vector<int>& numbers) {
    add(static_cast<int>(numbers.size()));
    for (const int each : numbers) {
      add(each);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads what word_writer has written. After the first thing that makes no sense all is empty, and
/// good() false.
class word_reader {
 public:
  explicit word_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string word() {
    const std::size_t end = rest_.find('\0');
    good_ = good_ && end != rest_.npos;
    if (!good_) {
      return {};
    }
    std::string result(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return result;
  }
  [[nodiscard]] int number() {
    const std::optional<int> value = parse_number(word());
    good_ = good_ && value.has_value();
    return good_ ? *value : 0;
  }
  [[nodiscard]] int length() {
    const int n = number();
    good_ = good_ && n >= 0 && n <= longest_list;
    return good_ ? n : 0;
  }
  [[nodiscard]] std::vector<std::string> words() {
    std::vector<std::string> result;
    for (int left = length(); left > 0 && good_; --left) {
      result.push_back(word());
    }
    return result;
  }
  [[nodiscard]] std::vector<int> numbers() {
    std::vector<int> result;
    for (int left = length(); left > 0 && good_; --left) {
      result.push_back(number());
    }
    return result;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool at_end() const noexcept { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

[[nodiscard]] bool makes_sense(const spawn_command& c) {
  return !c.arguments.empty() && !c.arguments.front().empty() && !c.counts.empty() &&
         c.counts.back() >= 1 && std::is_sorted(c.counts.rbegin(), c.counts.rend()) &&
         std::all_of(c.environment.begin(), c.environment.end(), [](const std::string& each) {
           return each.find('=') != each.npos && each[0] != '=';
         });
}

}  // namespace

int room_for_spawned() {
  if (const char* const text = std::getenv(wanted_room.name().c_str()); text != nullptr) {
    wanted_room.set(text, setting_origin::environment);  // launchers read no other setting
  }
  return static_cast<int>(wanted_room());
}

std::string to_text(const spawn_request& request) {
  word_writer out;
  out.add(static_cast<int>(request.commands.size()));
  for (const spawn_command& each : request.commands) {
    out.add(each.arguments);
    out.add(each.counts);
    out.add(each.directory);
    out.add(each.path);
    out.add(each.environment);
  }
  out.add(request.contact);
  return out.take();
}

std::optional<spawn_request> parse_spawn_request(std::string_view text) {
  word_reader in(text);
  spawn_request result;
  for (int left = in.length(); left > 0 && in.good(); --left) {
    spawn_command& c = result.commands.emplace_back();
    c.arguments = in.words();
    c.counts = in.numbers();
    c.directory = in.word();
    c.path = in.words();
    c.environment = in.words();
  }
  result.contact = in.word();
  const bool good = in.at_end() && !result.commands.empty() &&
                    std::all_of(result.commands.begin(), result.commands.end(), makes_sense);
  return good ? std::optional(std::move(result)) : std::nullopt;
}

std::string to_text(const spawn_answer& answer) {
  word_writer out;
  out.add(to_text(answer.ranks));
  out.add(answer.counts);
  out.add(answer.culprit);
  out.add(answer.why);
  return out.take();
}

std::optional<spawn_answer> parse_spawn_answer(std::string_view text) {
  word_reader in(text);
  spawn_answer result;
  const std::string list = in.word();
  auto ranks = list.empty() ? std::vector<tenancy>() : parse_tenancies(list);
  result.counts = in.numbers();
  result.culprit = in.number();
  result.why = in.word();
  if (!in.at_end() || !ranks.has_value()) {
    return std::nullopt;
  }
  result.ranks = std::move(*ranks);
  return result;
}

namespace {

std::string ranges_of(const std::vector<job_rank>& ranks) {
  std::vector<int> numbers;
  for (const job_rank each : ranks) {
    numbers.push_back(each.value());
  }
  return base::ranges_text(numbers);
}

std::optional<std::vector<job_rank>> parse_ranks(std::string_view text) {
  constexpr int most = 1 << 24;  // ranks are not trusted with the launcher's memory
  const auto numbers = base::parse_ranges(text, most);
  if (!numbers) {
    return std::nullopt;
  }
  std::vector<job_rank> ranks;
  for (const int each : *numbers) {
    ranks.emplace_back(each);
  }
  return ranks;
}

}  // namespace

std::string to_text(const connections& ranks) {
  return ranges_of(ranks.kept) + ";" + ranges_of(ranks.leaving);
}

std::optional<connections> parse_connections(std::string_view text) {
  const std::size_t middle = text.find(';');
  if (middle == text.npos) {
    return std::nullopt;
  }
  auto kept = parse_ranks(text.substr(0, middle));
  auto leaving = parse_ranks(text.substr(middle + 1));
  return kept && leaving ? std::optional(connections{std::move(*kept), std::move(*leaving)})
                         : std::nullopt;
}

std::string to_text(const std::vector<tenancy>& ranks) {
  std::string text;
  for (const tenancy& each : ranks) {
    text += (text.empty() ? "" : ",") + to_string(each.rank) + "." + std::to_string(each.tenant);
  }
  return text;
}

std::optional<std::vector<tenancy>> parse_tenancies(std::string_view text) {
  std::vector<tenancy> result;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t dot = std::min(one.find('.'), one.size());
    const auto rank = parse_number(one.substr(0, dot));
    const auto tenant = parse_number(one.substr(std::min(dot + 1, one.size())));
    if (!rank || !tenant || *rank < 0 || *tenant < 1 ||
        (!result.empty() && result.back().rank.value() >= *rank)) {
      return std::nullopt;
    }
    result.push_back({job_rank{*rank}, static_cast<std::uint32_t>(*tenant)});
  }
  return result.empty() ? std::nullopt : std::optional(std::move(result));
}

}  // namespace sinew::boot
