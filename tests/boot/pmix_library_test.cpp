// SPDX-License-Identifier: BSD-3-Clause
// What is declared of PMIx here is what its header declares, and what is said where it is missing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "boot/pmix/library.hpp"
#include "sinew/base/error.hpp"
#include "sinew/boot/session.hpp"

#if __has_include(<pmix.h>)
#include <pmix.h>
#define SINEW_HAS_PMIX_HEADER 1
#else
#define SINEW_HAS_PMIX_HEADER 0
#endif

namespace sinew::boot {
namespace {

#if SINEW_HAS_PMIX_HEADER

// A union's member by another name is the same in memory.
static_assert(sizeof(pmix::process) == sizeof(pmix_proc_t));
static_assert(offsetof(pmix::process, rank) == offsetof(pmix_proc_t, rank));
static_assert(sizeof(pmix::value) == sizeof(pmix_value_t));
static_assert(offsetof(pmix::value, bytes) == offsetof(pmix_value_t, data));
static_assert(sizeof(pmix::value::byte_range) == sizeof(pmix_byte_object_t));
static_assert(offsetof(pmix::value::byte_range, size) == offsetof(pmix_byte_object_t, size));
static_assert(sizeof(pmix::directive) == sizeof(pmix_info_t));
static_assert(offsetof(pmix::directive, flags) == offsetof(pmix_info_t, flags));
static_assert(offsetof(pmix::directive, is) == offsetof(pmix_info_t, value));

TEST(pmix_library, numbers_are_the_headers) {
  EXPECT_EQ(pmix::success, PMIX_SUCCESS);
  EXPECT_EQ(pmix::unreachable, PMIX_ERR_UNREACH);
  EXPECT_EQ(pmix::lost_connection, PMIX_ERR_LOST_CONNECTION);
  EXPECT_EQ(pmix::any_rank, PMIX_RANK_WILDCARD);
  EXPECT_EQ(static_cast<int>(pmix::kind::boolean), PMIX_BOOL);
  EXPECT_EQ(static_cast<int>(pmix::kind::string), PMIX_STRING);
  EXPECT_EQ(static_cast<int>(pmix::kind::number16), PMIX_UINT16);
  EXPECT_EQ(static_cast<int>(pmix::kind::number32), PMIX_UINT32);
  EXPECT_EQ(static_cast<int>(pmix::kind::bytes), PMIX_BYTE_OBJECT);
  EXPECT_EQ(static_cast<int>(pmix::kind::rank), PMIX_PROC_RANK);
  EXPECT_EQ(static_cast<int>(pmix::for_all), PMIX_GLOBAL);
  EXPECT_STREQ(pmix::yes("pmix.collect").key, PMIX_COLLECT_DATA);
}

#endif

class without_pmix : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"SINEW_BOOT_JOB", "PMI_FD", "PMI_PORT", "PMI_RANK", "OMPI_COMM_WORLD_RANK",
          "SLURM_PROCID", "PALS_RANKID", "FLUX_TASK_RANK"}) {
      ::unsetenv(name);
    }
    ::setenv("PMIX_RANK", "0", 1);
    ::setenv("SINEW_BOOT_PMIX", "/nowhere/libpmix.so.2", 1);
  }
  void TearDown() override {
    ::unsetenv("PMIX_RANK");
    ::unsetenv("SINEW_BOOT_PMIX");
  }
};

TEST_F(without_pmix, the_error_says_what_to_install) {
  try {
    (void)connect();
    FAIL() << "there is no such library";
  } catch (const error& missing) {
    EXPECT_NE(missing.problem().find("/nowhere/libpmix.so.2"), std::string::npos);
    EXPECT_NE(missing.hint().find("libpmix2"), std::string::npos);
    EXPECT_NE(missing.hint().find("SINEW_BOOT_PMIX"), std::string::npos);
  }
}

TEST(pmix_library, a_directive_is_true) {
  const pmix::directive collect = pmix::yes("pmix.collect");
  EXPECT_STREQ(collect.key, "pmix.collect");
  EXPECT_EQ(collect.is.is, pmix::kind::boolean);
  EXPECT_TRUE(collect.is.flag);
}

}  // namespace
}  // namespace sinew::boot
