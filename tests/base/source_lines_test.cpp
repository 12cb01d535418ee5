// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/base/source_lines.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace sinew::base {
namespace {

TEST(SourceLines, APlaceIsToldByWhatIsKnownOfIt) {
  const int here = 0;
  EXPECT_EQ(text_of({"solve", "/opt/bin/a.out", "src/solver.f90", 210}, &here),
            "solve (solver.f90:210)");
  EXPECT_EQ(text_of({"solve", "/opt/bin/a.out", "", 0}, &here), "solve (a.out)");
  EXPECT_EQ(text_of({"", "", "src/solver.f90", 210}, &here), "solver.f90:210");
  EXPECT_EQ(text_of({"", "/opt/bin/a.out", "", 0}, reinterpret_cast<const void*>(0x1234)),
            "0x1234 of a.out");
  EXPECT_EQ(text_of({}, reinterpret_cast<const void*>(0x1234)), "0x1234");
}

TEST(SourceLines, AnAddressOfNoModuleIsKnownAsNothing) {
  const source_place found = source_of(reinterpret_cast<const void*>(0x10));
  EXPECT_EQ(found.function + found.module + found.file, "");
  EXPECT_EQ(found.line, 0);
}

TEST(SourceLines, AFunctionOfALibraryHasItsModule) {
  const source_place found = source_of(reinterpret_cast<const void*>(&::getppid));
  EXPECT_NE(found.module.find("libc"), std::string::npos) << found.module;
}

}  // namespace
}  // namespace sinew::base
