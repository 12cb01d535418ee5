// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/core/job.hpp"

#include <string>
#include <vector>

#include "core/runtime_impl.hpp"
#include "sinew/base/build_id.hpp"
#include "sinew/base/log.hpp"
#include "sinew/base/process_object.hpp"
#include "sinew/base/settings.hpp"
#include "sinew/boot/crash_report.hpp"
#include "sinew/boot/exit_report.hpp"

namespace sinew::core {
namespace {

constexpr const char* name = "core::runtime";

/// By this library's copy of the code. Written once, under the table's lock.
bool opened_here = false;

void* open(void* wanted) {
  opened_here = true;
  auto opened = runtime::open(boot::connect(), *static_cast<threading*>(wanted));
  set_log_identity(opened->rank(), opened->session().where().known_size());
  boot::install_crash_report(opened->session().where());
  boot::install_exit_report(opened->session());
  return opened.release();
}

}  // namespace

runtime& join_job(threading wanted) {
  // By every binding: each has settings of its own.
  const std::vector<std::string> complaints = settings::load_environment();
  try {
    auto& joined = *static_cast<runtime*>(process_object::join(name, build_id, open, &wanted));
    for (const std::string& complaint : complaints) {
      joined.session().remark(complaint);
    }
    return joined;
  } catch (...) {
    for (const std::string& complaint : complaints) {  // they may be why
      log_line(log_level::warn, complaint);
    }
    throw;
  }
}

void settle_job(runtime& joined) {
  if (!opened_here) {
    joined.session().fence();
  }
}

void leave_job() {
  if (void* last = process_object::leave(name)) {
    static_cast<runtime*>(last)->leave();
  }
}

}  // namespace sinew::core
