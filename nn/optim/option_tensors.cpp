#include <tend/nn/optim/option_tensors.h>

#include <vector>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>

namespace tend::optim {
namespace {

constexpr const char* kGroup = "group.";

void check_kind(const std::string& key, const Tensor& tensor, const Shape& shape, DType dtype) {
  if (tensor.shape() == shape && tensor.dtype() == dtype) return;
  fail("load_state_dict", key, " is ", tensor.shape(), ' ', tensor.dtype(), ", not ", shape, ' ',
       dtype);
}

}  // namespace

std::string detail::option_key(std::size_t group, const char* name) {
  return as_text(kGroup, group, '.', name);
}

bool detail::is_option(std::string_view key) {
  return key.starts_with(kGroup);
}

Tensor detail::option_tensor(double setting) {
  return Tensor(Array::scalar(setting, float64));
}
Tensor detail::option_tensor(std::int64_t setting) {
  return Tensor(Array::scalar(setting, int64));
}
Tensor detail::option_tensor(const std::optional<std::int64_t>& setting) {
  return setting ? option_tensor(*setting).view({1}) : empty({0}, int64);
}
Tensor detail::option_tensor(const std::pair<double, double>& setting) {
  const std::vector<double> numbers{setting.first, setting.second};
  return Tensor(Array::from<double>(numbers, {2}));
}
Tensor detail::option_tensor(Flag setting) {
  return Tensor(Array::scalar(static_cast<bool>(setting), boolean));
}

void detail::set_option(double& setting, const std::string& key, const Tensor& tensor) {
  check_kind(key, tensor, {}, float64);
  setting = tensor.item<double>();
}
void detail::set_option(std::int64_t& setting, const std::string& key, const Tensor& tensor) {
  check_kind(key, tensor, {}, int64);
  setting = tensor.item<std::int64_t>();
}
void detail::set_option(std::optional<std::int64_t>& setting, const std::string& key,
                        const Tensor& tensor) {
  const bool is_given = tensor.numel() > 0;
  check_kind(key, tensor, {is_given ? 1 : 0}, int64);
  setting = is_given ? std::optional(tensor.item<std::int64_t>()) : std::nullopt;
}
void detail::set_option(std::pair<double, double>& setting, const std::string& key,
                        const Tensor& tensor) {
  check_kind(key, tensor, {2}, float64);
  const std::vector<double> numbers = tensor.to_vector<double>();
  setting = {numbers[0], numbers[1]};
}
void detail::set_option(Flag& setting, const std::string& key, const Tensor& tensor) {
  check_kind(key, tensor, {}, boolean);
  setting = tensor.item<bool>();
}

}  // namespace tend::optim
