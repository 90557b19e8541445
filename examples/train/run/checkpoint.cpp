#include "examples/train/run/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "examples/train/run/options_json.h"
#include "examples/train/task/hash.h"

namespace train {

using tend::Array;
using tend::Tensor;
using tend::nn::Safetensors;
using tend::nn::StateDict;

namespace {

constexpr const char* kFormat = "tend train 2";
constexpr const char* kFormatWithoutChecksum = "tend train 1";
constexpr const char* kChecksum = "checksum";
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

tend::Generator generator_from(const Tensor& state) {
  const std::vector<std::int64_t> words = state.to_vector<std::int64_t>();
  std::vector<std::uint8_t> bytes(words.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return tend::Generator::from_bytes(bytes);
}

/// Three numbers a validation.
std::vector<double> flattened(const std::vector<Validation>& validations) {
  std::vector<double> numbers;
  for (const Validation& v : validations) {
    numbers.insert(numbers.end(), {static_cast<double>(v.step), v.loss, v.exact_match});
  }
  return numbers;
}

/// There is one after the first of `steps`, and none after a step that was not made.
std::vector<Validation> unflattened(const std::vector<double>& numbers, std::size_t steps) {
  const auto refuse = [] {
    throw std::runtime_error("training.validations do not fit training.losses");
  };
  if (numbers.size() % 3 != 0 || numbers.empty() != (steps == 0)) refuse();
  std::vector<Validation> validations;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    const double step = numbers[i];
    if (!(step >= 1 && step <= static_cast<double>(steps)) || step != std::floor(step)) refuse();
    validations.push_back({static_cast<std::uint64_t>(step), numbers[i + 1], numbers[i + 2]});
  }
  return validations;
}

/// Of the metadata but the checksum, and of each tensor's name, dtype, shape and elements.
std::string checksum(const StateDict& tensors, const std::map<std::string, std::string>& metadata) {
  Hash hash;
  const auto add_number = [&hash](std::uint64_t number) {
    hash.add({reinterpret_cast<const char*>(&number), sizeof number});
  };
  // Its length goes before a text, so that no two lists of texts are the same bytes.
  const auto add_text = [&](std::string_view text) {
    add_number(text.size());
    hash.add(text);
  };
  for (const auto& [key, value] : metadata) {
    if (key == kChecksum) continue;
    add_text(key);
    add_text(value);
  }
  for (const auto& [name, tensor] : tensors) {
    const Array dense = tensor.array().contiguous();
    add_text(name);
    add_text(tend::concat(dense.dtype(), dense.shape()));
    hash.add({static_cast<const char*>(dense.raw()),
              static_cast<std::size_t>(dense.numel() * tend::item_size(dense.dtype()))});
  }
  return std::to_string(hash.value());
}

void check_whole(const std::string& path, const Safetensors& file) {
  const auto text = [&file](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? "" : found->second;
  };
  const std::string format = text("format");
  if (format != kFormat && format != kFormatWithoutChecksum) {
    throw std::runtime_error(path + " was not written by train");
  }
  const std::string expected = text(kChecksum);
  if (format == kFormatWithoutChecksum && expected.empty()) return;
  if (expected != checksum(file.tensors, file.metadata)) {
    throw std::runtime_error(path + " is damaged: its checksum is not that of its content");
  }
}

const Tensor& find(const StateDict& tensors, const std::string& name, tend::DType dtype) {
  const auto found = tensors.find(name);
  if (found != tensors.end() && found->second.dtype() == dtype) return found->second;
  throw std::runtime_error("the checkpoint has no " + name);
}

std::string fingerprint(const Task& task) {
  return std::to_string(task.fingerprint);
}

History history_from(const StateDict& tensors) {
  const auto numbers = [&tensors](const char* name) {
    return find(tensors, name, tend::float64).to_vector<double>();
  };
  const std::vector<double> seconds = numbers("training.seconds");
  if (seconds.size() != 2) throw std::runtime_error("training.seconds must be two numbers");
  std::vector<double> losses = numbers("training.losses");
  std::vector<Validation> validations = unflattened(numbers("training.validations"), losses.size());
  return {seconds[0], seconds[1], std::move(losses), std::move(validations)};
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
  std::map<std::string, std::string> metadata{{"format", kFormat},
                                              {"settings", options_to_json(training.options)},
                                              {"text", fingerprint(training.task)}};
  metadata[kChecksum] = checksum(tensors, metadata);
  tend::nn::save_safetensors(path, tensors, metadata);
}

Checkpoint::Checkpoint(const std::string& path)
    : path_(path), file_(tend::nn::load_safetensors(path)) {
  check_whole(path, file_);
  const auto options = file_.metadata.find("settings");
  if (options == file_.metadata.end()) throw std::runtime_error(path + " has no settings");
  options_ = options_from_json(options->second);
}

Training Checkpoint::resume(const Options& options, Task task) const {
  const auto text = file_.metadata.find("text");
  if (text == file_.metadata.end() || text->second != fingerprint(task)) {
    throw std::runtime_error(path_ + " was trained on another text");
  }
  StateDict weights;
  StateDict optimizer;
  for (const auto& [key, value] : file_.tensors) {
    if (key.starts_with(kOptimizer)) {
      optimizer.emplace_back(key.substr(kOptimizer.size()), value);
    } else if (!key.starts_with(kPrefix)) {
      weights.emplace_back(key, value);
    }
  }
  const tend::Generator generator =
      generator_from(find(file_.tensors, "training.generator", tend::int64));
  History history = history_from(file_.tensors);
  Training training(options, std::move(task));
  training.model.load_state_dict(weights);
  training.optimizer.load_state_dict(optimizer);
  training.history = std::move(history);
  tend::set_rng_state(generator);
  return training;
}

}  // namespace train
