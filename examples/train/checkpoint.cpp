#include "checkpoint.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "settings_json.h"

namespace train {

using tend::Array;
using tend::Tensor;
using tend::nn::Safetensors;
using tend::nn::StateDict;

namespace {

constexpr const char* kFormat = "tend train 1";
constexpr std::string_view kPrefix = "training.";
constexpr std::string_view kOptimizer = "training.optimizer.";

Tensor vector_tensor(const std::vector<double>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return Tensor(Array::from<double>(values, {size}));
}

Tensor generator_tensor() {
  const std::vector<std::uint8_t> bytes = tend::get_rng_state().to_bytes();
  std::vector<std::int64_t> words(bytes.size() / sizeof(std::int64_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return Tensor(Array::from<std::int64_t>(words, {static_cast<std::int64_t>(words.size())}));
}

void restore_generator(const Tensor& state) {
  const std::vector<std::int64_t> words = state.to_vector<std::int64_t>();
  std::vector<std::uint8_t> bytes(words.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  tend::set_rng_state(tend::Generator::from_bytes(bytes));
}

/// Three numbers a validation.
std::vector<double> flattened(const std::vector<Validation>& validations) {
  std::vector<double> numbers;
  for (const Validation& v : validations) {
    numbers.insert(numbers.end(), {static_cast<double>(v.step), v.loss, v.exact_match});
  }
  return numbers;
}

std::vector<Validation> unflattened(const std::vector<double>& numbers) {
  std::vector<Validation> validations;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    validations.push_back({static_cast<std::uint64_t>(numbers[i]), numbers[i + 1], numbers[i + 2]});
  }
  return validations;
}

Safetensors read(const std::string& path) {
  Safetensors file = tend::nn::load_safetensors(path);
  const auto format = file.metadata.find("format");
  if (format == file.metadata.end() || format->second != kFormat) {
    throw std::runtime_error(path + " was not written by train");
  }
  return file;
}

const Tensor& find(const StateDict& tensors, const std::string& name, tend::DType dtype) {
  for (const auto& [key, value] : tensors) {
    if (key == name && value.dtype() == dtype) return value;
  }
  throw std::runtime_error("the checkpoint has no " + name);
}

std::string fingerprint(const Task& task) {
  return std::to_string(task.fingerprint);
}

}  // namespace

void save_checkpoint(Training& training, const std::string& path) {
  StateDict tensors = training.model.state_dict();
  for (auto& [key, value] : training.optimizer.state_dict()) {
    tensors.emplace_back(std::string(kOptimizer) + key, value);
  }
  const History& history = training.history;
  tensors.emplace_back("training.generator", generator_tensor());
  tensors.emplace_back("training.losses", vector_tensor(history.losses));
  tensors.emplace_back("training.validations", vector_tensor(flattened(history.validations)));
  tensors.emplace_back("training.seconds",
                       vector_tensor({history.seconds, history.training_seconds}));
  tend::nn::save_safetensors(path, tensors,
                             {{"format", kFormat},
                              {"settings", settings_to_json(training.settings)},
                              {"text", fingerprint(training.task)}});
}

Settings checkpoint_settings(const std::string& path) {
  const Safetensors file = read(path);
  const auto settings = file.metadata.find("settings");
  if (settings == file.metadata.end()) throw std::runtime_error(path + " has no settings");
  return settings_from_json(settings->second);
}

void load_checkpoint(Training& training, const std::string& path) {
  const Safetensors file = read(path);
  const auto text = file.metadata.find("text");
  if (text == file.metadata.end() || text->second != fingerprint(training.task)) {
    throw std::runtime_error(path + " was trained on another text");
  }
  StateDict weights;
  StateDict optimizer;
  for (const auto& [key, value] : file.tensors) {
    if (key.starts_with(kOptimizer)) {
      optimizer.emplace_back(key.substr(kOptimizer.size()), value);
    } else if (!key.starts_with(kPrefix)) {
      weights.emplace_back(key, value);
    }
  }
  const auto numbers = [&file](const char* name) {
    return find(file.tensors, name, tend::float64).to_vector<double>();
  };
  const std::vector<double> seconds = numbers("training.seconds");
  if (seconds.size() != 2) throw std::runtime_error("training.seconds must be two numbers");
  training.model.load_state_dict(weights);
  training.optimizer.load_state_dict(optimizer);
  training.history = {seconds[0], seconds[1], numbers("training.losses"),
                      unflattened(numbers("training.validations"))};
  restore_generator(find(file.tensors, "training.generator", tend::int64));
}

}  // namespace train
