#include <tend/nn/files/safetensors_file.h>

#include <bit>
#include <cstdint>
#include <list>
#include <optional>

#include <tend/core/base/error.h>
#include <tend/nn/files/file_name.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/numbers.h>
#include <tend/nn/files/safetensors.h>
#include <tend/nn/files/safetensors_header.h>

namespace tend::nn {
namespace {

using safetensors::Entry;
using safetensors::Header;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::string_view kLoadSafetensors = "load_safetensors";

std::string read_header(InputFile& file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) file.refuse("is too short for a header");
  file.read(&length, sizeof length);
  if (length > safetensors::kMaxHeader || length > file.size() - sizeof length) {
    file.refuse("a header of ", length, " bytes in a file of ", file.size(),
                ": it is damaged, or no safetensors file");
  }
  std::string text(length, '\0');
  file.read(text.data(), length);
  return text;
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
  // A file that is open, with its header.
  class Part {
   public:
    Part(const std::filesystem::path& path, bool mapped) : file_(path, kLoadSafetensors) {
      const std::string text = read_header(file_);
      data_begin_ = sizeof(std::uint64_t) + text.size();
      header_ = safetensors::parse_header(path, text,
                                          static_cast<std::int64_t>(file_.size() - data_begin_));
      if (mapped) mapping_.emplace(file_, PageAccess::copied_when_written);
    }

    const Header& header() const noexcept { return header_; }

    Tensor read(const Entry& entry) const {
      std::uint64_t position = data_begin_ + static_cast<std::uint64_t>(entry.begin);
      if (mapping_) {
        if (const auto mapped = mapping_->array(entry.type->kind, position, entry.shape))
          return Tensor(*mapped);
      }
      const Array out = Array::empty(entry.shape, widened(entry.type->kind));
      const auto read = [&](void* to, std::uint64_t bytes) {
        file_.read_at(position, to, bytes);
        position += bytes;
      };
      if (const auto bad = read_numbers(entry.type->kind, /*swapped=*/false, read, out))
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
    const safetensors::WeightMap files = safetensors::read_index(file);
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

  // The entries of a part that belong here.
  template <class Belongs>
  void add(const Part& part, Belongs belongs) {
    for (const Entry& entry : part.header().entries) {
      if (!belongs(entry)) continue;
      entries_.push_back(
          {entry.name, std::string(entry.type->name), widened(entry.type->kind), entry.shape});
      places_.emplace(entry.name, Place{&part, &entry});
    }
    for (const auto& text : part.header().metadata) metadata_.insert(text);
  }

  std::list<Part> parts_;  // which stay where they are
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string_view, Place> places_;  // views of the parts' names
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
