// Files of tokens in nanoGPT's format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>
#include <tend/nn/files/load_options.h>

namespace tend::data {

/// The type of the tokens in a file: little-endian numbers of this size.
enum class TokenType : std::uint8_t { uint16, uint32 };

/// Inputs, and the token after each input: two int64 tensors (batch_size, block_size).
struct TokenBatch {
  Tensor inputs;
  Tensor targets;
};

/// A file that consists of tokens only, such as nanoGPT's train.bin.
///
/// Only the requested tokens are read; the file stays on the disk or in the system's file cache.
/// Several threads may read at once. A copy refers to the same open file.
class TokenFile {
 public:
  /// Opens a file of tokens.
  ///
  /// With mmap, the file is mapped into memory, which saves a system call for each row of a batch.
  /// Then the file must not be written to or shortened: see LoadOptions::mmap.
  ///
  /// Throws:
  ///   IoError - the path is not a regular file or cannot be read
  ///   IoError - the size of the file is not a multiple of a token's size
  explicit TokenFile(const std::filesystem::path& path, TokenType type = TokenType::uint16,
                     const nn::LoadOptions& options = {});

  /// The number of tokens in the file.
  std::int64_t size() const noexcept { return size_; }
  /// `count` tokens from position `first` on, int64 (count,).
  ///
  /// Throws:
  ///   IndexError - the tokens are not all in the file
  ///   IoError    - the file can no longer be read, for example because it was shortened
  Tensor tokens(std::int64_t first, std::int64_t count) const;
  /// Rows from random positions of the file, as in nanoGPT's get_batch.
  ///
  /// The positions are randint(size() - block_size, (batch_size,)). The targets are the tokens one
  /// position after the inputs. Sizes are checked before the generator is used.
  ///
  /// Throws:
  ///   Error   - a size is below 1
  ///   Error   - the file does not have more than block_size tokens
  ///   IoError - the file can no longer be read
  TokenBatch random_batch(std::int64_t batch_size, std::int64_t block_size,
                          Generator& generator = default_generator()) const;

 private:
  class File;
  // Fills `to`, which is row-major, with tokens.
  void read(std::int64_t first, const Array& to) const;

  std::shared_ptr<const File> file_;
  TokenType type_;
  std::int64_t size_;
};

/// Writes a file of tokens, which appears whole or not at all (nn::write_file).
///
///     data::write_tokens("train.bin", tensor(tokenizer.encode(text)));
///
/// `tokens` may have any shape; they are written in row-major order.
///
/// Throws:
///   DTypeError - the tokens are not int64
///   Error      - a token does not fit the type
///   IoError    - the file cannot be written
void write_tokens(const std::filesystem::path& path, const Tensor& tokens,
                  TokenType type = TokenType::uint16);

}  // namespace tend::data
