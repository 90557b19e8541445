#include "examples/train/run/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
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

constexpr const char* kFormat = "tend train 4";
constexpr const char* kFormatWithoutChecks = "tend train 3";
constexpr const char* kFormatWithoutModel = "tend train 2";
constexpr const char* kFormatWithoutChecksum = "tend train 1";
constexpr const char* kChecksum = "checksum";
constexpr const char* kHeads = "training.heads";
constexpr const char* kChecks = "training.checks";
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

/// Two numbers a check.
std::vector<double> flattened(const std::vector<Check>& checks) {
  std::vector<double> numbers;
  for (const Check& c : checks) {
    numbers.insert(numbers.end(), {static_cast<double>(c.step), c.exact_match});
  }
  return numbers;
}

std::vector<Check> unflattened_checks(const std::vector<double>& numbers, std::size_t steps) {
  std::vector<Check> checks;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    if (numbers.size() % 2 != 0 || !(numbers[i] >= 1 && numbers[i] <= static_cast<double>(steps)))
      throw std::runtime_error("training.checks do not fit training.losses");
    checks.push_back({static_cast<std::uint64_t>(numbers[i]), numbers[i + 1]});
  }
  return checks;
}

/// For each time the step, then each head's shares and entropy.
std::vector<double> flattened(const std::vector<HeadsAtStep>& times) {
  std::vector<double> numbers;
  for (const HeadsAtStep& time : times) {
    numbers.push_back(static_cast<double>(time.step));
    for (const HeadScore& head : time.heads) {
      numbers.insert(numbers.end(), head.shares.begin(), head.shares.end());
      numbers.push_back(head.entropy);
    }
  }
  return numbers;
}

std::vector<HeadsAtStep> unflattened_heads(const std::vector<double>& numbers, std::size_t heads,
                                           std::size_t patterns) {
  const std::size_t size = 1 + heads * (patterns + 1);
  if (numbers.size() % size != 0)
    throw std::runtime_error("training.heads are not of this model and task");
  std::vector<HeadsAtStep> times;
  for (auto next = numbers.begin(); next != numbers.end();) {
    if (!(*next >= 1 && *next <= 1e9)) throw std::runtime_error("training.heads have no steps");
    HeadsAtStep& time = times.emplace_back();
    time.step = static_cast<std::uint64_t>(*next++);
    for (std::size_t head = 0; head < heads; ++head) {
      const auto end = next + static_cast<std::ptrdiff_t>(patterns);
      time.heads.push_back({{next, end}, *end});
      next = end + 1;
    }
  }
  return times;
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
    add_text(tend::as_text(dense.dtype(), dense.shape()));
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
  if (format != kFormat && format != kFormatWithoutChecks && format != kFormatWithoutModel &&
      format != kFormatWithoutChecksum) {
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

/// What the model reads and how large it is, as JSON. Tokens are written as their labels, for a
/// byte of a text need not be UTF-8.
std::string vocabulary_json(const Task& task) {
  return nlohmann::json(task.labels).dump();
}
std::string sizes_json(const Training& training) {
  const Options& s = training.options;
  const nlohmann::ordered_json sizes{{"vocabulary", training.task.labels.size()},
                                     {"context", training.task.context()},
                                     {"layers", s.layers},
                                     {"heads", s.heads},
                                     {"width", s.width},
                                     {"parameters", training.model.num_parameters()}};
  return sizes.dump();
}

History history_from(const StateDict& tensors, const Training& training) {
  const auto numbers = [&tensors](const char* name) {
    return find(tensors, name, tend::float64).to_vector<double>();
  };
  const std::vector<double> seconds = numbers("training.seconds");
  if (seconds.size() != 2) throw std::runtime_error("training.seconds must be two numbers");
  std::vector<double> losses = numbers("training.losses");
  std::vector<Validation> validations = unflattened(numbers("training.validations"), losses.size());
  std::vector<HeadsAtStep> heads;  // files of earlier formats have neither these nor checks
  if (tensors.contains(kHeads)) {
    heads = unflattened_heads(numbers(kHeads), training.options.layers * training.options.heads,
                              all_patterns(training.task).size());
  }
  std::vector<Check> checks;
  if (tensors.contains(kChecks)) checks = unflattened_checks(numbers(kChecks), losses.size());
  return {seconds[0],       seconds[1],       std::move(losses), std::move(validations),
          std::move(heads), std::move(checks)};
}

/// What a checkpoint says of a training, by name; the tensors are the training's own.
StateDict state_of(Training& training) {
  StateDict tensors = training.model.state_dict();
  for (auto& [key, value] : training.optimizer.state_dict()) {
    tensors.emplace_back(std::string(kOptimizer) + key, value);
  }
  const History& history = training.history;
  tensors.emplace_back("training.generator", generator_tensor());
  tensors.emplace_back("training.losses", vector_tensor(history.losses));
  tensors.emplace_back("training.validations", vector_tensor(flattened(history.validations)));
  tensors.emplace_back(kHeads, vector_tensor(flattened(history.heads)));
  tensors.emplace_back(kChecks, vector_tensor(flattened(history.checks)));
  tensors.emplace_back("training.seconds",
                       vector_tensor({history.seconds, history.training_seconds}));
  return tensors;
}

void load_state(Training& training, const StateDict& state) {
  StateDict weights;
  StateDict optimizer;
  for (const auto& [key, value] : state) {
    if (key.starts_with(kOptimizer)) {
      optimizer.emplace_back(key.substr(kOptimizer.size()), value);
    } else if (!key.starts_with(kPrefix)) {
      weights.emplace_back(key, value);
    }
  }
  const tend::Generator generator = generator_from(find(state, "training.generator", tend::int64));
  History history = history_from(state, training);
  training.model.load_state_dict(weights);
  training.optimizer.load_state_dict(optimizer);
  training.history = std::move(history);
  tend::set_rng_state(generator);
}

}  // namespace

Snapshot::Snapshot(Training& training) : state_(state_of(training)) {
  const tend::NoGradGuard no_grad;
  for (auto& [name, tensor] : state_) tensor = tensor.clone();
}

void Snapshot::restore(Training& training) const {
  load_state(training, state_);
}

void save_checkpoint(Training& training, const std::string& path) {
  const StateDict tensors = state_of(training);
  std::map<std::string, std::string> metadata{{"format", kFormat},
                                              {"settings", options_to_json(training.options)},
                                              {"vocabulary", vocabulary_json(training.task)},
                                              {"sizes", sizes_json(training)},
                                              {"text", fingerprint(training.task)}};
  metadata[kChecksum] = checksum(tensors, metadata);
  tend::nn::save_safetensors(path, tensors, metadata);
}

Checkpoint::Checkpoint(const std::string& path)
    : path_(path), file_(tend::nn::load_safetensors(path)) {
  check_whole(path, file_);
  const auto options = file_.metadata.find("settings");
  if (options == file_.metadata.end()) throw std::runtime_error(path + " has no settings");
  const bool has_most_steps = file_.metadata.at("format") == kFormat;
  options_ = options_from_json(options->second, has_most_steps);
}

Training Checkpoint::resume(const Options& options, Task task) const {
  const auto text = file_.metadata.find("text");
  if (text == file_.metadata.end() || text->second != fingerprint(task)) {
    throw std::runtime_error(path_ + " was trained on another text");
  }
  Training training(options, std::move(task));
  const auto check = [this](const char* key, const std::string& expected) {
    const auto found = file_.metadata.find(key);  // formats before this one have neither
    if (found != file_.metadata.end() && found->second != expected)
      throw std::runtime_error(path_ + " has another " + key + ": " + found->second + ", not " +
                               expected);
  };
  check("vocabulary", vocabulary_json(training.task));
  check("sizes", sizes_json(training));
  load_state(training, file_.tensors);
  training.options = options_;
  training.steps_before = training.steps_planned();
  training.options = options;
  return training;
}

}  // namespace train
