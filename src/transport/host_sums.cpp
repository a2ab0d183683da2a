#include "transport/host_sums.h"

namespace pipedream::transport {
namespace {

// Small enough for two of them to stay in a core's cache.
constexpr std::size_t kInCache = std::size_t{1} << 16;

}  // namespace

HostSums::HostSums(Exchanger& exchanger, const PeerMemory& memory,
                   std::span<const WorkerId> members, std::span<float> values,
                   std::shared_ptr<const void> owner)
    : exchanger_(exchanger),
      memory_(memory),
      members_(members),
      values_(values),
      owner_(std::move(owner)),
      me_(place_in(members, exchanger.me())) {}

void HostSums::scatter_sums() {
  exchanger_.tell_begun(members_, memory_.offer(values_, owner_));
  offers_ = exchanger_.wait_for_begun(members_);
  const std::span<float> all = own();
  sums_.resize(std::min(all.size(), kInCache));
  read_.resize(sums_.size());
  for (std::size_t at = 0; at < all.size(); at += kInCache)
    sum(all.subspan(at, std::min(kInCache, all.size() - at)));
}

// The sum of chunk c begins with member c, and this member, which sums it, comes last.
void HostSums::sum(std::span<float> piece) {
  const std::size_t first = place_of(piece);
  const std::span<float> sums = std::span(sums_).first(piece.size());
  const std::span<float> other = std::span(read_).first(piece.size());
  const std::size_t r = members_.size();
  const std::span<const float> begin = read((me_ + 1) % r, first, sums);
  if (begin.data() != sums.data()) std::copy(begin.begin(), begin.end(), sums.begin());
  for (std::size_t step = 2; step < r; ++step) {
    const std::span<const float> values = read((me_ + step) % r, first, other);
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
  }
  std::transform(sums.begin(), sums.end(), piece.begin(), piece.begin(), std::plus<>());
}

void HostSums::gather_sums() {
  tell_others();  // own() is complete
  const std::size_t r = members_.size();
  for (std::size_t step = 1; step < r; ++step) {
    const std::size_t member = (me_ + step) % r;
    hear(member);
    const std::span<float> into = chunk_of(member);
    const std::span<const float> sums = read(member, place_of(into), into);
    if (sums.data() != into.data()) std::copy(sums.begin(), sums.end(), into.begin());
  }
  tell_others();  // their chunks are copied
  for (std::size_t step = 1; step < r; ++step) hear((me_ + step) % r);
}

std::span<const float> HostSums::read(std::size_t member, std::size_t first,
                                      std::span<float> into) {
  exchanger_.count_sent(Bytes{static_cast<std::int64_t>(into.size_bytes())});
  return memory_.read(members_[member], offers_[member], first, into);
}

void HostSums::tell_others() {
  for (const WorkerId member : members_)
    if (member != exchanger_.me()) exchanger_.send(member, {});
}

}  // namespace pipedream::transport
