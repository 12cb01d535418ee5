#include "contract/match_contract.hpp"
#include "sinew/base/error.hpp"

namespace sinew::match::contract {

INSTANTIATE_TEST_SUITE_P(engines, match_contract, ::testing::ValuesIn(engine_names()),
                         [](const auto& p) { return std::string(p.param); });

TEST(make_engine, refuses_an_unknown_name_and_lists_the_known) {
  try {
    (void)make_engine("tree");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("hash, list, bins64"), std::string::npos) << e.what();
  }
}

}  // namespace sinew::match::contract
