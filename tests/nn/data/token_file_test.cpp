#include <tend/nn/data/token_file.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/autograd/ops/ops.h>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/data/fixtures.h"
#include "tests/nn/files/hostile.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using data::IndexList;
using data::TokenType;

namespace {

// The bytes of a file with the tokens 60000, 59999, ..., each in `width` bytes.
std::string token_bytes(std::int64_t count, int width) {
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int byte = 0; byte < width; ++byte)
      bytes += static_cast<char>((60000 - i) >> (8 * byte) & 0xff);
  }
  return bytes;
}

std::string write_tokens(const TemporaryFolder& folder, const std::string& bytes) {
  std::ofstream(folder.file("tokens.bin"), std::ios::binary) << bytes;
  return folder.file("tokens.bin");
}

}  // namespace

TEST_CASE("a TokenFile reads tokens of both sizes within its bounds whether mapped or not") {
  const TemporaryFolder folder;
  for (const TokenType type : {TokenType::uint16, TokenType::uint32}) {
    const std::string path =
        write_tokens(folder, token_bytes(10000, type == TokenType::uint16 ? 2 : 4));
    for (const bool mmap : {false, true}) {
      INFO("mapped " << mmap);
      const data::TokenFile file(path, type, {.mmap = mmap});
      CHECK(file.size() == 10000);
      CHECK(file.tokens(7, 3).to_vector<std::int64_t>() == IndexList{59993, 59992, 59991});
      // tokens() reads this many tokens in several parts.
      CHECK(equal(file.tokens(0, 10000), 60000 - arange(10000)));
      CHECK(file.tokens(10000, 0).shape() == Shape{0});
      CHECK_THROWS_AS(file.tokens(9999, 2), IndexError);
      CHECK_THROWS_AS(file.tokens(-1, 2), IndexError);
      CHECK_THROWS_AS(file.tokens(1, -1), IndexError);
      CHECK_THROWS_AS(file.tokens(1, std::numeric_limits<std::int64_t>::max()), IndexError);
    }
  }
}

TEST_CASE("a mapped TokenFile may be empty and survives the removal of its path") {
  const TemporaryFolder folder;
  std::string path = write_tokens(folder, token_bytes(20, 2));
  const data::TokenFile file(path, TokenType::uint16, {.mmap = true});
  const data::TokenFile copy = file;
  std::filesystem::remove(path);
  CHECK(equal(copy.tokens(0, 20), 60000 - arange(20)));
  const RngStateGuard guard;
  manual_seed(3);
  const auto [x, y] = file.random_batch(2, 5);
  CHECK(equal(x - 1, y));
  path = write_tokens(folder, "");
  CHECK(data::TokenFile(path, TokenType::uint16, {.mmap = true}).tokens(0, 0).numel() == 0);
}

TEST_CASE("written tokens are read again and tokens that do not fit are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokens.bin");
  const Tensor tokens = (60000 - arange(10000)).view({100, 100}).t();  // not contiguous
  for (const TokenType type : {TokenType::uint16, TokenType::uint32}) {
    data::write_tokens(path, tokens, type);
    CHECK(equal(data::TokenFile(path, type).tokens(0, 10000), tokens.flatten()));
  }
  data::write_tokens(path, tensor(std::vector<std::int64_t>{0, 65535, 258}));
  CHECK(content(path) == std::string("\0\0\xff\xff\2\1", 6));
  const auto refuses = [&](const Tensor& wrong, TokenType type, const std::string& message) {
    CHECK_THROWS_WITH(data::write_tokens(path, wrong, type), ContainsSubstring(message));
    CHECK(content(path).size() == 6);  // the old file is still there
  };
  const std::vector<std::int64_t> large{1, 65536}, larger{std::int64_t{1} << 32},
      negative{0, 0, -1};
  refuses(tensor(large), TokenType::uint16,
          "[write_tokens] token 65536 at position 1 does not fit 2 bytes");
  refuses(tensor(larger), TokenType::uint32, "token 4294967296 at position 0 does not fit 4 bytes");
  refuses(tensor(negative), TokenType::uint32, "token -1 at position 2 does not fit 4 bytes");
  refuses(ones({2}), TokenType::uint16, "tokens must be int64, got float32");
  CHECK_THROWS_AS(data::write_tokens(folder.file("no/folder"), tokens), IoError);
  data::write_tokens(path, zeros({0}, int64));
  CHECK(data::TokenFile(path).size() == 0);
}

TEST_CASE("random batches are nanoGPT's and their targets are shifted by one token") {
  const auto& c = stored_orders().at("token_batches");
  const TemporaryFolder folder;
  const data::TokenFile file(write_tokens(folder, token_bytes(c["tokens"], 2)));
  const RngStateGuard guard;
  manual_seed(c["seed"]);
  const std::int64_t block = c["block_size"];
  for (const auto& starts : c["starts"]) {
    const auto [x, y] = file.random_batch(c["batch_size"], block);
    CHECK(x.shape() == Shape{4, 8});
    CHECK(x.is_contiguous());
    CHECK(y.is_contiguous());
    CHECK((60000 - x.select(1, 0)).to_vector<std::int64_t>() == starts.get<IndexList>());
    CHECK(equal(x.narrow(1, 1, block - 1), y.narrow(1, 0, block - 1)));
    CHECK(equal(x - 1, y));
  }
  // Inputs and targets share no memory.
  const auto [x, y] = file.random_batch(1, 5);
  const std::int64_t before = y[0][0].item<std::int64_t>();
  x.data_ptr<std::int64_t>()[1] = -1;
  CHECK(y[0][0].item<std::int64_t>() == before);
}

TEST_CASE("several threads can read one file of tokens") {
  const TemporaryFolder folder;
  const std::string path = write_tokens(folder, token_bytes(10000, 2));
  for (const bool mmap : {false, true}) {
    const data::TokenFile file(path, TokenType::uint16, {.mmap = mmap});
    together(4, [&](int thread) {
      Generator generator(static_cast<std::uint64_t>(thread));
      for (std::int64_t i = 0; i < 200; ++i) {
        if (!equal(file.tokens(i, 9000), 60000 - arange(i, i + 9000)))
          throw std::runtime_error("other tokens");
        const auto [inputs, targets] = file.random_batch(4, 50, generator);
        if (!equal(inputs - targets, ones({4, 50}, int64))) throw std::runtime_error("other rows");
      }
    });
  }
}

TEST_CASE("a file that ends within a token is refused") {
  CHECK(check_hostile(".tokens", [](const auto& path) { data::TokenFile file(path); }) == 1);
}

TEST_CASE("a TokenFile refuses invalid requests before it uses random numbers") {
  const TemporaryFolder folder;
  const RngStateGuard guard;
  const Generator before = get_rng_state();
  const std::string path = write_tokens(folder, token_bytes(9, 2));
  CHECK_THROWS_AS(data::TokenFile(folder.file("none")), IoError);
  CHECK_THROWS_AS(data::TokenFile(folder.path()), IoError);
  CHECK_THROWS_WITH(data::TokenFile(path, TokenType::uint32), ContainsSubstring("18 bytes"));
  const data::TokenFile file(path);
  CHECK_THROWS_WITH(file.random_batch(2, 9),
                    ContainsSubstring("must be less than the file's 9 tokens, got 9"));
  CHECK_THROWS_AS(file.random_batch(2, std::numeric_limits<std::int64_t>::max()), Error);
  CHECK_THROWS_AS(file.random_batch(0, 3), Error);
  CHECK_THROWS_AS(file.random_batch(3, 0), Error);
  CHECK_THROWS_AS(file.random_batch(std::int64_t{1} << 60, 3), Error);
  CHECK(get_rng_state() == before);
  CHECK(file.random_batch(2, 8).inputs.shape() == Shape{2, 8});
  // The file is shortened while it is open.
  std::filesystem::resize_file(path, 4);
  CHECK_THROWS_WITH(file.tokens(0, 9), ContainsSubstring("ends too early"));
  CHECK(file.tokens(0, 2).numel() == 2);
}
