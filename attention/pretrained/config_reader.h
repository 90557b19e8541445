// What the readers of config.json share. Internal.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <tend/attention/pretrained/json_values.h>
#include <tend/autograd/ops/activation.h>
#include <tend/core/base/error.h>

namespace tend::attention {

template <class... Parts>
[[noreturn]] void refuse_config(const char* model, const Parts&... parts) {
  fail<IoError>(model, "config.json: ", parts...);
}

/// The text's model_type; IoError unless it is one of `types`.
std::string checked_type(const char* model, const JsonValues& json,
                         std::initializer_list<std::string_view> types);

/// The GELU of that name; IoError for other activations.
GeluKind gelu_kind(const char* model, std::string_view activation);

}  // namespace tend::attention
