// One typed table of settings. A room declares its settings as static objects in one .cpp; each
// appears as SINEW_<ROOM>_<KEY> in the environment, in `sinew info config` and in the reference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinew {

enum class setting_origin : std::uint8_t { standard, environment, command_line };

struct settings_list;

/// The untyped part, linked into the table by its constructor. Grade: cold.
class setting_base {
 public:
  setting_base(const char* room, const char* key, const char* unit, const char* about);
  setting_base(const setting_base&) = delete;
  setting_base& operator=(const setting_base&) = delete;
  virtual ~setting_base();  ///< leaves the table (a library may be unloaded)

  [[nodiscard]] std::string name() const;  ///< "SINEW_P2P_EAGER_LIMIT"
  [[nodiscard]] const char* unit() const noexcept { return unit_; }
  [[nodiscard]] const char* about() const noexcept { return about_; }
  [[nodiscard]] setting_origin origin() const noexcept { return origin_; }
  [[nodiscard]] virtual std::string text() const = 0;           ///< the value now
  [[nodiscard]] virtual std::string standard_text() const = 0;  ///< the default
  /// Parses; throws sinew::error that names the setting, the text and what is accepted.
  virtual void parse(std::string_view text) = 0;
  void set(std::string_view text, setting_origin origin);

 private:
  const char* room_;
  const char* key_;
  const char* unit_;
  const char* about_;
  setting_origin origin_ = setting_origin::standard;
  setting_base* next_ = nullptr;  // the table is this list: no allocation before main

  friend struct settings_list;
};

/// T is bool, std::int64_t (accepts 4k, 2M, 1G for unit "bytes"), double or std::string
/// (optionally one of `choices`, separated by '|'). Reading is a plain load: settings are loaded
/// once, before any other thread runs.
template <class T>
class setting final : public setting_base {
 public:
  setting(const char* room, const char* key, T standard, const char* unit, const char* about,
          const char* choices = "");
  [[nodiscard]] const T& operator()() const noexcept { return value_; }
  /// For tests and tools; not thread-safe.
  void assign(T value) { value_ = std::move(value); }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] std::string standard_text() const override;
  void parse(std::string_view text) override;

 private:
  T value_;
  T standard_;
  const char* choices_;
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
