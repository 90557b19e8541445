#include <tend/nn/data/collate.h>

#include <algorithm>

namespace tend::data {
namespace {

constexpr const char* kPad = "pad_sequence";

void check_sequences(const std::vector<Tensor>& sequences) {
  if (sequences.empty()) fail<ShapeError>(kPad, "there are no sequences");
  const Tensor& first = sequences.front();
  for (const Tensor& sequence : sequences) {
    if (sequence.dim() == 0) fail<ShapeError>(kPad, "a tensor of shape () is not a sequence");
    if (sequence.dtype() != first.dtype())
      fail<DTypeError>(kPad, "the dtypes differ: ", first.dtype(), " and ", sequence.dtype());
    const Shape &a = first.shape(), &b = sequence.shape();
    if (!std::equal(a.begin() + 1, a.end(), b.begin() + 1, b.end()))
      fail<ShapeError>(kPad, "the shapes ", a, " and ", b, " differ after the first dimension");
  }
}

}  // namespace

void detail::check_sizes(std::size_t first, std::size_t other) {
  if (first != other)
    fail<ShapeError>("default_collate", "the vectors of a batch must have the same size, got ",
                     first, " and ", other, "; PadCollate pads shorter vectors");
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, Flag batch_first,
                    const Scalar& padding_value, OrWord<PaddingSide> side) {
  check_sequences(sequences);
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.size(0));
  std::vector<Tensor> rows;
  for (const Tensor& sequence : sequences) {
    Shape rest = sequence.shape();
    rest[0] = longest - sequence.size(0);
    if (rest[0] == 0) {
      rows.push_back(sequence);
      continue;
    }
    const Tensor padding = full(rest, padding_value, sequence.dtype());
    rows.push_back(side == PaddingSide::right ? cat({sequence, padding}, 0)
                                              : cat({padding, sequence}, 0));
  }
  return stack(rows, batch_first ? 0 : 1);
}

Padded PadCollate::operator()(const std::vector<Tensor>& sequences) const {
  Tensor values = pad_sequence(sequences, true, padding_value, side);
  Tensor lengths = empty({values.size(0)}, DType::int64);
  auto* next = lengths.data_ptr<std::int64_t>();
  for (const Tensor& sequence : sequences) *next++ = sequence.size(0);
  return {std::move(values), std::move(lengths)};
}

}  // namespace tend::data
