// SPDX-License-Identifier: BSD-3-Clause
// What is generated from the tables of options beside the help: manual pages and completion.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "sinew/options.hpp"

namespace sinew::tool {

/// sinew(1): the commands, each with a line.
[[nodiscard]] std::string man_overview(std::span<const command_page> pages);
/// sinew-NAME(1).
[[nodiscard]] std::string man_page(const command_page& page);
[[nodiscard]] std::string bash_completion(std::span<const command_page> pages);
[[nodiscard]] std::string zsh_completion(std::span<const command_page> pages);

/// All of them as files under `share`, in the folders where man, bash and zsh look for them. Throws
/// sinew::error.
void write_pages(std::span<const command_page> pages, const std::filesystem::path& share);

}  // namespace sinew::tool
