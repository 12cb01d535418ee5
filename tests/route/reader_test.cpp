// SPDX-License-Identifier: BSD-3-Clause
// The readers of files on seeded damage: half of the input is a good file with a few bytes changed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuzz/route_input.hpp"
#include "sinew/base/random.hpp"
#include "sinew/base/settings.hpp"

namespace sinew::route {
namespace {

std::vector<std::string> good_inputs() {
  const topology net = make_torus({2, 2, 2});
  return {
      "# a ring\n0 1\n1 2 2.5\n2 3 1 directed\n3 0\n",
      R"({"nodes":4,"endpoints":3,"links":[[0,1],[1,2,2.5],[2,3],[3,0,1]],"name":"four"})",
      R"(<?xml version='1.0'?><platform version="4.1"><cluster id="c" prefix="n" suffix="" )"
      R"(radical="0-7" speed="1Gf" bw="125MBps" lat="50us" topology="TORUS" )"
      R"(topo_parameters="2,2,2"/></platform>)",
      "0 1 64k\n# comment\n3 5 8M\n7 0 12\n",
      plan_to_json(net, make_plan(net, make_pattern(net, "halo"))),
      "torus2:2x2m,x3",
      topology_to_graphml(parse_topology("fattree:1;4;2;1")),
      "switchguid=0x1\nSwitch\t4 \"S-1\"\t# \"leaf\" port 0\n[1]\t\"H-1\"[1](1)\t# \"a\" lid 2 "
      "4xHDR\n"
      "\ncaguid=0x2\nCa\t1 \"H-1\"\t# \"a\"\n[1](1)\t\"S-1\"[1]\t# lid 2 \"leaf\" lid 1 4xHDR\n",
      traffic_matrix(net, make_pattern(net, "halo")),
      loads_to_csv(net, std::vector<double>(net.links(), 1.5)),
  };
}

void damage(std::string& text, random_generator& random) {
  static constexpr const char* pieces[] = {"-1",  "1e308", "99999999999", "{",  "}",   "[",
                                           "]",   "\"",    ":",           ",",  "nan", "\\u00",
                                           "<!-", "4x4",   "null",        "\n", "0",   "fattree:"};
  for (std::uint64_t times = 1 + random.below(4); times > 0 && !text.empty(); --times) {
    const auto at = static_cast<std::size_t>(random.below(text.size()));
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, static_cast<std::size_t>(random.below(8)));
        break;
      case 2:
        text.insert(at, pieces[random.below(std::size(pieces))]);
        break;
      default:
        text.resize(at);
    }
  }
}

TEST(readers, seeded_damage_is_refused_with_a_reason_or_read_soundly) {
  setting_base* limit = settings::find("SINEW_ROUTE_MEMORY");
  ASSERT_NE(limit, nullptr);
  limit->parse("16M");  // a shape of a thousand dimensions is no use of a test's time
  const std::uint64_t seed = seed_from_environment();
  random_generator random(seed);
  const std::vector<std::string> good = good_inputs();
  for (int reader = 0; reader < fuzz::route_readers; ++reader) {
    ASSERT_TRUE(fuzz::route_input(reader, good[static_cast<std::size_t>(reader)])) << reader;
    for (int round = 0; round < 3000; ++round) {
      // Now and then the file of another reader.
      std::string text =
          good[random.below(16) == 0 ? static_cast<std::size_t>(random.below(good.size()))
                                     : static_cast<std::size_t>(reader)];
      damage(text, random);
      ASSERT_TRUE(fuzz::route_input(reader, text))
          << "seed " << seed << ", reader " << reader << ", round " << round << ":\n"
          << text;
    }
  }
  limit->parse(limit->default_text());
}

TEST(readers, a_network_beyond_the_limit_says_what_it_needs) {
  setting_base* limit = settings::find("SINEW_ROUTE_MEMORY");
  limit->parse("1M");
  // The last two would take gigabytes before anybody counts their links.
  for (const char* shape :
       {"32x32x32", "fattree:1;1000000;268;1", "dragonfly:100,1;100,1;1000,1;1"}) {
    try {
      (void)parse_topology(shape);
      ADD_FAILURE() << shape << " in a megabyte";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("too large"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("SINEW_ROUTE_MEMORY"), std::string::npos) << e.what();
    }
  }
  limit->parse(limit->default_text());
}

}  // namespace
}  // namespace sinew::route
