// Files whose bytes are arrays' elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <tend/core/array/array.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/stored_numbers.h>

namespace tend::nn {

/// Whether a mapped file's pages can be written. Those that can count against RLIMIT_DATA (and the
/// commit limit where vm.overcommit_memory is 2) even if they never are.
enum class PageAccess { read_only, copied_when_written };

/// A file in memory. Arrays of it keep it there. LoadOptions::mmap says what must not happen to the
/// file.
class MappedFile {
 public:
  /// IoError when the system cannot map it. The file may be closed afterwards.
  MappedFile(const InputFile& file, PageAccess access);

  /// Its bytes, from the first on; null for an empty file.
  const std::byte* data() const noexcept;

  /// A row-major array of the elements at `position`, which must lie in the file. Nothing where
  /// they are no elements of tend's, not aligned to their size, or none at all: then read them.
  /// Only with PageAccess::copied_when_written, as whoever has the array may write to it.
  std::optional<Array> array(NumberKind kind, std::uint64_t position, const Shape& shape) const;

 private:
  class Mapping;
  std::shared_ptr<const Mapping> mapping_;
};

}  // namespace tend::nn
