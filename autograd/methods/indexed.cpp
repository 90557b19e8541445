// Indexed and Tensor::operator[].
#include <utility>

#include <tend/autograd/ops/parsed_index.h>

namespace tend {

Index::Index(const Tensor& tensor) : kind_(Kind::tensor), tensor_(tensor.impl()) {
  tensor.array();  // AutogradError when undefined
}

Indexed::Indexed(Tensor elements, std::unique_ptr<ParsedIndex> arrays) noexcept
    : Tensor(std::move(elements)), parsed_(std::move(arrays)) {}
Indexed::Indexed(Indexed&&) noexcept = default;
Indexed::~Indexed() = default;

namespace {

Indexed read(const Tensor& self, std::span<const Index> indices) {
  ParsedIndex found = parse_index("index", self, indices);
  if (found.is_view()) return Indexed(std::move(found.view), nullptr);
  Tensor elements = take_indexed("IndexBackward0", found.view, found.arrays, "index");
  return Indexed(std::move(elements), std::make_unique<ParsedIndex>(std::move(found)));
}

}  // namespace

Indexed Tensor::operator[](const Index& index) const {
  return read(*this, {&index, 1});
}
Indexed Tensor::operator[](Indices indices) const {
  return read(*this, {indices.begin(), indices.size()});
}

void Indexed::operator=(const Tensor& value) && {
  const Tensor fitting = without_leading_ones(value, dim());
  if (!parsed_) {
    copy_(fitting);
  } else {
    write_back(fitting);
  }
}

void Indexed::operator=(const Scalar& value) && {
  if (!parsed_) {
    fill_(value);
  } else {
    write_back(number_for("index_put_", *this, value));
  }
}

void Indexed::write_back(const Tensor& value) const {
  if (!parsed_) return;  // writing to a view has changed the elements already
  write_parsed("index_put_", *parsed_, value, false);
}

}  // namespace tend
