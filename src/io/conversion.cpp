// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/io/conversion.hpp"

#include <cstring>
#include <vector>

#include "sinew/base/check.hpp"
#include "sinew/layout/external32.hpp"

namespace sinew::io {
namespace {

class packed_conversion final : public conversion {
 public:
  void to_file(const p2p::buffer& from, std::span<std::byte> file) const override {
    (void)layout::pack(*from.type, from.count, from.base, 0, file);
  }
  [[nodiscard]] std::int64_t from_file(std::span<std::byte> file,
                                       const p2p::buffer& to) const override {
    return static_cast<std::int64_t>(layout::unpack(*to.type, to.count, to.base, 0, file));
  }
};

class external32_conversion final : public conversion {
 public:
  void to_file(const p2p::buffer& from, std::span<std::byte> file) const override {
    std::vector<std::byte> packed_data(from.bytes());
    (void)layout::pack(*from.type, from.count, from.base, 0, packed_data);
    layout::to_external(*from.type, from.count, packed_data.data(), file.data());
  }

  [[nodiscard]] std::int64_t from_file(std::span<std::byte> file,
                                       const p2p::buffer& to) const override {
    if (file.empty()) {
      return 0;
    }
    const layout::datatype& t = *to.type;
    const std::size_t each = layout::external_size(t).value_or(0);
    SINEW_ASSERT(each != 0);
    const std::size_t whole = file.size() / each;
    const std::size_t rest = file.size() % each;
    std::vector<std::byte> packed_data((whole + (rest != 0 ? 1 : 0)) * t.size());
    layout::from_external(t, whole, file.data(), packed_data.data());
    std::size_t good = whole * t.size();
    if (rest != 0) {  // the file ends inside an instance
      std::vector<std::byte> last(each);
      std::memcpy(last.data(), file.data() + whole * each, rest);
      layout::from_external(t, 1, last.data(), packed_data.data() + good);
      good += layout::native_bytes_in(t, rest);
    }
    SINEW_ASSERT(good <= packed_data.size());
    (void)layout::unpack(t, to.count, to.base, 0, {packed_data.data(), good});
    return static_cast<std::int64_t>(good);
  }
};

}  // namespace

const conversion& external32() {
  static const auto& it = *new external32_conversion;
  return it;
}

const conversion& packed() {
  static const auto& it = *new packed_conversion;
  return it;
}

}  // namespace sinew::io
