// Files of tokens, as nanoGPT keeps its texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/random/random.h>
#include <tend/nn/files/load_options.h>

namespace tend::data {

/// How the tokens of a file are kept: little-endian numbers of this size.
enum class TokenType : std::uint8_t { uint16, uint32 };

/// Inputs, and what follows each of them: two int64 tensors (batch_size, block_size).
struct TokenBatch {
  Tensor inputs;
  Tensor targets;
};

/// A file of tokens and nothing else, as nanoGPT's train.bin. It stays on the disk, or in the
/// system's file cache, and is read where it is asked for, on several threads if need be; a copy
/// has the same file.
class TokenFile {
 public:
  /// IoError when the path is no regular file that can be read, or has a part of a token at its
  /// end. Without mmap, to read from a file that was cut short meanwhile is an IoError. With it the
  /// file is mapped into memory, which saves a system call for each row of a batch, and must not be
  /// cut short or written into: see LoadOptions::mmap.
  explicit TokenFile(const std::filesystem::path& path, TokenType type = TokenType::uint16,
                     const nn::LoadOptions& options = {});

  /// Tokens in the file.
  std::int64_t size() const noexcept { return size_; }
  /// `count` tokens from place `first` on, int64 (count,). IndexError unless they lie in the file;
  /// IoError when it cannot be read any more.
  Tensor tokens(std::int64_t first, std::int64_t count) const;
  /// Rows from random places, which are one draw of randint(size() - block_size, (batch_size,)), as
  /// in nanoGPT's get_batch; targets are the inputs one place on. Error, before anything is drawn,
  /// unless both sizes are at least 1 and the file has more than block_size tokens.
  TokenBatch random_batch(std::int64_t batch_size, std::int64_t block_size,
                          Generator& generator = default_generator()) const;

 private:
  class File;
  // Reads as many tokens as `to`, which is row-major, has elements.
  void read(std::int64_t first, const Array& to) const;

  std::shared_ptr<const File> file_;
  TokenType type_;
  std::int64_t size_;
};

/// Writes such a file of int64 tokens of any shape, row-major. It appears whole or not at all
/// (nn::write_file):
///
///     data::write_tokens("train.bin", tensor(tokenizer.encode(text)));
///
/// DTypeError for another dtype, Error for a token that does not fit the type, both before anything
/// is written; IoError where it cannot be.
void write_tokens(const std::filesystem::path& path, const Tensor& tokens,
                  TokenType type = TokenType::uint16);

}  // namespace tend::data
