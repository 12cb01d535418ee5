// SPDX-License-Identifier: BSD-3-Clause
// One typed table of settings. A module declares its settings as static objects in one .cpp; each
// appears as SINEW_<MODULE>_<KEY> in the environment, in `sinew info config` and in the reference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinew {

/// `program`: MPI_T_cvar_write. The environment does not override the last two.
enum class setting_origin : std::uint8_t { default_value, environment, command_line, program };

/// The T of a setting<T>.
enum class setting_kind : std::uint8_t { boolean, integer, real, text };

/// When a new value takes effect: on joining the job, or from the next use on; and then either on
/// this rank alone, or it has to be set alike on all ranks between their uses.
enum class setting_use : std::uint8_t { at_start, each_use, each_use_alike };

struct settings_list;

/// What a setting takes. Numbers: from `least` to `most`, both included, and with `or_zero` also 0,
/// which such a setting gives a meaning of its own.
template <class T>
struct accepted {
  T least;
  T most;
  bool or_zero = false;
};

template <>
struct accepted<bool> {};

/// One of `choices`, separated by '|', or `several` of them, separated by commas; any text if there
/// are none.
template <>
struct accepted<std::string> {
  const char* choices = "";
  bool several = false;
  accepted() = default;
  accepted(const char* among, bool as_list = false) : choices(among), several(as_list) {}
};

/// The largest value of settings that count bytes without a limit of their own: 16 TiB, which is
/// what the heap of one rank can have.
inline constexpr std::int64_t most_setting_bytes = std::int64_t{1} << 44;
/// The same for settings that count microseconds: an hour.
inline constexpr std::int64_t most_setting_us = 3'600'000'000;

/// The untyped part, linked into the table by its constructor. Grade: cold.
class setting_base {
 public:
  setting_base(const char* module, const char* key, const char* unit, const char* about,
               setting_use use);
  setting_base(const setting_base&) = delete;
  setting_base& operator=(const setting_base&) = delete;
  virtual ~setting_base();  ///< leaves the table (a library may be unloaded)

  [[nodiscard]] std::string name() const;  ///< "SINEW_P2P_EAGER_LIMIT"
  [[nodiscard]] const char* unit() const noexcept { return unit_; }
  [[nodiscard]] const char* about() const noexcept { return about_; }
  [[nodiscard]] const char* module() const noexcept { return module_; }
  [[nodiscard]] setting_use use() const noexcept { return use_; }
  [[nodiscard]] setting_origin origin() const noexcept { return origin_; }
  [[nodiscard]] virtual setting_kind kind() const noexcept = 0;
  /// Of text: the choices, separated by '|'; "" if it is not one of such, and for other kinds.
  [[nodiscard]] virtual const char* choices() const noexcept = 0;
  [[nodiscard]] virtual std::string text() const = 0;           ///< the value now
  [[nodiscard]] virtual std::string default_text() const = 0;   ///< the default
  [[nodiscard]] virtual std::string accepted_text() const = 0;  ///< "0, or 2 to 65536"
  /// Parses; throws sinew::error that names the setting, the text and what is accepted.
  virtual void parse(std::string_view text) = 0;
  void set(std::string_view text, setting_origin origin);

 private:
  const char* module_;
  const char* key_;
  const char* unit_;
  const char* about_;
  setting_use use_;
  setting_origin origin_ = setting_origin::default_value;
  setting_base* next_ = nullptr;  // the table is this list: no allocation before main

  friend struct settings_list;
};

/// T is bool, std::int64_t (reads 4k, 2M, 1G for unit "bytes"), double or std::string. Numbers must
/// say their range; what is outside it is refused with the name, the text and the range. Reading is
/// a plain load: settings are loaded once, before any other thread runs.
template <class T>
class setting final : public setting_base {
 public:
  setting(const char* module, const char* key, T default_value, const char* unit, const char* about,
          accepted<T> accepts, setting_use use = setting_use::at_start);
  setting(const char* module, const char* key, T default_value, const char* unit, const char* about)
    requires(std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
      : setting(module, key, std::move(default_value), unit, about, accepted<T>{}) {}
  [[nodiscard]] const T& operator()() const noexcept { return value_; }
  /// For tests and tools; not thread-safe, and not held to the range.
  void assign(T value) { value_ = std::move(value); }
  [[nodiscard]] setting_kind kind() const noexcept override;
  [[nodiscard]] const char* choices() const noexcept override;
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] std::string default_text() const override;
  [[nodiscard]] std::string accepted_text() const override;
  void parse(std::string_view text) override;

 private:
  T value_;
  T default_;
  accepted<T> accepts_;
};

namespace settings {

/// Every setting linked into this program, ordered by name.
[[nodiscard]] std::vector<setting_base*> all();

/// Reads SINEW_* from the environment. Unknown names (other than SINEW_BOOT_* protocol variables)
/// come back as sentences with the nearest known name; bad values throw sinew::error. Idempotent.
std::vector<std::string> load_environment();

/// The setting of that full name, or nullptr.
[[nodiscard]] setting_base* find(std::string_view name);

/// Sets one setting from the command line; an unknown name throws sinew::error that proposes the
/// nearest known one.
void set_from_command_line(std::string_view name, std::string_view value);

/// The candidate nearest to `name` by edit distance, or "" if none is near enough to be meant.
[[nodiscard]] std::string nearest(std::string_view name, const std::vector<std::string>& among);

}  // namespace settings
}  // namespace sinew
