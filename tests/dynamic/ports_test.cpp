// SPDX-License-Identifier: BSD-3-Clause
// Leaders that meet at a port or by a socket, and the communicator that follows. The ranks are
// threads of one process.
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "sinew/base/clock.hpp"
#include "sinew/dynamic/connections.hpp"
#include "sinew/dynamic/failure.hpp"
#include "sinew/dynamic/leaders.hpp"
#include "support/job.hpp"

namespace sinew::dynamic {
namespace {

using test::backend;
using test::member;

constexpr message_tag tag = 3;

/// What a rank has beside its member: the communicators that connections are made with.
struct rank_of_job {
  explicit rank_of_job(member& m)
      : engine(m.engine), all(coll::job(m.engine)), own(coll::self(m.engine)), way(job()) {}
  [[nodiscard]] coll::participant job() const { return {engine, *all}; }
  [[nodiscard]] coll::participant self() const { return {engine, *own}; }
  p2p::engine& engine;
  coll::communicator_ref all;
  coll::communicator_ref own;
  leaders_way way;
};

void job(int ranks, const std::function<void(member&)>& body) {
  test::run_job(ranks, backend::inproc, core::threading::one, body);
}

void tell(member& m, const std::string& text, int to) {
  m.engine.send(m.comm, m.messages(), p2p::buffer::of_bytes(text.data(), text.size()),
                comm_rank{to}, tag);
}

std::string hear(member& m, int from) {
  char text[1024];
  const p2p::result r = m.engine.recv(
      m.comm, m.messages(), p2p::buffer::of_bytes(text, sizeof text), comm_rank{from}, tag);
  return {text, r.bytes};
}

error_kind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const failure& f) {
    return f.kind;
  }
  return error_kind::none;
}

/// Both say their rank in the new communicator.
void check_talk(const coll::intercommunicator& both, member& m) {
  EXPECT_EQ(both.remote().size(), 1);
  EXPECT_EQ(both.remote()[0], job_rank{1 - m.rank});
  std::int32_t in = -1;
  const std::int32_t out = m.rank;
  core::communicator& c = *both.across();
  m.engine.exchange(c, p2p::messages_of(c), p2p::buffer::of_bytes(&out, sizeof out), 0, tag,
                    p2p::buffer::of_bytes(&in, sizeof in), 0, tag);
  EXPECT_EQ(in, 1 - m.rank);
}

TEST(port_name, is_text_and_back) {
  port_name p;
  p.job = 0x123456789abcdef0;
  p.owner = 17;
  p.number = 3;
  p.secret[0] = 1;
  p.secret[1] = ~std::uint64_t{0};
  p.machine = 99;
  p.tcp_port = 4711;
  p.addresses = "10.0.0.1,192.168.7.7";
  const std::string text = p.text();
  const auto back = port_name::parse(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->text(), text);
  EXPECT_EQ(back->owner, 17);
  EXPECT_EQ(back->addresses, p.addresses);
  EXPECT_EQ(back->local_socket(), p.local_socket());
  for (const std::string wrong :
       {"", "sinew", "sinew:2:", "other:2:0:1:1:0:0:0:", "sinew:2:zz:1:1:00:00:1:"}) {
    EXPECT_FALSE(port_name::parse(wrong).has_value()) << wrong;
  }
  EXPECT_FALSE(port_name::parse(text.substr(0, text.find(':', 10))).has_value());
}

TEST(ports, two_leaders_meet_and_their_groups_talk) {
  job(2, [](member& m) {
    rank_of_job r(m);
    for (int round = 0; round < 3; ++round) {
      coll::intercommunicator_ref both;
      if (m.rank == 0) {
        const std::string name = open_port_of(m.runtime);
        tell(m, name, 1);
        const auto link = await_caller(*own_port(m.runtime, name), {}, r.way);
        ASSERT_TRUE(link.has_value());
        both = connected(r.self(), 0, &*link, *r.all);
        close_port(m.runtime, name);
        EXPECT_EQ(kind_of([&] { (void)own_port(m.runtime, name); }), error_kind::port);
      } else {
        const std::string name = hear(m, 0);
        EXPECT_EQ(kind_of([&] { (void)own_port(m.runtime, name); }), error_kind::port);
        both = connected_by(r.self(), 0, [&] { return connect_to(name, 0, r.way); }, *r.all);
      }
      check_talk(*both, m);
    }
  });
}

TEST(ports, a_socket_joins_two_ranks) {
  int ends[2] = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  job(2, [&](member& m) {
    rank_of_job r(m);
    const auto link = join(boot::descriptor(ends[m.rank]), r.way);
    ASSERT_TRUE(link.has_value());
    check_talk(*connected(r.self(), 0, &*link, *r.all), m);
  });
}

TEST(ports, who_does_not_know_the_secret_is_not_let_in) {
  job(2, [](member& m) {
    rank_of_job r(m);
    if (m.rank == 0) {
      const std::string name = open_port_of(m.runtime);
      tell(m, name, 1);
      EXPECT_FALSE(await_caller(*own_port(m.runtime, name), {now_ns() + second_ns / 5}, r.way));
      close_port(m.runtime, name);
      tell(m, "closed", 1);
      return;
    }
    // The name of the socket is that of the second word of the secret.
    port_name guessed = port_name::parse(hear(m, 0)).value();
    guessed.secret[0] ^= 1;
    EXPECT_EQ(kind_of([&] { (void)connect_to(guessed.text(), now_ns() + second_ns / 10, r.way); }),
              error_kind::port);
    (void)hear(m, 0);
  });
}

TEST(ports, what_is_no_port_or_not_open_is_refused) {
  job(1, [](member& m) {
    rank_of_job r(m);
    EXPECT_EQ(kind_of([&] { (void)connect_to("somewhere", 0, r.way); }), error_kind::port);
    const std::string name = open_port_of(m.runtime);
    EXPECT_EQ(kind_of([&] { (void)connect_to(name, 0, r.way); }), error_kind::port) << "its own";
    port_name other = port_name::parse(name).value();
    other.owner = 5;
    other.addresses.clear();
    EXPECT_EQ(kind_of([&] { (void)connect_to(other.text(), 0, r.way); }), error_kind::port);
    EXPECT_EQ(kind_of([&] { (void)own_port(m.runtime, other.text()); }), error_kind::port);
    close_port(m.runtime, name);
    EXPECT_EQ(kind_of([&] { close_port(m.runtime, name); }), error_kind::port);
  });
}

TEST(ports, nobody_is_awaited_once_the_port_is_closed_or_the_caller_has_enough) {
  job(1, [](member& m) {
    rank_of_job r(m);
    const auto port = open_port::open(m.runtime, next_number());
    int asked = 0;
    const patience few{.over = [](void* n) { return ++*static_cast<int*>(n) > 3; },
                       .context = &asked};
    EXPECT_FALSE(await_caller(*port, few, r.way).has_value());
    EXPECT_GT(asked, 3);
    port->close();
    EXPECT_FALSE(await_caller(*port, {}, r.way).has_value());
  });
}

TEST(ports, a_leader_that_finds_none_tells_its_group) {
  job(2, [](member& m) {
    rank_of_job r(m);
    const auto find = []() -> coll::leaders_link {
      throw failure(error_kind::port, "there is none");
    };
    const coll::participant both{m.engine, m.comm};
    EXPECT_THROW((void)connected_by(both, 0, find, *r.all), error);
  });
}

TEST(ports, connections_of_two_ranks_have_tags_of_their_own) {
  EXPECT_NE(tag_of_connection(1, 1), tag_of_connection(1, 2));
  EXPECT_NE(tag_of_connection(1, 1), tag_of_connection(2, 1));
  EXPECT_GE(tag_of_connection(-1, 0x7fffffff).value(), 0);
  const int first = next_number();
  EXPECT_EQ(next_number(), first + 1);
}

}  // namespace
}  // namespace sinew::dynamic
