// SPDX-License-Identifier: BSD-3-Clause
// Files of ranks that are threads of one process: on one node and as if on several.
#include "sinew/io/file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "support/job.hpp"

namespace sinew::io {
namespace {

using core::threading;
using test::backend;
using test::member;
using ints = std::vector<std::int32_t>;

const layout::datatype& i32() { return layout::of(layout::element::i32); }
constexpr std::int64_t word = sizeof(std::int32_t);
constexpr open_mode both{.reads = true, .writes = true, .creates = true};

/// A name in a folder that goes with the test.
class files : public ::testing::Test {
 protected:
  files() {
    std::string made = (std::filesystem::temp_directory_path() / "sinew-io-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~files() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string name() const { return folder_ + "/data"; }
  [[nodiscard]] ints contents() const {
    std::ifstream in(name(), std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    ints words(all.size() / sizeof(std::int32_t));
    std::copy_n(all.data(), words.size() * sizeof(std::int32_t),
                reinterpret_cast<char*>(words.data()));
    return words;
  }

 private:
  std::string folder_;
};

coll::participant at(member& m) { return {m.engine, m.comm}; }

void job(int ranks, const std::function<void(member&)>& body,
         const std::vector<int>& node_of = {}) {
  test::run_job(ranks, backend::inproc, threading::one, body, node_of);
}

ints counted(std::size_t n, std::int32_t from, std::int32_t step = 1) {
  ints all(n);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = from + static_cast<std::int32_t>(i) * step;
  }
  return all;
}

std::int64_t move(file& f, direction way, ints& data, form how, begin_at where,
                  std::int64_t offset = 0, const conversion* by = nullptr,
                  std::size_t each = sizeof(std::int32_t)) {
  f.check_way(how, where, offset);
  const access a = f.checked_access(way, {data.data(), data.size(), &i32()}, each, by);
  return f.carry_out(a, how, f.begin(a, where, offset));
}

void close(file& f) { EXPECT_FALSE(f.close(false).has_value()); }

/// The kind of what it throws; none if nothing.
template <class Call>
error_kind kind_of(Call call) {
  try {
    call();
  } catch (const failure& e) {
    return e.kind;
  }
  return error_kind::none;
}

TEST_F(files, each_rank_reads_what_another_has_written) {
  job(3, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {});
    ints data = counted(100, m.rank * 100);
    EXPECT_EQ(move(*f, direction::write, data, form::alone, begin_at::offset, m.rank * 400),
              100 * word);
    f->flush();
    const int other = (m.rank + 1) % m.size;
    EXPECT_EQ(move(*f, direction::read, data, form::alone, begin_at::offset, other * 400),
              100 * word);
    EXPECT_EQ(data, counted(100, other * 100));
    EXPECT_EQ(f->size(), 300 * word);
    // The file ends in the middle of this one.
    EXPECT_EQ(move(*f, direction::read, data, form::alone, begin_at::offset, 299 * word), word);
    close(*f);
  });
}

/// Rank r has every `ranks`-th integer: pieces of all ranks interleave.
void interleave(member& m, file& f) {
  const layout::datatype_ref mine =
      layout::resized(i32(), 0, static_cast<std::ptrdiff_t>(m.size) * word);
  f.set_view(f.checked_view(m.rank * word, sizeof(std::int32_t), *mine), {});
}

void write_and_read_interleaved(member& m, file& f, std::size_t n) {
  interleave(m, f);
  ints data = counted(n, m.rank, m.size);
  EXPECT_EQ(move(f, direction::write, data, form::collective, begin_at::individual),
            static_cast<std::int64_t>(n) * word);
  EXPECT_EQ(f.position(), static_cast<std::int64_t>(n));
  ints back(n, -1);
  f.seek(0, origin::begin);
  EXPECT_EQ(move(f, direction::read, back, form::collective, begin_at::individual),
            static_cast<std::int64_t>(n) * word);
  EXPECT_EQ(back, data);
}

TEST_F(files, collective_accesses_in_two_phases_do_what_lone_ones_do) {
  for (const char* const how : {"enable", "disable", "automatic"}) {
    job(4, [&](member& m) {
      const auto f = file::open(at(m), name(), both,
                                {{"collective_buffering", how}, {"cb_buffer_size", "4096"}});
      write_and_read_interleaved(m, *f, 5000);
      close(*f);
    });
    EXPECT_EQ(contents(), counted(20000, 0)) << how;
    std::filesystem::remove(name());
  }
}

TEST_F(files, a_memory_with_gaps_is_written_in_its_order) {
  job(2, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {{"collective_buffering", "enable"}});
    interleave(m, *f);
    const layout::datatype_ref every_third = layout::resized(i32(), 0, 3 * word);
    ints memory = counted(300, 0);
    f->check_way(form::collective, begin_at::offset, 0);
    const access a = f->checked_access(direction::write, {memory.data(), 100, every_third.get()},
                                       sizeof(std::int32_t), nullptr);
    EXPECT_EQ(f->carry_out(a, form::collective, 0), 100 * word);
    close(*f);
  });
  ints wanted(200);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = static_cast<std::int32_t>(i / 2 * 3);
  }
  EXPECT_EQ(contents(), wanted);
}

TEST_F(files, holes_are_kept_where_strided_writes_are_sieved) {
  job(2, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {{"romio_ds_write", "enable"}});
    f->resize(0);
    interleave(m, *f);
    ints data = counted(2000, m.rank, 2);
    EXPECT_EQ(move(*f, direction::write, data, form::alone, begin_at::individual), 2000 * word);
    close(*f);
  });
  EXPECT_EQ(contents(), counted(4000, 0));
}

void take_turns_at_the_shared_pointer(member& m, file& f) {
  // In the order of the ranks, and of different lengths.
  ints data(static_cast<std::size_t>(m.rank) + 1, m.rank);
  (void)move(f, direction::write, data, form::collective, begin_at::ordered);
  EXPECT_EQ(f.shared_position(), 6);
  (void)coll::barrier(at(m));
  ints one(1, 10 + m.rank);
  (void)move(f, direction::write, one, form::alone, begin_at::shared);
  (void)coll::barrier(at(m));
  EXPECT_EQ(f.shared_position(), 9);
  f.seek_shared(-3, origin::end);
  EXPECT_EQ(f.shared_position(), 6);
}

TEST_F(files, the_shared_pointer_is_one_on_a_node_and_over_nodes) {
  for (const std::vector<int>& node_of : {std::vector<int>{}, std::vector<int>{0, 1, 1}}) {
    job(
        3,
        [&](member& m) {
          const auto f = file::open(at(m), name(), both, {});
          f->resize(0);
          f->set_view(f->checked_view(0, sizeof(std::int32_t), i32()), {});
          take_turns_at_the_shared_pointer(m, *f);
          close(*f);
        },
        node_of);
    ints all = contents();
    ASSERT_EQ(all.size(), 9U);
    EXPECT_EQ((ints{all.begin(), all.begin() + 6}), (ints{0, 1, 1, 2, 2, 2}));
    std::sort(all.begin() + 6, all.end());
    EXPECT_EQ((ints{all.begin() + 6, all.end()}), (ints{10, 11, 12}));
  }
}

TEST_F(files, appended_data_follow_what_is_there) {
  job(2, [&](member& m) {
    ints data(2, m.rank);
    auto f = file::open(at(m), name(), both, {});
    (void)move(*f, direction::write, data, form::collective, begin_at::ordered);
    close(*f);
    open_mode more = both;
    more.appends = true;
    f = file::open(at(m), name(), more, {});
    EXPECT_EQ(f->position(), 4 * word);
    (void)move(*f, direction::write, data, form::collective, begin_at::ordered);
    close(*f);
  });
  EXPECT_EQ(contents(), (ints{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST_F(files, data_are_converted_on_their_way) {
  job(1, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {});
    ints data = {1, 2, 3};
    EXPECT_EQ(move(*f, direction::write, data, form::alone, begin_at::offset, 0, &external32()),
              3 * word);
    ints back(4, -1);
    EXPECT_EQ(move(*f, direction::read, back, form::alone, begin_at::offset, 0, &external32()),
              3 * word);
    EXPECT_EQ(back, (ints{1, 2, 3, -1}));
    close(*f);
  });
  EXPECT_EQ(contents(), (ints{1 << 24, 2 << 24, 3 << 24}));
}

TEST_F(files, what_cannot_be_is_refused_on_all_ranks) {
  job(2, [&](member& m) {
    const auto open = [&](const std::string& path, const open_mode& mode) {
      return kind_of([&] { (void)file::open(at(m), path, mode, {}); });
    };
    EXPECT_EQ(open(name(), {.reads = true}), error_kind::no_such_file);
    EXPECT_EQ(open(name() + "/below", both), error_kind::no_such_file);
    EXPECT_EQ(open(std::filesystem::path(name()).parent_path(), {.reads = true}),
              error_kind::bad_file_name);
    const auto f = file::open(at(m), name(), both, {});
    EXPECT_EQ(open(name(), {.writes = true, .creates = true, .exclusive = true}),
              error_kind::exists);
    EXPECT_EQ(kind_of([&] { f->resize(m.rank); }), error_kind::not_same);
    EXPECT_EQ(kind_of([&] { f->resize(-1); }), error_kind::argument);
    EXPECT_EQ(kind_of([&] { f->set_atomic(m.rank == 0); }), error_kind::not_same);
    EXPECT_EQ(kind_of([&] { f->seek_shared(m.rank, origin::begin); }), error_kind::not_same);
    EXPECT_EQ(kind_of([&] { f->seek_shared(-1, origin::begin); }), error_kind::argument);
    EXPECT_EQ(kind_of([&] { f->check_way(form::alone, begin_at::offset, -1); }),
              error_kind::argument);
    EXPECT_EQ(kind_of([&] {
                (void)f->checked_view(0, 4,
                                      *layout::contiguous(6, layout::of(layout::element::byte)));
              }),
              error_kind::type);
    close(*f);
  });
}

TEST_F(files, a_split_access_is_to_be_ended_by_its_own_call) {
  job(2, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {});
    ints data(3, m.rank);
    const access a = f->checked_access(direction::write, {data.data(), 3, &i32()}, 4, nullptr);
    EXPECT_EQ(kind_of([&] { (void)f->end_split(data.data(), "end"); }), error_kind::other);
    f->begin_split(a, 12 * m.rank, "end");
    EXPECT_EQ(kind_of([&] { f->check_no_split(); }), error_kind::other);
    EXPECT_EQ(kind_of([&] { (void)f->close(false); }), error_kind::other);
    EXPECT_EQ(kind_of([&] { (void)f->end_split(data.data(), "another"); }), error_kind::other);
    EXPECT_EQ(kind_of([&] { (void)f->end_split(nullptr, "end"); }), error_kind::buffer);
    EXPECT_EQ(f->end_split(data.data(), "end"), 12);
    // Busy on one rank: refused on both.
    EXPECT_EQ(kind_of([&] { (void)f->close(m.rank == 0); }), error_kind::pending);
    close(*f);
  });
  EXPECT_EQ(contents(), (ints{0, 0, 0, 1, 1, 1}));
}

TEST_F(files, atomic_writes_are_whole) {
  job(3, [&](member& m) {
    const auto f = file::open(at(m), name(), both, {});
    f->set_atomic(true);
    EXPECT_TRUE(f->atomic());
    ints data(30000, m.rank);
    for (int i = 0; i < 10; ++i) {
      (void)move(*f, direction::write, data, form::alone, begin_at::offset, 0);
      ints back(data.size());
      (void)move(*f, direction::read, back, form::alone, begin_at::offset, 0);
      EXPECT_EQ(std::count(back.begin(), back.end(), back[0]), 30000);
    }
    close(*f);
  });
}

TEST_F(files, what_is_to_go_on_close_is_gone) {
  job(2, [&](member& m) {
    open_mode mode = both;
    mode.deleted_on_close = true;
    close(*file::open(at(m), name(), mode, {}));
  });
  EXPECT_FALSE(std::filesystem::exists(name()));
  EXPECT_EQ(kind_of([&] { remove(name()); }), error_kind::no_such_file);
}

}  // namespace
}  // namespace sinew::io
