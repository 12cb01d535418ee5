// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks stand: for who types ^\ at the job, and for `sinew status`.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <set>
#include <string>
#include <utility>

#include "sinew/ask/job_socket.hpp"
#include "sinew/base/clock.hpp"
#include "sinew/run/job.hpp"
#include "sinew/run/terminal_text.hpp"

namespace sinew::tool {

void job::ask(inquiry::answer then) {
  std::set<int> whom;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].alive) {
      whom.insert(static_cast<int>(rank));
    }
  }
  if (inquiry_.begin(std::move(whom), std::move(then))) {
    holder_->ask();
    inquiry_.check(now_ns());  // nobody runs
  }
}

void job::tell_where_all_stand(tell when) {
  ask([this, when](const roll& found) {
    const bool wanted = when == tell::always ||
                        (when == tell::places ? any_is_known(found) : all_are_in_calls(found));
    if (wanted) {
      output_.hurry();
      const std::string text =
          "sinew run: where the ranks stand:\n" + terminal_text(roll_call(found));
      (void)!::write(STDERR_FILENO, text.data(), text.size());
    }
  });
}

// Without such a socket the job runs all the same.
void job::serve_askers() {
  askers_ = job_socket();
  if (askers_) {
    loop_.watch_input(askers_.get(), [this] {
      boot::descriptor connection = take_asker(askers_.get());
      if (connection) {
        const int number = connection.get();
        connections_[number] = std::move(connection);
        loop_.watch_input(number, [this, number] { answer_asker(number); });
      }
    });
  }
}

// A question is one line.
void job::answer_asker(int connection) {
  std::array<char, 64> line{};
  const ssize_t count = ::recv(connection, line.data(), line.size() - 1, MSG_DONTWAIT);
  loop_.forget(connection);
  boot::descriptor asker = std::move(connections_[connection]);
  connections_.erase(connection);
  if (count <= 0) {
    return;
  }
  const auto wanted = question_of({line.data(), static_cast<std::size_t>(count)});
  const auto to = std::make_shared<boot::descriptor>(std::move(asker));
  ask([wanted, to](const roll& found) {
    const std::string text = wanted == question::stacks ? stack_tree(found)
                             : wanted == question::json ? roll_json(found)
                                                        : roll_call(found);
    send_answer(to->get(), text);
  });
}

}  // namespace sinew::tool
