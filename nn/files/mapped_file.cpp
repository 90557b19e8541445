#include <tend/nn/files/mapped_file.h>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace tend::nn {

class MappedFile::Mapping {
 public:
  // MAP_NORESERVE: the system reserves no memory for writable pages, since most are never written.
  Mapping(const InputFile& file, PageAccess access)
      : bytes_(file.size()),
        data_(bytes_ == 0 ? nullptr
                          : ::mmap(nullptr, bytes_,
                                   PROT_READ | (access == PageAccess::read_only ? 0 : PROT_WRITE),
                                   MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0)) {
    if (data_ == MAP_FAILED) {
      file.refuse("cannot be mapped: ", std::generic_category().message(errno));
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (bytes_ > 0) ::munmap(data_, bytes_);
  }

  std::byte* at(std::uint64_t position) const { return static_cast<std::byte*>(data_) + position; }

 private:
  std::size_t bytes_;
  void* data_;
};

MappedFile::MappedFile(const InputFile& file, PageAccess access)
    : mapping_(std::make_shared<const Mapping>(file, access)) {}

const std::byte* MappedFile::data() const noexcept {
  return mapping_->at(0);
}

std::optional<Array> MappedFile::array(NumberKind kind, std::uint64_t position,
                                       const Shape& shape) const {
  const bool is_own = kind == NumberKind::f32 || kind == NumberKind::f64 || kind == NumberKind::i64;
  if (!is_own || position % static_cast<std::uint64_t>(stored_size(kind)) != 0) return {};
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {};
  return Array::from_blob(mapping_->at(position), shape, contiguous_strides(shape), widened(kind),
                          [mapping = mapping_](void*) {});
}

}  // namespace tend::nn
