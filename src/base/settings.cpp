// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "sinew/base/error.hpp"
#include "sinew/base/parse.hpp"

extern char** environ;

namespace sinew {

// Constant-initialised, so a setting in any translation unit may link itself in before or after
// the others of its program are constructed.
struct settings_list {
  static constinit inline setting_base* head = nullptr;

  static void add(setting_base* one) {
    one->next_ = head;
    head = one;
  }

  static void remove(const setting_base* one) {
    for (setting_base** link = &head; *link != nullptr; link = &(*link)->next_) {
      if (*link == one) {
        *link = one->next_;
        return;
      }
    }
  }

  static setting_base* next(const setting_base* one) { return one->next_; }
};

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): literals, in setting<>'s order
setting_base::setting_base(const char* module, const char* key, const char* unit, const char* about,
                           setting_use use)
    : module_(module), key_(key), unit_(unit), about_(about), use_(use) {
  settings_list::add(this);
}

setting_base::~setting_base() { settings_list::remove(this); }

std::string setting_base::name() const {
  std::string result = std::string("SINEW_") + module_ + "_" + key_;
  for (char& c : result) {
    c = base::upper(c);
  }
  return result;
}

void setting_base::set(std::string_view text, setting_origin origin) {
  parse(text);
  origin_ = origin;
}

template <class T>
setting<T>::setting(const char* module, const char* key, T default_value, const char* unit,
                    const char* about, accepted<T> accepts, setting_use use)
    : setting_base(module, key, unit, about, use),
      value_(default_value),
      default_(std::move(default_value)),
      accepts_(accepts) {}

namespace {

bool is_bytes(const char* unit) { return std::strcmp(unit, "bytes") == 0; }

std::string show(bool value, const char* /*unit*/) { return value ? "on" : "off"; }
std::string show(std::int64_t value, const char* unit) {
  return is_bytes(unit) ? base::bytes_text(value) : std::to_string(value);
}
std::string show(double value, const char* /*unit*/) { return base::double_text(value); }
std::string show(const std::string& value, const char* /*unit*/) { return value; }

std::optional<bool> read(std::string_view text, const accepted<bool>& /*of*/, const char*) {
  return base::parse_bool(text);
}

// Written so that nan is outside.
template <class T>
bool inside(T value, const accepted<T>& of) {
  return (value >= of.least && value <= of.most) || (of.or_zero && value == 0);
}

std::optional<std::int64_t> read(std::string_view text, const accepted<std::int64_t>& of,
                                 const char* unit) {
  const auto value = is_bytes(unit) ? base::parse_bytes(text) : base::parse_integer(text);
  return value && inside(*value, of) ? value : std::nullopt;
}

std::optional<double> read(std::string_view text, const accepted<double>& of, const char*) {
  const auto value = base::parse_double(text);
  return value && inside(*value, of) ? value : std::nullopt;
}

std::optional<std::string> read(std::string_view text, const accepted<std::string>& of,
                                const char*) {
  const std::string_view choices = of.choices;
  const auto is_good = [&](std::string_view each) { return base::is_choice(each, choices); };
  const std::vector<std::string> each = base::split(text, ',');
  const bool good = choices.empty() || (of.several && text.empty()) ||
                    (of.several ? std::all_of(each.begin(), each.end(), is_good) : is_good(text));
  return good ? std::optional(std::string(text)) : std::nullopt;
}

std::string range_text(const accepted<bool>& /*of*/, const char*) { return "on or off"; }

template <class T>
std::string range_text(const accepted<T>& of, const char* unit) {
  return (of.or_zero ? "0, or " : "") + show(of.least, unit) + " to " + show(of.most, unit);
}

std::string range_text(const accepted<std::string>& of, const char*) {
  const std::string_view choices = of.choices;
  if (choices.empty()) {
    return "any text";
  }
  std::string names = of.several ? "one or several of" : "one of";
  for (const std::string& choice : base::split(choices, '|')) {
    names += " " + choice;
  }
  return names + (of.several ? ", separated by commas" : "");
}

/// What a range alone does not say of the form.
std::string form_of(std::int64_t /*value*/, const char* unit) {
  return is_bytes(unit) ? "a number of bytes such as 4096, 4k, 2M or 1G: " : "a whole number: ";
}
std::string form_of(bool /*value*/, const char* /*unit*/) {
  return "true or false, yes or no, 1 or 0, ";
}
std::string form_of(double /*value*/, const char* /*unit*/) { return "a number: "; }
template <class T>
std::string form_of(const T& /*value*/, const char* /*unit*/) {
  return {};
}

}  // namespace

template <class T>
setting_kind setting<T>::kind() const noexcept {
  return std::is_same_v<T, bool>           ? setting_kind::boolean
         : std::is_same_v<T, std::int64_t> ? setting_kind::integer
         : std::is_same_v<T, double>       ? setting_kind::real
                                           : setting_kind::text;
}

template <class T>
const char* setting<T>::choices() const noexcept {
  if constexpr (std::is_same_v<T, std::string>) {
    return accepts_.several ? "" : accepts_.choices;
  }
  return "";
}

template <class T>
std::string setting<T>::text() const {
  return show(value_, unit());
}

template <class T>
std::string setting<T>::default_text() const {
  return show(default_, unit());
}

template <class T>
std::string setting<T>::accepted_text() const {
  return range_text(accepts_, unit());
}

template <class T>
void setting<T>::parse(std::string_view text) {
  auto value = read(text, accepts_, unit());
  if (!value) {
    throw error(name() + " cannot be \"" + std::string(text) + "\"",
                "it takes " + form_of(default_, unit()) + accepted_text(),
                "leave it out for its default, " + default_text());
  }
  value_ = *std::move(value);
}

template class setting<bool>;
template class setting<std::int64_t>;
template class setting<double>;
template class setting<std::string>;

namespace settings {
namespace {

constexpr std::string_view prefix = "SINEW_";

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const setting_base* one : all()) {
    names.push_back(one->name());
  }
  return names;
}

std::string unknown(std::string_view name) {
  const std::string near = nearest(name, all_names());
  std::string sentence = std::string(name) + " is no setting of Sinew";
  sentence += near.empty() ? "; `sinew info config` lists them" : "; did you mean " + near + "?";
  return sentence;
}

// Names that are not for this program: the launcher's wire, the test programs, what the compiler
// wrappers read, and the settings of modules that this program does not have, since every rank
// inherits the environment of the launcher and of its neighbours.
bool is_for_others(std::string_view name) {
  if (name.starts_with("SINEW_BOOT_") || name.starts_with("SINEW_TEST_")) {
    return true;
  }
  for (const std::string_view whole : {"SINEW_IMAGES", "SINEW_CC", "SINEW_CXX", "SINEW_FC"}) {
    if (name == whole) {
      return true;
    }
  }
  const auto names = all_names();
  for (const std::string_view module :
       {"SINEW_BENCH_", "SINEW_RUN_", "SINEW_INFO_", "SINEW_THREADS_", "SINEW_COARRAY_",
        "SINEW_EVENT_", "SINEW_REGION_", "SINEW_ROUTE_", "SINEW_RMA_", "SINEW_FIBER_", "SINEW_MPI_",
        "SINEW_COLL_", "SINEW_P2P_", "SINEW_MATCH_", "SINEW_FABRIC_", "SINEW_CORE_"}) {
    const bool linked = std::any_of(names.begin(), names.end(), [&](const std::string& one) {
      return one.starts_with(module);
    });
    if (name.starts_with(module) && !linked) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<setting_base*> all() {
  std::vector<std::pair<std::string, setting_base*>> named;
  for (setting_base* one = settings_list::head; one != nullptr; one = settings_list::next(one)) {
    named.emplace_back(one->name(), one);
  }
  std::sort(named.begin(), named.end());
  std::vector<setting_base*> result;
  result.reserve(named.size());
  for (const auto& [name, one] : named) {
    result.push_back(one);
  }
  return result;
}

setting_base* find(std::string_view name) {
  for (setting_base* one = settings_list::head; one != nullptr; one = settings_list::next(one)) {
    if (one->name() == name) {
      return one;
    }
  }
  return nullptr;
}

std::vector<std::string> load_environment() {
  // Two of our libraries may each have a setting of the same name: both get the value.
  std::multimap<std::string, setting_base*, std::less<>> table;
  for (setting_base* one : all()) {
    table.emplace(one->name(), one);
  }
  std::vector<std::string> complaints;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (!line.starts_with(prefix) || equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = line.substr(0, equals);
    const auto [first, last] = table.equal_range(name);
    for (auto one = first; one != last; ++one) {
      if (one->second->origin() <= setting_origin::environment) {
        one->second->set(line.substr(equals + 1), setting_origin::environment);
      }
    }
    if (first == last && !is_for_others(name)) {
      complaints.push_back(unknown(name));
    }
  }
  return complaints;
}

void set_from_command_line(std::string_view name, std::string_view value) {
  setting_base* one = find(name);
  if (one == nullptr) {
    throw error(unknown(name), "");
  }
  one->set(value, setting_origin::command_line);
}

std::string nearest(std::string_view name, const std::vector<std::string>& among) {
  // Farther than a third of the length is no typing error any more.
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string result;
  for (const std::string& candidate : among) {
    const std::size_t distance = base::edit_distance(name, candidate);
    if (distance < best) {
      best = distance;
      result = candidate;
    }
  }
  return result;
}

}  // namespace settings
}  // namespace sinew
