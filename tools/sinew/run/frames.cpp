// SPDX-License-Identifier: BSD-3-Clause
#include "sinew/run/frames.hpp"

#include <cstring>

#include "sinew/base/check.hpp"

namespace sinew::tool {
namespace {

struct frame_head {
  std::uint32_t bytes;
  std::int32_t rank;
  std::uint32_t kind;
};

// What has been given away is cut off when there is more of it than this.
constexpr std::size_t cut_at = 1 << 20;

}  // namespace

bool is_of_daemon(frame_kind kind) noexcept { return kind >= frame_kind::ready; }

bool is_of_rank(frame_kind kind) noexcept {
  switch (kind) {
    case frame_kind::started:
    case frame_kind::not_started:
    case frame_kind::said:
    case frame_kind::output:
    case frame_kind::error_output:
    case frame_kind::input_taken:
    case frame_kind::input_closed:
    case frame_kind::other_mpi:
    case frame_kind::stands:
    case frame_kind::idle:
      return true;
    default:
      return false;
  }
}

std::string frame_bytes(frame_kind kind, int rank, std::string_view bytes) {
  SINEW_EXPECT(bytes.size() <= frame_limit);
  const frame_head head{static_cast<std::uint32_t>(bytes.size()), rank,
                        static_cast<std::uint32_t>(kind)};
  std::string result(sizeof head, '\0');
  std::memcpy(result.data(), &head, sizeof head);
  return result.append(bytes);
}

void frame_buffer::append(std::string_view bytes) {
  if (taken_ == pending_.size() || taken_ > cut_at) {
    pending_.erase(0, taken_);
    taken_ = 0;
  }
  pending_.append(bytes);
}

std::optional<frame> frame_buffer::next() {
  SINEW_EXPECT(taken_ <= pending_.size());
  frame_head head{};
  if (broken_ || pending_.size() - taken_ < sizeof head) {
    return std::nullopt;
  }
  std::memcpy(&head, pending_.data() + taken_, sizeof head);
  if (head.bytes > frame_limit || head.rank < 0 ||
      head.kind > static_cast<std::uint32_t>(last_frame_kind)) {
    broken_ = true;
    return std::nullopt;
  }
  if (pending_.size() - taken_ - sizeof head < head.bytes) {
    return std::nullopt;
  }
  frame result{static_cast<frame_kind>(head.kind), head.rank,
               pending_.substr(taken_ + sizeof head, head.bytes)};
  taken_ += sizeof head + head.bytes;
  SINEW_ENSURE(taken_ <= pending_.size());
  return result;
}

packer& packer::number(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

packer& packer::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

packer& packer::texts(const std::vector<std::string>& values) {
  number(static_cast<std::int64_t>(values.size()));
  for (const std::string& each : values) {
    text(each);
  }
  return *this;
}

packer& packer::numbers(const std::vector<int>& values) {
  number(static_cast<std::int64_t>(values.size()));
  for (const int each : values) {
    number(each);
  }
  return *this;
}

std::int64_t unpacker::number() {
  std::int64_t value = 0;
  good_ = good_ && rest_.size() >= sizeof value;
  if (good_) {
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  return value;
}

std::size_t unpacker::count(std::size_t bytes_each) {
  const std::int64_t value = number();
  good_ = good_ && value >= 0 && static_cast<std::size_t>(value) <= rest_.size() / bytes_each;
  return good_ ? static_cast<std::size_t>(value) : 0;
}

std::string unpacker::text() {
  const std::size_t size = count(1);  // which takes the number itself off
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

std::vector<std::string> unpacker::texts() {
  std::vector<std::string> values(count(sizeof(std::int64_t)));
  for (std::string& each : values) {
    each = text();
  }
  return values;
}

std::vector<int> unpacker::numbers() {
  std::vector<int> values(count(sizeof(std::int64_t)));
  for (int& each : values) {
    each = static_cast<int>(number());
  }
  return values;
}

std::string pack(const cast_vote& vote) {
  packer to;
  to.number(vote.ballot.slot).number(vote.ballot.key).number(vote.ballot.turn);
  to.number(vote.flag).number(vote.deaths).number(vote.left ? 1 : 0);
  return to.bytes();
}

std::optional<cast_vote> unpack_vote(std::string_view bytes) {
  unpacker from(bytes);
  const std::int64_t slot = from.number();
  const std::int64_t key = from.number();
  const std::int64_t turn = from.number();
  const std::int64_t flag = from.number();
  const std::int64_t deaths = from.number();
  const bool left = from.number() != 0;
  const auto fits = [](std::int64_t value, std::int64_t least, std::int64_t most) {
    return value >= least && value <= most;
  };
  if (!from.whole() || !fits(slot, 0, boot::survival::slots - 1) || !fits(key, 0, UINT16_MAX) ||
      !fits(turn, 1, UINT16_MAX) || !fits(flag, 0, UINT32_MAX) || !fits(deaths, 0, INT32_MAX)) {
    return std::nullopt;
  }
  return cast_vote{{static_cast<std::uint32_t>(slot), static_cast<std::uint16_t>(key),
                    static_cast<std::uint16_t>(turn)},
                   static_cast<std::uint32_t>(flag),
                   static_cast<std::uint32_t>(deaths),
                   left};
}

}  // namespace sinew::tool
