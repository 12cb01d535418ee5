// SPDX-License-Identifier: BSD-3-Clause
// Messages as they arrive, without a network: each calls the one function that it is for.
#include "region/courier.hpp"

#include "fixture.hpp"

namespace sinew::region {
namespace {

using sinew::event::message;
using sinew::event::topic;

/// Writes down what it was asked.
struct recorder final : inbox {
  void on_allocate(job_rank creator, const allocation& a) override {
    say("allocate", creator.value(), a.id, a.bytes, a.part);
  }
  void on_allocated(instance i) override { say("allocated", i.bits()); }
  void on_release(const part_name& p, std::uint64_t address) override {
    say_part("release", p);
    say("at", address);
  }
  void on_promise(const part_name& p) override { say_part("promise", p); }
  void on_keep(const part_name& p) override { say_part("keep", p); }
  void on_withdraw(const part_name& p) override { say_part("withdraw", p); }
  void on_destroy(instance i, std::uint64_t post, event after) override {
    say("destroy", i.bits(), post, after.bits());
  }
  void on_perform(transfer& t) override { say("perform", t.elements, t.post); }
  void on_allocated_far(job_rank owner, const allocated_part& a) override {
    say("allocated far", owner.value(), a.id, a.address, a.part);
  }
  void on_parcel(job_rank sender, const parcel& p, const std::byte* runs) override {
    say("parcel", sender.value(), p.stream, p.runs, static_cast<int>(runs[0]));
  }
  void on_fetch(job_rank sender, const fetch_piece& f) override {
    say("fetch", sender.value(), f.stream, f.address, f.bytes);
  }
  void on_answer(job_rank owner, std::uint64_t stream, bool good) override {
    say("answer", owner.value(), stream, good);
  }
  void on_ask(job_rank who, instance i) override { say("ask", who.value(), i.bits()); }
  void on_record(const record_piece& p, const std::byte* bytes, std::size_t size) override {
    say("record", p.id, p.first, p.total, static_cast<int>(bytes[0]), size);
  }
  void on_forget(instance i) override { say("forget", i.bits()); }
  void on_contributions(job_rank sender, const log_place& l, const std::byte* entries,
                        std::size_t size) override {
    say("contributions", sender.value(), l.count, size,
        entries == nullptr ? -1 : static_cast<int>(entries[0]));
  }
  void say_part(const char* what, const part_name& p) {
    say(what, p.id, p.part, static_cast<int>(p.kind));
  }
  template <class... Numbers>
  void say(const char* what, Numbers... numbers) {
    said += what;
    ((said += " " + std::to_string(numbers)), ...);
    said += "; ";
  }
  std::string said;
};

template <class T>
std::vector<std::byte> bytes_of(const T& value, std::size_t more = 0, int filled = 0) {
  std::vector<std::byte> bytes(sizeof value + more, static_cast<std::byte>(filled));
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string arrived(topic of, std::uint64_t small, std::uint64_t word,
                    const std::vector<std::byte>& data) {
  recorder to;
  read(of, message{3, small, word, data.data(), data.size()}, to);
  return to.said;
}

TEST(Courier, EachMessageCallsWhatItIsFor) {
  EXPECT_EQ(
      arrived(topic::region, 0, 0, bytes_of(allocation{7, 4096, 100, 2, memory_kind::shared})),
      "allocate 3 7 100 2; ");
  EXPECT_EQ(arrived(topic::region, 1, 77, {}), "allocated 77; ");
  const auto part = bytes_of(part_name{55, 3, memory_kind::shared});
  EXPECT_EQ(arrived(topic::region, 2, 4096, part), "release 55 3 1; at 4096; ");
  const std::array<std::uint64_t, 2> to_destroy{55, 77};
  EXPECT_EQ(arrived(topic::region, 3, 9, bytes_of(to_destroy)), "destroy 55 9 77; ");
  EXPECT_EQ(arrived(topic::region, 8, 0, part), "promise 55 3 1; ");
  EXPECT_EQ(arrived(topic::region, 9, 0, part), "keep 55 3 1; ");
  EXPECT_EQ(arrived(topic::region, 10, 0, part), "withdraw 55 3 1; ");
  transfer t;
  t.elements = 12;
  t.post = 34;
  t.bytes = 4;
  EXPECT_EQ(arrived(topic::copy, 0, 0, bytes_of(t)), "perform 12 34; ");
  const parcel p{8, 0, 0, 2, action::copy, memory_kind::heap, sharing::exclusive};
  EXPECT_EQ(arrived(topic::copy, 1, 0, bytes_of(p, 8, 99)), "parcel 3 8 2 99; ");
  EXPECT_EQ(arrived(topic::copy, 2, 8, {}), "answer 3 8 1; ");
  EXPECT_EQ(arrived(topic::copy, 3, 8, {}), "answer 3 8 0; ");
  const log_place l{1, 2, 3, 4096, 10, 0, 0};
  EXPECT_EQ(arrived(topic::reduction, 0, 0, bytes_of(l)), "contributions 3 10 0 -1; ");
  EXPECT_EQ(arrived(topic::reduction, 1, 0, bytes_of(l, 80, 42)), "contributions 3 10 80 42; ");
  EXPECT_EQ(arrived(topic::region, 4, 0, bytes_of(allocated_part{7, 4096, 2, {}})),
            "allocated far 3 7 4096 2; ");
  EXPECT_EQ(arrived(topic::region, 5, 55, {}), "ask 3 55; ");
  EXPECT_EQ(arrived(topic::region, 6, 0, bytes_of(record_piece{55, 400, 100}, 8, 41)),
            "record 55 100 400 41 8; ");
  EXPECT_EQ(arrived(topic::region, 7, 55, {}), "forget 55; ");
}

}  // namespace
}  // namespace sinew::region
