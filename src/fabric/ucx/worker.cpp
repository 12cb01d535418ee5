// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/worker.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sinew/base/check.hpp"

namespace sinew::fabric::ucx {
namespace {

void must(ucs_status_t answer, const char* what) {
  SINEW_CHECK(answer == UCS_OK, std::string("cannot open the network: ") + what,
              ucs_status_string(answer),
              answer == UCS_ERR_BUSY && std::getenv("UCX_TCP_PORT_RANGE") != nullptr
                  ? "each rank needs a port of its own for each interface: give SINEW_NET_PORTS "
                    "(or UCX_TCP_PORT_RANGE) a longer range"
                  : "`ucx_info -d` lists the transports that UCX finds; SINEW_NET_INTERFACES and "
                    "SINEW_NET_TRANSPORTS choose among them");
}

}  // namespace

worker::worker(const network_options& options) {
  SINEW_EXPECT(options.ranks >= 1);
  try {
    open_context(options);
    open_worker();
    read_address(leaves_out_shared_memory(options));
    if (options.tags != pairing::none) {
      const bool adapter = adapter_pairs();
      tags_ = adapter                               ? pairing::by_adapter
              : options.tags == pairing::by_library ? pairing::by_library
                                                    : pairing::none;
    }
  } catch (...) {
    close();
    throw;
  }
  SINEW_ENSURE(!address_.empty() && events_ >= 0);
}

worker::~worker() { close(); }

void worker::close() noexcept {
  if (worker_ != nullptr) {
    ucp_worker_destroy(worker_);
  }
  if (context_ != nullptr) {
    ucp_cleanup(context_);
  }
}

/// Whether UCX's own shared memory is of no use: between nodes, unless somebody asks for it.
bool worker::leaves_out_shared_memory(const network_options& options) {
  return options.between_nodes_only && options.transports.empty() &&
         std::getenv("UCX_TLS") == nullptr;
}

void worker::open_context(const network_options& options) {
  ucp_config_t* config = nullptr;
  must(ucp_config_read(nullptr, nullptr, &config), "its configuration cannot be read");
  if (!options.devices.empty()) {
    (void)ucp_config_modify(config, "NET_DEVICES", options.devices.c_str());
  }
  if (!options.transports.empty()) {
    must(ucp_config_modify(config, "TLS", options.transports.c_str()),
         "SINEW_NET_TRANSPORTS cannot be read");
  } else if (leaves_out_shared_memory(options)) {
    // They would never be used, and each takes 4 MiB and some milliseconds. A UCX that knows them
    // by other names keeps them.
    (void)ucp_config_modify(config, "TLS", "^sm,self");
  }
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  // Few features: each makes UCX choose more lanes for a peer.
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  if (options.tags != pairing::none) {
    params.features |= UCP_FEATURE_TAG;
  }
  params.estimated_num_eps = static_cast<std::size_t>(options.ranks);
  params.mt_workers_shared = 0;
  params.name = "sinew";
  const ucs_status_t answer = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  must(answer, "UCX does not start");
}

void worker::open_worker() {
  SINEW_EXPECT(context_ != nullptr);
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  must(ucp_worker_create(context_, &params, &worker_), "UCX makes no worker");
  ucp_worker_attr_t got{};
  got.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
  must(ucp_worker_query(worker_, &got), "UCX does not tell its thread mode");
  SINEW_CHECK(got.thread_mode != UCS_THREAD_MODE_SINGLE,
              "cannot open the network: UCX serves one thread only",
              "it was built without support for threads", "use a UCX built with --enable-mt");
  must(ucp_worker_get_efd(worker_, &events_), "no transport can wake a sleeper");
}

void worker::read_address(bool net_only) {
  ucp_worker_attr_t got{};
  got.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS;
  if (net_only) {
    got.field_mask |= UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
    got.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  }
  must(ucp_worker_query(worker_, &got), "UCX tells no address");
  address_.assign(reinterpret_cast<const char*>(got.address), got.address_length);
  ucp_worker_release_address(worker_, got.address);
}

// UCX tells it of an endpoint only: of one to ourselves. It is there where the environment asks for
// it, by UCX_RC_MLX5_TM_ENABLE=y and the like, and the adapter can.
bool worker::adapter_pairs() {
  SINEW_EXPECT(!address_.empty());
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address_.data());
  ucp_ep_h self = nullptr;
  if (ucp_ep_create(worker_, &params, &self) != UCS_OK) {
    return false;
  }
  const bool reported = info_of(self).find("tag_offload") != std::string::npos;
  close_endpoint(*this, self, {});
  return reported;
}

std::string info_of(ucp_ep_h way) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const out = open_memstream(&text, &bytes);
  SINEW_CHECK(out != nullptr, "cannot ask UCX for its transports", std::strerror(errno), "");
  ucp_ep_print_info(way, out);
  std::fclose(out);
  std::string told(text, bytes);
  std::free(text);
  return told;
}

void close_endpoint(worker& of, ucp_ep_h way, ucp_ep_close_flags_t how) noexcept {
  SINEW_EXPECT(way != nullptr);
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = how;
  void* const closing = ucp_ep_close_nbx(way, &params);
  for (int i = 0;
       i < 1000 && UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS;
       ++i) {
    (void)of.progress();
  }
  if (UCS_PTR_IS_PTR(closing)) {
    ucp_request_free(closing);
  }
}

void worker::set_receiver(ucp_am_recv_callback_t call, void* context) {
  SINEW_EXPECT(call != nullptr);
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = message_id;
  params.flags = UCP_AM_FLAG_WHOLE_MSG;
  params.cb = call;
  params.arg = context;
  must(ucp_worker_set_am_recv_handler(worker_, &params), "UCX takes no handler");
}

bool worker::arm() noexcept {
  const ucs_status_t answer = ucp_worker_arm(worker_);
  SINEW_ASSERT(answer == UCS_OK || answer == UCS_ERR_BUSY);
  return answer == UCS_OK;
}

}  // namespace sinew::fabric::ucx
