#include <tend/nn/training/run_state.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/fnv.h>
#include <tend/nn/module/generator_state.h>

namespace tend::nn {

namespace {

constexpr const char* kAdd = "RunState::add";
constexpr const char* kLoad = "RunState::load_state_dict";
constexpr std::string_view kPrefix = "training.";
constexpr const char* kGenerator = "training.generator";
constexpr const char* kChecksum = "checksum";

// Adds the length before the text, so that two different lists of texts never give the same bytes.
void add_text(Fnv1a& sum, std::string_view text) {
  const std::uint64_t size = text.size();
  sum.add(&size, sizeof size);
  sum.add(text);
}

// The checksum of the settings other than "checksum", and of each tensor's name, dtype, shape and
// elements. Tensors without elements come last, sorted by name, since a file does not
// preserve their order.
std::string checksum(const StateDict& tensors, const std::map<std::string, std::string>& settings) {
  Fnv1a sum;
  for (const auto& [key, value] : settings) {
    if (key == kChecksum) continue;
    add_text(sum, key);
    add_text(sum, value);
  }
  const auto add_tensor = [&](const std::string& name, const Tensor& tensor) {
    const Array dense = tensor.array().contiguous();
    add_text(sum, name);
    add_text(sum, as_text(dense.dtype(), dense.shape()));
    sum.add(dense.raw(), static_cast<std::size_t>(dense.numel() * item_size(dense.dtype())));
  };
  std::map<std::string, Tensor> empty;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.numel() == 0) {
      empty.emplace(name, tensor);
    } else {
      add_tensor(name, tensor);
    }
  }
  for (const auto& [name, tensor] : empty) add_tensor(name, tensor);
  return std::to_string(sum.value());
}

const Tensor& entry(const StateDict& state, const std::string& name, DType dtype,
                    std::int64_t rank) {
  const auto found = state.find(name);
  if (found == state.end()) fail(kLoad, "the state has no ", name);
  const Tensor& tensor = found->second;
  if (!tensor.defined()) fail(kLoad, name, " is undefined");
  if (tensor.dtype() != dtype || tensor.dim() != rank) {
    fail(kLoad, name, " is ", tensor.shape(), ' ', tensor.dtype(), ", not ", dtype, " with ", rank,
         " dimensions");
  }
  return tensor;
}

}  // namespace

std::string RunState::Part::key() const {
  return std::string(kPrefix) + name + (has_keys ? "." : "");
}

bool RunState::Part::has(const std::string& entry) const {
  return has_keys ? entry.starts_with(key()) : entry == key();
}

void RunState::add_part(Part part) {
  const std::string& name = part.name;
  if (name.empty() || name.find('.') != std::string::npos)
    fail(kAdd, "\"", name, "\" is empty or has a dot");
  const auto has_name = [&](const Part& each) { return each.name == name; };
  if (kPrefix.data() + name == kGenerator || std::any_of(parts_.begin(), parts_.end(), has_name))
    fail(kAdd, "there is a part \"", name, "\" already");
  parts_.push_back(std::move(part));
}

void RunState::add_entry(const std::string& name, DType dtype, std::int64_t rank,
                         std::function<Tensor()> get, std::function<void(const Tensor&)> set) {
  add_part({name, false,
            [get = std::move(get)](StateDict& state, const std::string& key) {
              state.emplace_back(key, get());
            },
            [set = std::move(set), dtype, rank](const StateDict& state, const std::string& key) {
              set(entry(state, key, dtype, rank));
            }});
}

void RunState::add(const std::string& name, std::int64_t& number) {
  add_entry(
      name, int64, 0, [&] { return tensor(number); },
      [&](const Tensor& saved) { number = saved.item<std::int64_t>(); });
}

void RunState::add(const std::string& name, double& number) {
  add_entry(
      name, float64, 0, [&] { return tensor(number, float64); },
      [&](const Tensor& saved) { number = saved.item<double>(); });
}

void RunState::add(const std::string& name, std::vector<double>& numbers) {
  add_entry(
      name, float64, 1, [&] { return tensor(numbers, float64); },
      [&](const Tensor& saved) { numbers = saved.to_vector<double>(); });
}

void RunState::add(const std::string& name, Generator& generator) {
  add_entry(
      name, int64, 1, [&] { return tensor_of_generator(generator); },
      [&](const Tensor& saved) { generator = generator_of_tensor(saved); });
}

StateDict RunState::entries_under(const StateDict& state, const std::string& prefix) {
  StateDict entries;
  for (const auto& [key, value] : state) {
    if (key.starts_with(prefix)) entries.emplace_back(key.substr(prefix.size()), value);
  }
  return entries;
}

StateDict RunState::state_dict() const {
  StateDict state = model_->state_dict();
  for (const auto& [key, value] : state) {
    if (key.starts_with(kPrefix))
      fail("RunState::state_dict", "the model's ", key, " begins with the run's prefix, ", kPrefix);
  }
  for (const Part& part : parts_) part.save(state, part.key());
  state.emplace_back(kGenerator, tensor_of_generator(get_rng_state()));
  return state;
}

void RunState::check_keys(const StateDict& state) const {
  std::set<std::string_view> names;
  for (const auto& [key, value] : state) {
    if (!names.insert(key).second) fail(kLoad, key, " is there twice");
    if (!key.starts_with(kPrefix) || key == kGenerator) continue;
    const auto has_it = [&entry = key](const Part& part) { return part.has(entry); };
    if (std::any_of(parts_.begin(), parts_.end(), has_it)) continue;
    const std::string name =
        key.substr(kPrefix.size(), key.find('.', kPrefix.size()) - kPrefix.size());
    fail(kLoad, key, " belongs to no part: \"", name,
         "\" was not added, or is a part of another kind");
  }
}

void RunState::load_state_dict(const StateDict& state) {
  check_keys(state);
  StateDict weights;
  for (const auto& [key, value] : state) {
    if (!key.starts_with(kPrefix)) weights.emplace_back(key, value);
  }
  const Generator generator = generator_of_tensor(entry(state, kGenerator, int64, 1));
  for (const Part& part : parts_) {
    try {
      part.load(state, part.key());
    } catch (const Error& error) {
      throw_alike(error, as_text(error.what(), " (in the part \"", part.name, "\" of the state)"));
      throw;
    }
  }
  model_->load_state_dict(weights);
  set_rng_state(generator);
}

void RunState::save(const std::filesystem::path& path,
                    const std::map<std::string, std::string>& settings) const {
  if (settings.contains(kChecksum))
    fail("RunState::save", "the settings must not have a \"checksum\"");
  const StateDict tensors = state_dict();
  auto metadata = settings;
  metadata[kChecksum] = checksum(tensors, settings);
  save_safetensors(path, tensors, metadata);
}

std::map<std::string, std::string> RunState::load(const std::filesystem::path& path) {
  Safetensors file = load_run(path);
  load_state_dict(file.tensors);
  return std::move(file.metadata);
}

Safetensors load_run(const std::filesystem::path& path) {
  Safetensors file = load_safetensors(path);
  const auto expected = file.metadata.find(kChecksum);
  if (expected == file.metadata.end())
    fail<IoError>("load_run", path, " has no checksum, so it is not the checkpoint of a run");
  if (expected->second != checksum(file.tensors, file.metadata))
    fail<IoError>("load_run", path, " is damaged: its checksum does not match its content");
  file.metadata.erase(expected);
  return file;
}

}  // namespace tend::nn
