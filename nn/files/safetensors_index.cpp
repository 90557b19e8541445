#include <tend/nn/files/safetensors_index.h>

#include <string_view>

#include <tend/nn/files/json.h>

namespace tend::nn::safetensors {

WeightMap read_index(const FileName& file) {
  const json::Value root = json::read(file);
  const json::Value* map = root.find("weight_map");
  const auto* members = map == nullptr ? nullptr : map->as<json::Object>();
  if (members == nullptr) file.refuse("there is no weight_map");
  WeightMap files;
  for (const json::Member& member : *members) {
    const auto* name = member.value.as<std::string>();
    if (name == nullptr || name->empty() || *name == "." || *name == ".." ||
        name->find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      file.refuse("the weight_map names no file beside it for '", shown(member.name), '\'');
    }
    files.emplace(member.name, *name);
  }
  return files;
}

std::string index_text(const WeightMap& files, std::int64_t total_size) {
  std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(total_size) +
                     "\n  },\n  \"weight_map\": {";
  const char* before = "\n    ";
  for (const auto& [name, file] : files) {
    text += before + json::quoted(name) + ": " + json::quoted(file);
    before = ",\n    ";
  }
  return text + "\n  }\n}\n";
}

}  // namespace tend::nn::safetensors
