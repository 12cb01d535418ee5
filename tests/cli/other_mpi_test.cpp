// SPDX-License-Identifier: BSD-3-Clause
// Names of MPI libraries, and programs that are asked for theirs.
#include "sinew/run/other_mpi.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "sinew/base/clock.hpp"

namespace sinew::tool {
namespace {

TEST(names_of_mpi_libraries, tell_who_speaks_pmi1) {
  for (const char* const name :
       {"libmpi.so.12", "libmpich.so.12", "libmpich.so", "libmpichfort.so.12"}) {
    EXPECT_TRUE(is_mpi_library(name) && speaks_pmi1(name)) << name;
  }
  for (const char* const name :
       {"libmpi.so.40", "libmpi_usempif08.so.40", "libmpi.so", "libmpi_cray.so.12"}) {
    EXPECT_TRUE(is_mpi_library(name) && !speaks_pmi1(name)) << name;
  }
  EXPECT_FALSE(is_mpi_library("libmpicolor.so"));
}

/// A copy of this program that names another dynamic linker, by a path of the same length at most.
std::string with_linker(const std::string& linker) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  std::string text = bytes.str();
  const std::size_t at = text.find("/ld-linux");
  const std::size_t begin = text.rfind('\0', at) + 1;
  EXPECT_LE(linker.size(), text.find('\0', at) - begin);
  text.replace(begin, linker.size() + 1, linker + '\0');
  const std::string path = ::testing::TempDir() + "program." + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(linked_other_mpi, does_not_wait_for_a_linker_that_hangs) {
  const std::string linker = "/tmp/ld." + std::to_string(::getpid());
  std::ofstream(linker) << "#!/bin/sh\nexec sleep 600\n";
  ASSERT_EQ(::chmod(linker.c_str(), 0700), 0);
  const std::string program = with_linker(linker);
  const std::int64_t began = now_ns();
  EXPECT_EQ(linked_other_mpi(program, {}), "");
  EXPECT_GT(now_ns() - began, second_ns / 2);  // it was started
  EXPECT_LT(now_ns() - began, 20 * second_ns);
  std::remove(linker.c_str());
  std::remove(program.c_str());
}

}  // namespace
}  // namespace sinew::tool
