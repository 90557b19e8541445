// Indexed and Tensor::operator[].
#include <utility>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/parsed_index.h>

namespace tend {

Index::Index(const Tensor& tensor) : kind_(Kind::tensor), tensor_(tensor.impl()) {
  tensor.array();  // AutogradError when undefined
}

Indexed::Indexed(Tensor elements, std::unique_ptr<ParsedIndex> places) noexcept
    : Tensor(std::move(elements)), places_(std::move(places)) {}
Indexed::Indexed(Indexed&&) noexcept = default;
Indexed::~Indexed() = default;

namespace {

Indexed read(const Tensor& self, std::span<const Index> indices) {
  ParsedIndex found = parse_index("index", self, indices);
  if (found.is_view()) return Indexed(std::move(found.view), nullptr);
  Tensor elements = take_places("IndexBackward0", found.view, found.places);
  return with_memory([&] {
    return Indexed(std::move(elements), std::make_unique<ParsedIndex>(std::move(found)));
  });
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
  if (!places_) {
    copy_(fitting);
  } else {
    write_back(fitting);
  }
}

void Indexed::operator=(const Scalar& value) && {
  if (!places_) {
    fill_(value);
  } else {
    write_back(number_for("index_put_", *this, value));
  }
}

void Indexed::write_back(const Tensor& value) const {
  if (!places_) return;  // a view was written to by itself
  write_places("index_put_", "IndexPutBackward0", places_->view, places_->places, value, false);
}

}  // namespace tend
