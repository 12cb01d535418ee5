// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/io/hints.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "sinew/base/check.hpp"

namespace sinew::io {
namespace {

using choice = hints::choice;

void take_choice(const std::string& value, choice& to) {
  if (value == "enable" || value == "true") {
    to = choice::enable;
  } else if (value == "disable" || value == "false") {
    to = choice::disable;
  } else if (value == "automatic") {
    to = choice::automatic;
  }
}

void take_number(const std::string& value, std::int64_t least, std::int64_t most,
                 std::int64_t& to) {
  SINEW_EXPECT(least <= most);
  std::int64_t n = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (problem == std::errc{} && end == value.data() + value.size() && n >= least && n <= most) {
    to = n;
  }
}

const char* word_of(choice c) {
  return c == choice::automatic ? "automatic" : c == choice::enable ? "enable" : "disable";
}

void take_permissions(const std::string& value, unsigned& to) {
  unsigned bits = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), bits, 8);
  if (problem == std::errc{} && end == value.data() + value.size() && bits <= 0777) {
    to = bits;
  }
}

// A buffer shorter than a page would be of no use; a longer one than this, a mistake.
constexpr std::int64_t least_buffer = 4096;
constexpr std::int64_t most_buffer = std::int64_t{1} << 40;

}  // namespace

void hints::take(const hint_list& from) {
  for (const auto& [key, value] : from) {
    if (key == "collective_buffering") {
      take_choice(value, shared.cb_read);
      take_choice(value, shared.cb_write);
    } else if (key == "romio_cb_read") {
      take_choice(value, shared.cb_read);
    } else if (key == "romio_cb_write") {
      take_choice(value, shared.cb_write);
    } else if (key == "romio_ds_read") {
      take_choice(value, ds_read);
    } else if (key == "romio_ds_write") {
      take_choice(value, ds_write);
    } else if (key == "cb_buffer_size") {
      take_number(value, least_buffer, most_buffer, shared.cb_buffer_size);
    } else if (key == "cb_nodes") {
      take_number(value, 1, 1 << 30, shared.cb_nodes);
    } else if (key == "striping_unit") {
      take_number(value, 1, most_buffer, shared.striping_unit);
    } else if (key == "striping_factor") {
      take_number(value, 1, 1 << 30, shared.striping_factor);
    } else if (key == "ind_rd_buffer_size") {
      take_number(value, least_buffer, most_buffer, ind_rd_buffer_size);
    } else if (key == "ind_wr_buffer_size") {
      take_number(value, least_buffer, most_buffer, ind_wr_buffer_size);
    } else if (key == "file_perm") {
      take_permissions(value, permissions);
    }
  }
}

hint_list hints::in_force(int ranks) const {
  hint_list all;
  const auto add = [&](const char* key, std::string value) {
    all.emplace_back(key, std::move(value));
  };
  add("romio_cb_read", word_of(shared.cb_read));
  add("romio_cb_write", word_of(shared.cb_write));
  add("cb_nodes", std::to_string(aggregators(ranks)));
  add("cb_buffer_size", std::to_string(shared.cb_buffer_size));
  if (shared.striping_unit != 0) {
    add("striping_unit", std::to_string(shared.striping_unit));
  }
  if (shared.striping_factor != 0) {
    add("striping_factor", std::to_string(shared.striping_factor));
  }
  add("romio_ds_read", word_of(ds_read));
  add("romio_ds_write", word_of(ds_write));
  add("ind_rd_buffer_size", std::to_string(ind_rd_buffer_size));
  add("ind_wr_buffer_size", std::to_string(ind_wr_buffer_size));
  return all;
}

int hints::aggregators(int ranks) const noexcept {
  SINEW_EXPECT(ranks >= 1 && shared.cb_nodes >= 0);
  // The system lets one process at a time write a file, so that more of them only wait; but what
  // they gather is copied meanwhile.
  constexpr std::int64_t usual = 4;
  return static_cast<int>(
      std::min<std::int64_t>(shared.cb_nodes != 0 ? shared.cb_nodes : usual, ranks));
}

}  // namespace sinew::io
