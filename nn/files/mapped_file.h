// Files that are mapped into memory, so that arrays can use their bytes as elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <tend/core/array/array.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn {

/// The access of the process to the pages of a mapped file. Writable pages count against
/// RLIMIT_DATA, even if they are never written. If vm.overcommit_memory is 2, they also count
/// against the commit limit.
enum class PageAccess { read_only, copied_when_written };

/// A file that is mapped into memory. It stays mapped while there are arrays of it.
/// LoadOptions::mmap says what must not be done to the file.
class MappedFile {
 public:
  /// Maps the file, which may be closed afterwards.
  ///
  /// Throws: IoError - the system cannot map the file
  MappedFile(const InputFile& file, PageAccess access);

  /// A pointer to the first byte; null for an empty file.
  const std::byte* data() const noexcept;

  /// A row-major array of the elements at `position`, or nullopt if the elements must be read.
  ///
  /// They must be read if they are not float32, float64 or int64, if they are not aligned to their
  /// size, or if there are no elements. All elements must be within the file. The file must be
  /// mapped with PageAccess::copied_when_written, since the owner of the array may write to it.
  std::optional<Array> array(NumberKind kind, std::uint64_t position, const Shape& shape) const;

 private:
  class Mapping;
  std::shared_ptr<const Mapping> mapping_;
};

}  // namespace tend::nn
