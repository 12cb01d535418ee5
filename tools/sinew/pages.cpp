// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/pages.hpp"

#include <algorithm>

#include "sinew/base/error.hpp"
#include "sinew/formats/text.hpp"

namespace sinew::tool {
namespace {

std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'' || (c == '.' && (result.empty() || result.back() == '\n'))) {
      result += c == '\'' ? "\\(aq" : "\\&.";
    } else {
      result += c;
    }
  }
  return result;
}

std::string title(const std::string& name) {
  std::string upper = name;
  for (char& c : upper) {
    c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return ".TH \"" + upper + "\" 1 \"\" \"Sinew " SINEW_VERSION "\" \"Sinew\"\n.SH NAME\n" +
         roff(name) + " \\- ";
}

/// In single quotes of a shell, whatever it holds.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

/// With a backslash before what _arguments and _describe of zsh take for their own.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string result;
  for (const std::string_view word : words) {
    result += (result.empty() ? "" : " ") + std::string(word);
  }
  return result;
}

std::string spaced(std::string_view choices) {
  std::string result(choices);
  std::replace(result.begin(), result.end(), '|', ' ');
  return result;
}

// One specification of _arguments for each name of an option.
std::string zsh_option(const option& each) {
  std::string result;
  for (const std::string_view name : each.names) {
    std::string spec = std::string(name);
    if (!each.value.empty()) {
      spec += !takes_word(each) ? "=-" : name.starts_with("--") ? "=" : "+";
    }
    spec += "[" + zsh_text(each.about) + "]";
    if (!each.value.empty()) {
      spec += (takes_word(each) ? ":" : "::") + zsh_text(each.value) + ":" +
              (each.choices.empty() ? "_files" : "(" + spaced(each.choices) + ")");
    }
    result += " \\\n        " + shell_quoted(spec);
  }
  return result;
}

}  // namespace

std::string man_overview(std::span<const command_page> pages) {
  std::string text = title("sinew") +
                     "start, inspect and measure parallel programs\n.SH SYNOPSIS\n"
                     ".B sinew\n.I COMMAND\n[...]\n.SH COMMANDS\n";
  std::string others;
  for (const command_page& page : pages) {
    text += ".TP\n.B sinew " + roff(page.name) + "\n" + roff(page.summary) + "\n";
    others += (others.empty() ? ".BR sinew\\-" : ",\n.BR sinew\\-") + roff(page.name) + " (1)";
  }
  return text +
         ".SH ENVIRONMENT\nSettings are variables SINEW_MODULE_KEY;\n.B sinew info config\n"
         "lists them with what each takes.\n.SH SEE ALSO\n" +
         others + "\n";
}

std::string man_page(const command_page& page) {
  const std::string name(page.name);
  std::string text = title("sinew-" + name) + roff(page.summary) + "\n.SH SYNOPSIS\n.B sinew " +
                     roff(name) + "\n" + roff(page.synopsis) + "\n";
  if (!page.text.empty()) {
    text += ".SH DESCRIPTION\n.nf\n" + roff(page.text) + "\n.fi\n";
  }
  if (!page.options.empty()) {
    text += ".SH OPTIONS\n";
  }
  for (const option& each : page.options) {
    text += ".TP\n.B " + roff(left_column(each)) + "\n" + roff(each.about) + "\n";
  }
  return text + ".SH SEE ALSO\n.BR sinew (1)\n";
}

std::string bash_completion(std::span<const command_page> pages) {
  std::string names;
  std::string branches;
  std::string values;
  for (const command_page& page : pages) {
    names += (names.empty() ? "" : " ") + std::string(page.name);
    std::string options;
    for (const option& each : page.options) {
      options += (options.empty() ? "" : " ") + joined(each.names);
      for (const std::string_view name : each.names) {
        if (takes_word(each)) {
          values += "    " + std::string(page.name) + "\\ " + std::string(name) +
                    ") words=" + shell_quoted(spaced(each.choices)) + " value=yes ;;\n";
        }
      }
    }
    for (const std::string_view word : page.words) {
      if (word.starts_with('-')) {
        options += (options.empty() ? "" : " ") + std::string(word);
      }
    }
    branches += "      " + std::string(page.name) + ") options=" + shell_quoted(options) +
                " words=" + shell_quoted(joined(page.words)) + " ;;\n";
  }
  return "# bash completion of sinew, made by `sinew help --completion bash`\n_sinew() {\n"
         "  local now=\"${COMP_WORDS[COMP_CWORD]}\" last=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local words='' options='' value=''\n  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then words=" +
         shell_quoted(names) + "\n  else case \"${COMP_WORDS[1]} $last\" in\n" + values +
         "    *) case \"${COMP_WORDS[1]}\" in\n" + branches +
         "    esac ;;\n  esac; fi\n"
         "  if [[ -z \"$value\" && \"$now\" == -* ]]; then words=$options; fi\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$now\")\n"
         "}\ncomplete -o default -o bashdefault -F _sinew sinew\n";
}

std::string zsh_completion(std::span<const command_page> pages) {
  std::string names;
  std::string branches;
  for (const command_page& page : pages) {
    names += "    " + shell_quoted(zsh_text(page.name) + ":" + zsh_text(page.summary)) + "\n";
    branches += "    " + std::string(page.name) + ")\n      _arguments -s";
    for (const option& each : page.options) {
      branches += zsh_option(each);
    }
    branches += " \\\n        " +
                (page.words.empty() ? std::string("'*:: :_normal'")
                                    : shell_quoted("*:word:(" + joined(page.words) + ")")) +
                " ;;\n";
  }
  return "#compdef sinew\n# zsh completion of sinew, made by `sinew help --completion zsh`\n"
         "local -a commands=(\n" +
         names +
         ")\nif (( CURRENT == 2 )); then\n  _describe command commands\nelse\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         branches + "  esac\nfi\n";
}

void write_pages(std::span<const command_page> pages, const std::filesystem::path& share) {
  const auto write = [&share](const std::filesystem::path& place, const std::string& text) {
    std::error_code ignored;  // the file cannot be written then
    std::filesystem::create_directories((share / place).parent_path(), ignored);
    formats::write_file(share / place, text);
  };
  write("man/man1/sinew.1", man_overview(pages));
  for (const command_page& page : pages) {
    write("man/man1/sinew-" + std::string(page.name) + ".1", man_page(page));
  }
  write("bash-completion/completions/sinew", bash_completion(pages));
  write("zsh/site-functions/_sinew", zsh_completion(pages));
}

}  // namespace sinew::tool
