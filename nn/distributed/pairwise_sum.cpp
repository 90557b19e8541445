#include <tend/nn/distributed/pairwise_sum.h>

#include <bit>
#include <utility>

#include <tend/core/kernels/elementwise/arithmetic.h>

namespace tend::distributed {

PairwiseSum::PairwiseSum(const Communicator& communicator, int tag, Array values)
    : communicator_(&communicator), tag_(tag), values_(std::move(values)) {
  levels_ = std::countr_zero(static_cast<unsigned>(communicator.size()));
  ranges_.push_back({0, values_.numel()});
  received_ = Array::empty({(values_.numel() + 1) / 2}, values_.dtype());
  if (levels_ > 0) begin_adding();
}

bool PairwiseSum::advance() {
  while (exchange_ && exchange_->is_done()) go_on();
  return is_done();
}

void PairwiseSum::wait() {
  while (exchange_) {
    exchange_->wait();
    go_on();
  }
}

std::span<std::byte> PairwiseSum::bytes(const Array& array, Range range) const {
  const auto size = static_cast<std::size_t>(item_size(array.dtype()));
  const auto begin = static_cast<std::size_t>(range.begin) * size;
  const auto end = static_cast<std::size_t>(range.end) * size;
  return {static_cast<std::byte*>(array.raw()) + begin, end - begin};
}

int PairwiseSum::partner(int level) const {
  return communicator_->rank() ^ (1 << level);
}

PairwiseSum::Range PairwiseSum::half(Range range, bool is_own, int level) const {
  const std::int64_t middle = range.begin + (range.end - range.begin) / 2;
  const bool is_lower = communicator_->rank() < partner(level);
  return is_lower == is_own ? Range{range.begin, middle} : Range{middle, range.end};
}

void PairwiseSum::exchange(int level, Range out, const Array& into, Range in) {
  const auto sent = bytes(values_, out);
  bytes_sent_ += static_cast<std::int64_t>(sent.size());
  exchange_.emplace(*communicator_, partner(level), tag_, sent, bytes(into, in));
}

void PairwiseSum::begin_adding() {
  const int level = static_cast<int>(ranges_.size()) - 1;
  const Range own = half(ranges_.back(), true, level);
  exchange(level, half(ranges_.back(), false, level), received_, {0, own.end - own.begin});
}

void PairwiseSum::begin_collecting() {
  const int level = static_cast<int>(ranges_.size()) - 2;
  const Range whole = ranges_[ranges_.size() - 2];
  exchange(level, ranges_.back(), values_, half(whole, false, level));
}

void PairwiseSum::go_on() {
  exchange_.reset();
  if (adds_) {
    const int level = static_cast<int>(ranges_.size()) - 1;
    const Range own = half(ranges_.back(), true, level);
    const Array sum = values_.narrow(0, own.begin, own.end - own.begin);
    const Array other = received_.narrow(0, 0, own.end - own.begin);
    // If both summands are NaN, an addition returns the first one, so their order matters.
    if (communicator_->rank() < partner(level)) {
      kernels::add(sum, sum, other);
    } else {
      kernels::add(sum, other, sum);
    }
    ranges_.push_back(own);
    adds_ = level + 1 < levels_;
    if (adds_) return begin_adding();
  } else {
    ranges_.pop_back();
  }
  if (ranges_.size() > 1) begin_collecting();
}

}  // namespace tend::distributed
