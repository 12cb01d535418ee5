// SPDX-License-Identifier: BSD-3-Clause
// The plugin's one exported object.
#include "fabric/plugin.hpp"

#include "fabric/ucx/endpoint.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/check.hpp"

namespace sinew::fabric::ucx {
namespace {

class ucx_network final : public network {
 public:
  explicit ucx_network(const network_options& options)
      : worker_(std::make_shared<worker>(options)),
        ranks_(options.ranks),
        threads_(options.threads),
        survives_(options.survives),
        batches_(options.batches),
        on_loss_(options.on_loss) {}

  [[nodiscard]] const std::string& address() const noexcept override { return worker_->address(); }
  [[nodiscard]] std::string version() const override {
    return std::string("UCX ") + ucp_get_version_string();
  }
  [[nodiscard]] pairing tags() const noexcept override { return worker_->tags(); }
  [[nodiscard]] std::unique_ptr<network_endpoint> connect(job_rank rank, address_source addresses,
                                                          rank_names names) override {
    SINEW_EXPECT(addresses != nullptr && rank.below(ranks_));
    SINEW_EXPECT((names.number_of == nullptr) == (names.lost == nullptr));
    return std::make_unique<ucx_endpoint>(
        worker_, ucx_endpoint::seat{rank, ranks_, threads_, survives_, batches_},
        std::move(addresses), on_loss_, std::move(names));
  }

 private:
  std::shared_ptr<worker> worker_;
  int ranks_;
  bool threads_;
  bool survives_;
  bool batches_;
  loss_listener on_loss_;
};

std::shared_ptr<network> open(const network_options& options) {
  return std::make_shared<ucx_network>(options);
}

}  // namespace
}  // namespace sinew::fabric::ucx

extern "C" [[gnu::visibility("default")]] const sinew::fabric::network_plugin sinew_network_plugin;
const sinew::fabric::network_plugin sinew_network_plugin = {sinew::build_id,
                                                            sinew::fabric::ucx::open};
