#include <tend/nn/archives/pt.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/archives/pt_storages.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/input_file.h>

namespace tend::nn {

// Not in the class, where a PtItem is not complete yet.
PtValue::PtValue() = default;
PtValue::PtValue(const PtValue& other) = default;
PtValue::PtValue(PtValue&& other) noexcept = default;
PtValue& PtValue::operator=(const PtValue& other) = default;
PtValue& PtValue::operator=(PtValue&& other) noexcept = default;
PtValue::~PtValue() = default;
PtValue::PtValue(bool value) : data(value) {}
PtValue::PtValue(std::int64_t value) : data(value) {}
PtValue::PtValue(double value) : data(value) {}
PtValue::PtValue(const char* text) : data(std::string(text)) {}
PtValue::PtValue(std::string text) : data(std::move(text)) {}
PtValue::PtValue(Tensor tensor) : data(std::move(tensor)) {}
PtValue::PtValue(PtList list) : data(std::move(list)) {}
PtValue::PtValue(PtTuple tuple) : data(std::move(tuple)) {}
PtValue::PtValue(PtDict dict) : data(std::move(dict)) {}
PtValue::PtValue(const StateDict& tensors) {
  PtDict dict;
  for (const auto& [name, tensor] : tensors) dict.push_back({name, tensor});
  data = std::move(dict);
}

const PtValue& PtValue::at(std::string_view key) const {
  const PtDict* dict = as<PtDict>();
  if (dict == nullptr) fail<IndexError>("PtValue::at", "'", shown(key), "': the value is no dict");
  const auto same = [&](const PtItem& item) {
    const auto* text = std::get_if<std::string>(&item.key);
    return text != nullptr && *text == key;
  };
  const auto found = std::find_if(dict->begin(), dict->end(), same);
  if (found == dict->end()) fail<IndexError>("PtValue::at", "no key '", shown(key), "'");
  return found->value;
}

StateDict PtValue::state_dict() const {
  const PtDict* dict = as<PtDict>();
  if (dict == nullptr) fail("PtValue::state_dict", "the value is no dict");
  StateDict out;
  for (const PtItem& item : *dict) {
    const auto* name = std::get_if<std::string>(&item.key);
    if (name == nullptr) {
      fail("PtValue::state_dict", "the key ", std::get<std::int64_t>(item.key), " is no text");
    }
    const Tensor* tensor = item.value.as<Tensor>();
    if (tensor == nullptr) fail("PtValue::state_dict", "'", shown(*name), "' is no tensor");
    out.emplace_back(*name, *tensor);
  }
  return out;
}

PtValue load_pt(const std::filesystem::path& path) {
  InputFile file(path, "load_pt");
  std::string start(std::min<std::uint64_t>(file.size(), 2), '\0');
  file.read(start.data(), start.size());
  return start == "PK" ? pickle::read_zip(path) : pickle::read_legacy(path);
}

}  // namespace tend::nn
