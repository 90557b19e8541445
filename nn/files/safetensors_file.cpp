#include <tend/nn/files/safetensors_file.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/json.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/safetensors.h>
#include <tend/nn/files/safetensors_format.h>
#include <tend/nn/files/stored_numbers.h>

#include <nlohmann/json.hpp>

namespace tend::nn {
namespace {

using safetensors::Entry, safetensors::Header, safetensors::StoredType, safetensors::WeightMap;
using safetensors::kMaxDims, safetensors::kMaxHeader, safetensors::kMetadata,
    safetensors::kStoredTypes;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kLoadSafetensors = "load_safetensors";

constexpr std::int64_t kLargestSize = std::int64_t{1} << 62;

std::string read_header(InputFile& file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) file.refuse("is too short for a header");
  file.read(&length, sizeof length);
  // The text "version ", with which a pointer of Git LFS begins, as a number.
  if (length == 0x206E6F6973726576) {
    file.refuse(
        "is not a safetensors file, but maybe a pointer to one in Git LFS: fetch it with git lfs "
        "pull");
  }
  if (length > kMaxHeader || length > file.size() - sizeof length) {
    file.refuse("a header of ", length, " bytes is too long in a file of ", file.size(),
                ": the file is damaged, or not a safetensors file");
  }
  std::string text(length, '\0');
  file.read(text.data(), length);
  return text;
}

// Reads the entry of one tensor in a header.
class EntryReader {
 public:
  EntryReader(const FileName& file, const std::string& name, const json::Value& fields)
      : file_(file), name_(name), fields_(fields) {}

  Entry read() const {
    if (!fields_.is_object() || !fields_.contains("dtype") || !fields_.contains("shape") ||
        !fields_.contains("data_offsets")) {
      refuse("needs dtype, shape and data_offsets");
    }
    Entry entry;
    entry.name = name_;
    entry.type = type();
    const json::Value& shape = fields_["shape"];
    if (!shape.is_array() || shape.size() > kMaxDims)
      refuse("its shape is not a list of at most 64 sizes");
    for (const json::Value& each : shape) entry.shape.push_back(size(each));
    const json::Value& offsets = fields_["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2) refuse("data_offsets are not two numbers");
    entry.begin = size(offsets[0]);
    entry.end = size(offsets[1]);
    return entry;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    file_.refuse("tensor '", shown(name_), "': ", parts...);
  }

  StoredType type() const {
    for (const StoredType& each : kStoredTypes)
      if (fields_["dtype"] == each.name) return each;
    std::string names;
    for (const StoredType& each : kStoredTypes)
      names += as_text(names.empty() ? "" : ", ", each.name);
    refuse("its dtype is not one of ", names);
  }

  std::int64_t size(const json::Value& value) const {
    if (!value.is_number_unsigned() || value.get<std::int64_t>() > kLargestSize)
      refuse(shown(value.dump()), " is not a size");
    return value.get<std::int64_t>();
  }

  const FileName& file_;
  const std::string& name_;
  const json::Value& fields_;
};

void read_metadata(const FileName& file, const json::Value& texts,
                   std::map<std::string, std::string>& metadata) {
  if (texts.is_null()) return;
  if (!texts.is_object()) file.refuse("__metadata__ is not an object");
  for (const auto& [key, value] : texts.items()) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr) file.refuse("__metadata__ '", shown(key), "' is not a text");
    metadata.emplace(key, *text);
  }
}

void check_length(const FileName& file, const Entry& entry, std::int64_t data_bytes) {
  if (entry.end < entry.begin || entry.end > data_bytes)
    file.refuse("tensor '", shown(entry.name),
                "': data_offsets must be in order and within the file");
  if (stored_bytes(entry.type.kind, entry.shape) != entry.end - entry.begin) {
    file.refuse("tensor '", shown(entry.name), "': ", entry.shape, ' ', entry.type.name,
                " does not take ", entry.end - entry.begin, " bytes, the size in data_offsets");
  }
}

// Sorts the entries by the position of their bytes. Together, the entries must fill the data
// without gap and overlap.
void sort_by_bytes(const FileName& file, std::vector<Entry>& entries, std::int64_t data_bytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at)
      file.refuse("the tensors must not overlap or leave gaps, but tensor '", shown(entry.name),
                  "' begins at ", entry.begin, ", not at ", at);
    at = entry.end;
  }
  if (at != data_bytes)
    file.refuse("all bytes must belong to tensors, but the tensors take ", at, " bytes of ",
                data_bytes);
}

// Parses the text of a header, in time n log n for n tensors. The elements after the header have
// `data_bytes` bytes.
Header parse_header(const FileName& file, const std::string& text, std::int64_t data_bytes) {
  const json::Value root = json::parse(file, text, "the header ");
  if (!root.is_object()) file.refuse("the header is not a JSON object");
  Header header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadata) {
      read_metadata(file, value, header.metadata);
    } else {
      header.entries.push_back(EntryReader(file, name, value).read());
      check_length(file, header.entries.back(), data_bytes);
    }
  }
  sort_by_bytes(file, header.entries, data_bytes);
  return header;
}

// Reads a model.safetensors.index.json, which names files in its own folder.
WeightMap read_index(const FileName& file) {
  const json::Value root = json::read(file);
  const json::Value* map = json::find(root, "weight_map");
  if (map == nullptr || !map->is_object()) file.refuse("there is no weight_map");
  WeightMap files;
  for (const auto& [tensor, value] : map->items()) {
    const auto* name = value.get_ptr<const std::string*>();
    if (name == nullptr || name->empty() || *name == "." || *name == ".." ||
        name->find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
      file.refuse("the weight_map must name a file in the folder of this index for tensor '",
                  shown(tensor), '\'');
    }
    files.emplace(tensor, *name);
  }
  return files;
}

}  // namespace

class SafetensorsFile::Files {
 public:
  Files(const std::filesystem::path& path, bool mapped) {
    if (path.extension() == ".json") {
      open_index({kLoadSafetensors, path}, mapped);
    } else {
      add(parts_.emplace_back(path, mapped), [](const Entry&) { return true; });
    }
  }

  const std::vector<SafetensorsEntry>& entries() const noexcept { return entries_; }
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  bool contains(std::string_view name) const noexcept { return places_.contains(name); }
  Tensor load(std::string_view name) const {
    const auto found = places_.find(name);
    if (found == places_.end())
      fail<IndexError>("SafetensorsFile::load", "there is no tensor '", shown(name), '\'');
    return found->second.part->read(*found->second.entry);
  }

 private:
  // An open file with its header.
  class Part {
   public:
    Part(const std::filesystem::path& path, bool mapped) : file_(path, kLoadSafetensors) {
      const std::string text = read_header(file_);
      data_begin_ = sizeof(std::uint64_t) + text.size();
      header_ = parse_header({kLoadSafetensors, path}, text,
                             static_cast<std::int64_t>(file_.size() - data_begin_));
      if (mapped) mapping_.emplace(file_, PageAccess::copied_when_written);
    }

    const Header& header() const noexcept { return header_; }

    Tensor read(const Entry& entry) const {
      std::uint64_t position = data_begin_ + static_cast<std::uint64_t>(entry.begin);
      if (mapping_) {
        if (const auto mapped = mapping_->array(entry.type.kind, position, entry.shape))
          return Tensor(*mapped);
      }
      const Array out = Array::empty(entry.shape, widened(entry.type.kind));
      const auto read = [&](void* to, std::uint64_t bytes) {
        file_.read_at(position, to, bytes);
        position += bytes;
      };
      if (const auto bad = read_numbers(entry.type.kind, /*swapped=*/false, read, out))
        file_.refuse("tensor '", shown(entry.name), "': int64 cannot hold the U64 at ",
                     unravel_index(*bad, entry.shape));
      return Tensor(out);
    }

   private:
    InputFile file_;
    std::uint64_t data_begin_ = 0;
    Header header_;
    std::optional<MappedFile> mapping_;
  };

  struct Place {
    const Part* part;
    const Entry* entry;
  };

  void open_index(const FileName& file, bool mapped) {
    const WeightMap files = read_index(file);
    std::map<std::string_view, std::vector<std::string_view>> names;
    for (const auto& [name, in] : files) names[in].push_back(name);
    for (const auto& [in, of] : names) {
      const auto path = file.path.parent_path() / in;
      add(parts_.emplace_back(path, mapped), [&, part = in](const Entry& entry) {
        const auto found = files.find(entry.name);
        return found != files.end() && found->second == part;
      });
      for (const std::string_view name : of) {
        if (contains(name)) continue;
        file.refuse("there is no tensor '", shown(name), "' in ", shown(in));
      }
    }
  }

  // Adds the entries of a part for which belongs(entry) is true.
  template <class Belongs>
  void add(const Part& part, Belongs belongs) {
    for (const Entry& entry : part.header().entries) {
      if (!belongs(entry)) continue;
      entries_.push_back(
          {entry.name, std::string(entry.type.name), widened(entry.type.kind), entry.shape});
      places_.emplace(entry.name, Place{&part, &entry});
    }
    for (const auto& text : part.header().metadata) metadata_.insert(text);
  }

  std::list<Part> parts_;  // a list, so that pointers to parts stay valid
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string_view, Place> places_;  // by name; the keys view names in parts_
  std::map<std::string, std::string> metadata_;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path, const LoadOptions& options)
    : files_(std::make_shared<const Files>(path, options.mmap)) {}

const std::vector<SafetensorsEntry>& SafetensorsFile::entries() const noexcept {
  return files_->entries();
}

const std::map<std::string, std::string>& SafetensorsFile::metadata() const noexcept {
  return files_->metadata();
}

bool SafetensorsFile::contains(std::string_view name) const noexcept {
  return files_->contains(name);
}

Tensor SafetensorsFile::load(std::string_view name) const {
  return files_->load(name);
}

Safetensors load_safetensors(const std::filesystem::path& path, const LoadOptions& options) {
  const SafetensorsFile file(path, options);
  Safetensors out{{}, file.metadata()};
  for (const SafetensorsEntry& entry : file.entries())
    out.tensors.emplace_back(entry.name, file.load(entry.name));
  return out;
}

}  // namespace tend::nn
