#include <tend/nn/data/token_file.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/ops/random.h>
#include <tend/autograd/ops/views.h>
#include <tend/core/base/error.h>
#include <tend/nn/files/input_file.h>
#include <tend/nn/files/mapped_file.h>
#include <tend/nn/files/stored_numbers.h>
#include <tend/nn/files/write_file.h>

namespace tend::data {
namespace {

constexpr const char* kTokens = "TokenFile";

std::int64_t bytes_of(TokenType type) {
  return type == TokenType::uint16 ? 2 : 4;
}

}  // namespace

class TokenFile::File : public nn::InputFile {
 public:
  File(const std::filesystem::path& path, bool is_mapped) : nn::InputFile(path, kTokens) {
    if (is_mapped) mapping_.emplace(*this, nn::PageAccess::read_only);
  }
  void read_tokens(std::uint64_t position, void* to, std::uint64_t bytes) const {
    if (!mapping_) return read_at(position, to, bytes);
    if (bytes != 0) std::memcpy(to, mapping_->data() + position, bytes);
  }

 private:
  std::optional<nn::MappedFile> mapping_;
};

TokenFile::TokenFile(const std::filesystem::path& path, TokenType type,
                     const nn::LoadOptions& options)
    : file_(std::make_shared<const File>(path, options.mmap)),
      type_(type),
      size_(static_cast<std::int64_t>(file_->size()) / bytes_of(type)) {
  const auto rest = static_cast<std::int64_t>(file_->size()) % bytes_of(type);
  if (rest != 0)
    file_->refuse("has ", file_->size(), " bytes, not a whole number of tokens of ", bytes_of(type),
                  " bytes");
}

Tensor TokenFile::tokens(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first > size_ || count > size_ - first)
    fail<IndexError>(kTokens, count, " tokens from position ", first,
                     " on are not all in the file of ", size_, " tokens");
  Tensor read_tokens = empty({count}, int64);
  read(first, read_tokens.array());
  return read_tokens;
}

TokenBatch TokenFile::random_batch(std::int64_t batch_size, std::int64_t block_size,
                                   Generator& generator) const {
  if (batch_size < 1 || block_size < 1)
    fail(kTokens, "batch_size and block_size must be at least 1, got ", batch_size, " and ",
         block_size);
  if (block_size >= size_)
    fail(kTokens, "block_size must be less than the file's ", size_, " tokens, got ", block_size);
  const Tensor rows = empty({batch_size, block_size + 1}, int64);
  const Tensor starts = randint(size_ - block_size, {batch_size}, int64, generator);
  for (std::int64_t row = 0; row < batch_size; ++row)
    read(starts.data_ptr<std::int64_t>()[row], rows.array().select(0, row));
  // Copies, since inputs and targets must not share memory.
  return {rows.narrow(1, 0, block_size).clone(), rows.narrow(1, 1, block_size).clone()};
}

void write_tokens(const std::filesystem::path& path, const Tensor& tokens, TokenType type) {
  constexpr const char* kWrite = "write_tokens";
  if (tokens.dtype() != int64)
    fail<DTypeError>(kWrite, "tokens must be int64, got ", tokens.dtype());
  const std::int64_t width = bytes_of(type), limit = std::int64_t{1} << (8 * width);
  const Array all = tokens.array().contiguous();
  const auto* const first = all.data<std::int64_t>();
  const auto* const last = first + all.numel();
  const auto* const wrong =
      std::find_if(first, last, [&](std::int64_t token) { return token < 0 || token >= limit; });
  if (wrong != last)
    fail(kWrite, "token ", *wrong, " at position ", wrong - first, " does not fit ", width,
         " bytes");
  const auto fill = [&](const nn::PutBytes& put) {
    std::array<unsigned char, 8192> bytes;
    for (const auto* next = first; next != last;) {
      std::size_t used = 0;
      for (; next != last && used < bytes.size(); ++next) {
        for (std::int64_t byte = 0; byte < width; ++byte)
          bytes[used++] = static_cast<unsigned char>(*next >> (8 * byte));
      }
      put(bytes.data(), used);
    }
  };
  nn::write_file(path, fill, kWrite);
}

void TokenFile::read(std::int64_t first, const Array& to) const {
  auto position = static_cast<std::uint64_t>(first * bytes_of(type_));
  const auto read_bytes = [&](void* bytes, std::uint64_t size) {
    file_->read_tokens(position, bytes, size);
    position += size;
  };
  const bool is_wide = type_ == TokenType::uint32;
  nn::read_numbers(is_wide ? nn::NumberKind::u32 : nn::NumberKind::u16, /*swapped=*/false,
                   read_bytes, to);
}

}  // namespace tend::data
