// SPDX-License-Identifier: BSD-3-Clause
// sinew top.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/ask/asked_job.hpp"
#include "sinew/ask/top_table.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/base/error.hpp"
#include "sinew/commands.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {
namespace {

struct top_request {
  double interval_s = 1;
  int count = 0;
  bool json = false;
  bool by_host = false;
  bool help = false;
  std::vector<pid_t> jobs;
};

std::vector<option> table(top_request& request) {
  return {{{"-i", "--interval"},
           "S",
           "seconds between two tables; 1 if it is not given",
           [&request](std::string_view value) { request.interval_s = seconds("S", value); }},
          {{"-c", "--count"},
           "N",
           "so many tables, below each other; where no terminal reads them, 1",
           [&request](std::string_view value) { request.count = whole_number("N", value, 1); }},
          {{"--hosts"},
           "",
           "a line for each host",
           [&request](std::string_view) { request.by_host = true; }},
          {{"--json"},
           "",
           "a line of JSON in place of each table",
           [&request](std::string_view) { request.json = true; }},
          {{"-h", "--help"}, "", "shows this text", [&request](std::string_view) {
             request.help = true;
           }}};
}

volatile std::sig_atomic_t told_to_end = 0;

/// Keys come one by one, and what is shown is gone afterwards, as long as this lives.
class screen {
 public:
  screen() {
    struct sigaction end{};
    end.sa_handler = [](int) { told_to_end = 1; };
    for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
      ::sigaction(signal, &end, nullptr);
    }
    has_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    if (has_keys_) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
    }
    write("\033[?1049h\033[?25l");
  }
  ~screen() {
    write("\033[?25h\033[?1049l");
    if (has_keys_) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
  }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  static void show(const std::string& text) {
    std::string whole = "\033[H";
    for (const char c : text) {
      whole += c == '\n' ? "\033[K\n" : std::string(1, c);
    }
    write(whole + "\033[J");
  }
  /// The key that is pressed before that time is over; 0: none.
  [[nodiscard]] char key_within(std::int64_t ns) const {
    pollfd keys{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    char key = 0;
    // Wait: for whoever looks at the table, until the next one is due.
    const bool pressed = ::poll(&keys, 1, static_cast<int>(ns / 1'000'000)) == 1;
    return pressed && ::read(STDIN_FILENO, &key, 1) != 1 ? 'q' : key;
  }
  static void fit(top_view& view) {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
      view.lines = size.ws_row - 2;
      view.columns = size.ws_col;
    }
  }

 private:
  static void write(const std::string& text) {
    (void)!::write(STDOUT_FILENO, text.data(), text.size());
  }
  termios before_{};
  bool has_keys_;
};

constexpr std::string_view keys_line =
    "q ends, h hosts or ranks; order: r rank, c cpu, i in MPI, m messages, s sent, y memory\n";

/// False: it was the key that ends.
bool obey(char key, top_view& view) {
  constexpr std::array<std::pair<char, top_order>, 6> orders = {{{'r', top_order::rank},
                                                                 {'c', top_order::processor},
                                                                 {'i', top_order::in_calls},
                                                                 {'m', top_order::messages},
                                                                 {'s', top_order::sent},
                                                                 {'y', top_order::memory}}};
  for (const auto& [name, order] : orders) {
    view.order = key == name ? order : view.order;
  }
  view.by_host = view.by_host != (key == 'h');
  return key != 'q' && key != 3 && told_to_end == 0;
}

/// Looks at a job again and again; false once it has ended.
class observer {
 public:
  explicit observer(const asked_job& job) : job_(job), before_(job.numbers()) {}

  [[nodiscard]] bool look() {
    try {
      std::vector<numbered_rank> now = job_.numbers();
      rates_ = rates_between(before_, now);
      before_ = std::move(now);
      return !before_.empty();
    } catch (const error&) {
      return false;
    }
  }
  [[nodiscard]] const std::vector<rank_rates>& rates() const noexcept { return rates_; }

 private:
  const asked_job& job_;
  std::vector<numbered_rank> before_;
  std::vector<rank_rates> rates_;
};

std::int64_t interval_ns(const top_request& request) {
  return static_cast<std::int64_t>(request.interval_s * static_cast<double>(second_ns));
}

void watch_on_screen(const asked_job& job, const top_request& request) {
  constexpr std::int64_t first_ns = 300'000'000;
  observer seen(job);
  top_view view{.by_host = request.by_host};
  const std::string title = terminal_text(job.title());
  {
    const screen here;
    std::int64_t next_ns = now_ns() + std::min(first_ns, interval_ns(request));
    for (bool goes_on = true; goes_on;) {
      const char key = here.key_within(std::max<std::int64_t>(next_ns - now_ns(), 0));
      if (!obey(key, view)) {
        return;
      }
      if (now_ns() >= next_ns) {
        goes_on = seen.look();
        next_ns = now_ns() + interval_ns(request);
      }
      screen::fit(view);
      screen::show(title.substr(0, static_cast<std::size_t>(view.columns)) + "\n" +
                   terminal_text(top_table(seen.rates(), view)) + std::string(keys_line));
    }
  }
  std::printf("%s has ended\n", title.c_str());
}

void print_tables(const asked_job& job, const top_request& request) {
  observer seen(job);
  if (!request.json) {
    std::printf("%s\n", terminal_text(job.title()).c_str());
  }
  for (int i = 0; i < std::max(request.count, 1); ++i) {
    sleep_ns(interval_ns(request));
    if (!seen.look()) {
      return;
    }
    const std::string text = request.json ? top_json(seen.rates(), job.number())
                                          : top_table(seen.rates(), {.by_host = request.by_host});
    std::fputs(terminal_text(text).c_str(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace

command_page top_page() {
  static top_request unused;
  return {
      "top",
      "shows what the ranks of a running job do, in numbers",
      "[OPTIONS] [JOB]",
      "JOB is the process number of a sinew run of yours on this machine, or of a rank that\n"
      "another launcher has started here; it may be left out where there is one job. By rank:\n"
      "share of a processor, share of the time in MPI (all threads together), calls of MPI,\n"
      "messages and accesses, bytes that calls send and receive by their arguments, and memory,\n"
      "what ranks share included; then the latest call, or for how long the rank has waited.\n"
      "Ranks count only while somebody looks, some 120 ns a call. Programs without MPI have\n"
      "processor, memory and waits. On a terminal the table stays in place, and keys change it.\n\n"
      "exit code: 0; 1 the job cannot be asked, or there is none.",
      table(unused),
      {}};
}

int top_main(int argc, char** argv) {
  top_request request;
  const std::vector<option> known = table(request);
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  read_words(words, known, [&request](std::string_view word) {
    request.jobs.push_back(whole_number("JOB", word, 1));
  });
  if (request.help) {
    std::fputs(help_text(top_page()).c_str(), stdout);
    return 0;
  }
  const asked_job job = the_job(request.jobs, "sinew top");
  const bool on_screen = ::isatty(STDOUT_FILENO) == 1 && request.count == 0 && !request.json;
  on_screen ? watch_on_screen(job, request) : print_tables(job, request);
  return 0;
}

}  // namespace sinew::tool
