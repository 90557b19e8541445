// The options of optimizers as entries of a state_dict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tend/autograd/tensor/tensor.h>

namespace tend::optim::detail {

/// "group.0.lr".
std::string option_key(std::size_t group, const char* name);
/// Whether a key is one of option_key().
bool is_option(std::string_view key);

/// A float64 number, two of them, an int64 one, none or one of these, or a bool.
Tensor option_tensor(double setting);
Tensor option_tensor(std::int64_t setting);
Tensor option_tensor(const std::optional<std::int64_t>& setting);
Tensor option_tensor(const std::pair<double, double>& setting);
Tensor option_tensor(Flag setting);

/// Sets an option to what option_tensor() gave. Error naming `key` for a tensor of another kind.
void set_option(double& setting, const std::string& key, const Tensor& tensor);
void set_option(std::int64_t& setting, const std::string& key, const Tensor& tensor);
void set_option(std::optional<std::int64_t>& setting, const std::string& key, const Tensor& tensor);
void set_option(std::pair<double, double>& setting, const std::string& key, const Tensor& tensor);
void set_option(Flag& setting, const std::string& key, const Tensor& tensor);

}  // namespace tend::optim::detail
