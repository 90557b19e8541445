#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/nn/files/damage.h"
#include "tests/nn/files/hostile.h"
#include "tests/nn/fixtures.h"

using namespace tend;
using tend::test::content_of;
using tend::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t files_in(const ScratchFolder& folder) {
  return std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator());
}

fs::path write_raw(const ScratchFolder& folder, const std::string& header, const std::string& data,
                   std::uint64_t length = std::numeric_limits<std::uint64_t>::max()) {
  fs::path path = folder / "raw.safetensors";
  std::ofstream file(path, std::ios::binary);
  if (length == std::numeric_limits<std::uint64_t>::max()) length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header << data;
  return path;
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  int begin, int end) {
  return as_text('"', name, R"(":{"dtype":")", dtype, R"(","shape":)", shape,
                 R"(,"data_offsets":[)", begin, ',', end, "]}");
}

void check_refused(const ScratchFolder& folder, const std::string& header, const std::string& data,
                   const std::string& why) {
  const fs::path path = write_raw(folder, header, data);
  INFO(header);
  CHECK_THROWS_AS(nn::load_safetensors(path), IoError);
  CHECK_THROWS_WITH(nn::load_safetensors(path), Catch::Matchers::ContainsSubstring(why));
}

}  // namespace

TEST_CASE("safetensors headers may have null metadata and further members, as in Python") {
  const ScratchFolder folder;
  const std::string four(4, '\0');
  const std::string header =
      R"({"__metadata__":null,"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"note":1}})";
  CHECK(equal(nn::load_safetensors(write_raw(folder, header, four)).tensors.at("x"), zeros({1})));
  std::ofstream(folder / "pointer") << "version https://git-lfs.github.com/spec/v1\noid sha256:0";
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "pointer"),
                    Catch::Matchers::ContainsSubstring("Git LFS"));
}

TEST_CASE("tensors and metadata are the same after writing and reading a safetensors file") {
  const ScratchFolder folder;
  const float odd[] = {1.5f, -0.0f, std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::denorm_min()};
  const nn::StateDict state{{"weights.a", Tensor(Array::from<float>(odd, {2, 2}))},
                            {"double", tensor({0.1, 0.2, 0.3}, float64)},
                            {"transposed", tensor({{1, 2, 3}, {4, 5, 6}}).t()},
                            {"flags", tensor({true, false, true})},
                            {"number", tensor(7)},
                            {"nothing", zeros({0, 3})},
                            {"Gew\xC3\xBCrz \"quoted\"", ones({1})}};
  nn::save_safetensors(folder / "a.safetensors", state, {{"format", "pt"}, {"note", "tend"}});
  const nn::Safetensors loaded = nn::load_safetensors(folder / "a.safetensors");
  CHECK(loaded.metadata == std::map<std::string, std::string>{{"format", "pt"}, {"note", "tend"}});
  REQUIRE(loaded.tensors.size() == state.size());
  for (const auto& [name, tensor] : state) {
    INFO(name);
    const auto found =
        std::find_if(loaded.tensors.begin(), loaded.tensors.end(),
                     [&name = name](const auto& each) { return each.first == name; });
    REQUIRE(found != loaded.tensors.end());
    CHECK(found->second.dtype() == tensor.dtype());
    CHECK(found->second.shape() == tensor.shape());
    const Array dense = tensor.array().contiguous();
    const auto size = static_cast<std::size_t>(dense.numel() * item_size(dense.dtype()));
    CHECK((size == 0 || std::memcmp(found->second.array().raw(), dense.raw(), size) == 0));
  }
  CHECK(files_in(folder) == 1);  // no temporary file is left
  nn::save_safetensors(folder / "b.safetensors", {}, {.metadata = loaded.metadata});
  CHECK(nn::load_safetensors(folder / "b.safetensors").metadata == loaded.metadata);
}

TEST_CASE("a safetensors file consists of a length, a padded header and the data") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "b.safetensors", {{"x", tensor({1, 2})}});
  const std::string header = R"({"x":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})";
  const std::string content = content_of(folder / "b.safetensors");
  REQUIRE(content.size() == 8 + 56 + 16);
  CHECK(content.substr(0, 8) == std::string("\x38\0\0\0\0\0\0\0", 8));
  CHECK(content.substr(8, header.size()) == header);
  CHECK(content.substr(8 + 56) == std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
}

TEST_CASE("F16 and BF16 are read as float32") {
  const ScratchFolder folder;
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0x0001, 0x7bff, 0x8000};
  const std::uint16_t bfloats[] = {0x3f80, 0xff80, 0x4049};
  std::string data(reinterpret_cast<const char*>(halves), sizeof halves);
  data.append(reinterpret_cast<const char*>(bfloats), sizeof bfloats);
  const fs::path path = write_raw(
      folder,
      "{" + entry("h", "F16", "[2,3]", 0, 12) + "," + entry("b", "BF16", "[3]", 12, 18) + "}",
      data);
  const nn::Safetensors loaded = nn::load_safetensors(path);
  CHECK(loaded.tensors.begin()->second.to_vector<float>() ==
        std::vector<float>{1.0f, -2.0f, INFINITY, 0x1p-24f, 65504.0f, -0.0f});
  CHECK(std::next(loaded.tensors.begin())->second.to_vector<float>() ==
        std::vector<float>{1.0f, -INFINITY, 3.140625f});
}

TEST_CASE("integers of every size are read as int64, also from a mapped file") {
  const ScratchFolder folder;
  const std::string first("\x80\x7f", 2), second("\x00\x80\xff\x7f", 4),
      third("\xfe\xff\xff\xff", 4), largest("\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  const auto header = "{" + entry("i8", "I8", "[2]", 0, 2) + "," + entry("u8", "U8", "[2]", 2, 4) +
                      "," + entry("i16", "I16", "[2,1]", 4, 8) + "," +
                      entry("u16", "U16", "[2]", 8, 12) + "," + entry("i32", "I32", "[1]", 12, 16) +
                      "," + entry("u32", "U32", "[]", 16, 20) + "," +
                      entry("u64", "U64", "[2]", 20, 36) + "}";
  const fs::path path =
      write_raw(folder, header,
                first + first + second + second + third + third + largest + std::string(8, 0));
  using Numbers = std::vector<std::int64_t>;
  for (const bool mmap : {false, true}) {
    const nn::StateDict tensors = nn::load_safetensors(path, {.mmap = mmap}).tensors;
    const auto numbers = [&](const char* name) {
      CHECK(tensors.at(name).dtype() == int64);
      return tensors.at(name).to_vector<std::int64_t>();
    };
    CHECK(numbers("i8") == Numbers{-128, 127});
    CHECK(numbers("u8") == Numbers{128, 127});
    CHECK(numbers("i16") == Numbers{-32768, 32767});
    CHECK(tensors.at("i16").shape() == Shape{2, 1});
    CHECK(numbers("u16") == Numbers{32768, 32767});
    CHECK(numbers("i32") == Numbers{-2});
    CHECK(numbers("u32") == Numbers{4294967294});
    CHECK(numbers("u64") == Numbers{std::numeric_limits<std::int64_t>::max(), 0});
  }
  check_refused(folder, "{" + entry("x", "U64", "[1,2]", 0, 16) + "}",
                largest + std::string(7, 0) + "\x80", "'x': int64 cannot hold the U64 at (0, 1)");
}

TEST_CASE("a file that Python's safetensors wrote is read correctly, mapped or not") {
  const fs::path folder = TEND_TEST_DATA "/safetensors";  // make_safetensors.py
  const auto wanted = nlohmann::json::parse(std::ifstream(folder / "python.json"));
  for (const bool mmap : {false, true}) {
    const auto file = nn::load_safetensors(folder / "python.safetensors", {.mmap = mmap});
    CHECK(file.metadata ==
          std::map<std::string, std::string>{{"format", "pt"}, {"from", "Python"}});
    REQUIRE(file.tensors.size() == wanted.size());
    for (const auto& [name, value] : wanted.items()) {
      INFO(name << ", mapped " << mmap);
      const Tensor& x = file.tensors.at(name);
      CHECK(x.shape() == Shape(value["shape"].get<std::vector<std::int64_t>>()));
      const auto& numbers = value["values"];
      if (x.dtype() == int64) {
        CHECK(x.to_vector<std::int64_t>() == numbers.get<std::vector<std::int64_t>>());
      } else if (x.dtype() == boolean) {
        CHECK(x.to_vector<bool>() == numbers.get<std::vector<bool>>());
      } else {
        CHECK(x.to(float64).to_vector<double>() == numbers.get<std::vector<double>>());
        CHECK(x.dtype() == (name == "torch.float64" ? float64 : float32));
      }
    }
  }
}

TEST_CASE("a file whose header is wrong is refused with the reason") {
  const ScratchFolder folder;
  const std::string four(4, '\0');
  const std::string good = entry("x", "F32", "[1]", 0, 4);
  CHECK_NOTHROW(nn::load_safetensors(write_raw(folder, "{" + good + "}", four)));
  check_refused(folder, "{" + good + "}", four + four, "the tensors take 4 bytes of 8");
  check_refused(folder, "{" + good + "}", "", "within the file");
  check_refused(folder, "{" + good + "," + good + "}", four, "'x' is used twice");
  check_refused(folder, "{" + good + "," + entry("y", "F32", "[1]", 0, 4) + "}", four,
                "begins at 0, not at 4");
  check_refused(folder, "{" + entry("y", "F32", "[1]", 4, 8) + "}", four + four,
                "begins at 4, not at 0");
  check_refused(folder, "{" + entry("x", "F32", "[2]", 0, 4) + "}", four, "does not take 4 bytes");
  check_refused(folder, "{" + entry("x", "F32", "[4611686018427387904,4]", 0, 4) + "}", four,
                "does not take");
  check_refused(folder, "{" + entry("x", "F32", "[-1]", 0, 4) + "}", four, "-1 is not a size");
  check_refused(folder, "{" + entry("x", "F32", "[1.0]", 0, 4) + "}", four, "1.0 is not a size");
  check_refused(folder, "{" + entry("x", "F8", "[4]", 0, 4) + "}", four, "its dtype is not one of");
  check_refused(folder, "{" + entry("x", "F32", "[1]", 4, 0) + "}", four, "within the file");
  check_refused(folder, R"({"x":{"dtype":"F32","shape":[1]}})", four,
                "needs dtype, shape and data_offsets");
  check_refused(folder, R"({"__metadata__":{"a":1}})", "", "'a' is not a text");
  check_refused(folder, R"({"__metadata__":[]})", "", "__metadata__ is not an object");
  check_refused(folder, "[]", "", "the header is not a JSON object");
  check_refused(folder, "{", "", "the header is not JSON");
  check_refused(folder, "", "", "the header is not JSON");
}

TEST_CASE("a number that is not a size is refused in shapes and offsets") {
  const ScratchFolder folder;
  const std::string four(4, '\0');
  for (const std::string number :
       {"-1", "-0", "1.5", "1e0", "1e3", "4611686018427387905", "18446744073709551616", "1e400",
        "true", "null", "\"1\"", "{}", "[1]"}) {
    check_refused(folder,
                  R"({"x":{"dtype":"F32","shape":[)" + number + R"(],"data_offsets":[0,4]}})", four,
                  number == "1e400" ? "is not JSON" : "is not a size");
    check_refused(folder, R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,)" + number + "]}}",
                  four, number == "1e400" ? "is not JSON" : "is not a size");
  }
  for (const std::string value : {"1", "null", "{}", "\"F32\"", "[0]", "[0,4,4]", "[]"}) {
    check_refused(folder, R"({"x":{"dtype":"F32","shape":[1],"data_offsets":)" + value + "}}", four,
                  "data_offsets are not two numbers");
  }
  check_refused(folder, R"({"x":{"dtype":["F32"],"shape":[1],"data_offsets":[0,4]}})", four,
                "its dtype is not one of");
  check_refused(folder, R"({"x":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", four,
                "its shape is not a list");
  check_refused(folder, R"({"x":[1]})", four, "needs dtype, shape and data_offsets");
}

TEST_CASE("a name that is used twice is refused at every level") {
  const ScratchFolder folder;
  const std::string four(4, '\0');
  check_refused(folder, R"({"__metadata__":{"a":"1","a":"2"}})", "", "'a' is used twice");
  check_refused(folder, R"({"__metadata__":{},"__metadata__":{}})", "", "used twice");
  check_refused(folder, R"({"x":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                four, "the name 'dtype' is used twice");
  check_refused(folder, R"({"x":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})",
                four, "the name 'shape' is used twice");
  check_refused(folder,
                R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"data_offsets":[0,4]}})",
                four, "the name 'data_offsets' is used twice");
}

TEST_CASE("lists that nest too deep are refused whatever their depth") {
  const ScratchFolder folder;
  constexpr std::size_t kDeep = 10'000'000;
  for (const std::string& open : {std::string("["), std::string("{\"a\":")}) {
    std::string nested;
    while (nested.size() < kDeep) nested += open;
    check_refused(folder, nested, "", "nest deeper than 64");
    check_refused(folder, R"({"x":{"dtype":"F32","shape":)" + nested, "", "nest deeper than 64");
  }
}

// This would take minutes if the time grew with the square of the number of names.
TEST_CASE("fifty thousand names are written, read and loaded") {
  const ScratchFolder folder;
  nn::StateDict state;
  for (int i = 0; i < 50'000; ++i) state.emplace_back(as_text("layer.", i), tensor(i));
  nn::save_safetensors(folder / "many", state);
  const nn::Safetensors loaded = nn::load_safetensors(folder / "many");
  REQUIRE(loaded.tensors.size() == state.size());
  CHECK(std::next(loaded.tensors.begin(), 12'345)->first == "layer.12345");
  CHECK(loaded.tensors.at("layer.12345").item<int>() == 12'345);
  nn::Linear module(1, 1);
  CHECK_NOTHROW(module.load_state_dict(loaded.tensors, /*strict=*/false));
}

TEST_CASE("a path that is not a regular file is refused without waiting") {
  const ScratchFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const fs::path& path : {folder / "pipe", folder / ".", fs::path("/dev/zero")}) {
    CHECK_THROWS_AS(nn::load_safetensors(path), IoError);
    CHECK_THROWS_WITH(nn::load_safetensors(path),
                      Catch::Matchers::ContainsSubstring("is not a regular file"));
  }
}

TEST_CASE(
    "undefined tensors and tensors that are too large are refused before anything is written") {
  const ScratchFolder folder;
  const Tensor large = zeros({1}, float64).expand({std::int64_t{1} << 60});
  CHECK_THROWS_WITH(nn::save_safetensors(folder / "large", {{"a", large}}),
                    Catch::Matchers::ContainsSubstring("beyond 2^63 bytes"));
  const Tensor half = zeros({1}, float64).expand({std::int64_t{1} << 59});
  CHECK_THROWS_WITH(nn::save_safetensors(folder / "large", {{"a", half}, {"b", half}}),
                    Catch::Matchers::ContainsSubstring("beyond 2^63 bytes"));
  CHECK_THROWS_WITH(nn::save_safetensors(folder / "large", {{"a", Tensor()}}),
                    Catch::Matchers::ContainsSubstring("'a' is undefined"));
  const Tensor deep = zeros(Shape(std::vector<std::int64_t>(65, 1)));
  CHECK_THROWS_WITH(nn::save_safetensors(folder / "deep", {{"a", deep}}),
                    Catch::Matchers::ContainsSubstring("'a' has more than 64 dimensions"));
  CHECK(files_in(folder) == 0);
}

TEST_CASE("a header length that the file cannot hold is refused before anything is allocated") {
  const ScratchFolder folder;
  for (const std::uint64_t length :
       {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0} - 1}) {
    CHECK_THROWS_AS(nn::load_safetensors(write_raw(folder, "{}", "", length)), IoError);
  }
  std::ofstream(folder / "short") << "abc";
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "short"),
                    Catch::Matchers::ContainsSubstring("too short"));
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "absent"),
                    Catch::Matchers::ContainsSubstring("cannot be opened"));
}

TEST_CASE("names that cannot be stored are refused, and the old file stays") {
  const ScratchFolder folder;
  const fs::path path = folder / "c.safetensors";
  nn::save_safetensors(path, {{"x", ones({2})}});
  const std::string before = content_of(path);
  for (const std::string name : {"", "__metadata__", "\xff\xfe"}) {
    CHECK_THROWS_AS(nn::save_safetensors(path, {{name, ones({1})}}), IoError);
  }
  CHECK_THROWS_AS(nn::save_safetensors(path, {{"x", ones({1})}, {"x", ones({1})}}), IoError);
  CHECK_THROWS_AS(nn::save_safetensors(folder / "no/such/folder", {{"x", ones({1})}}), IoError);
  CHECK(content_of(path) == before);
  CHECK(files_in(folder) == 1);
}

TEST_CASE("metadata that is too long for readers is refused, and the old file stays") {
  const ScratchFolder folder;
  const fs::path path = folder / "d.safetensors";
  const nn::StateDict state{{"x", ones({2})}};
  nn::save_safetensors(path, state);
  CHECK_THROWS_WITH(
      nn::save_safetensors(path, state, {.metadata = {{"k", std::string(100'000'000, 'x')}}}),
      Catch::Matchers::ContainsSubstring("but readers accept at most 100000000"));
  CHECK(equal(nn::load_safetensors(path).tensors.at("x"), ones({2})));
}

TEST_CASE("a module has the same results after its weights were saved and loaded") {
  const ScratchFolder folder;
  const attention::MultiHeadAttention from(3, 4, 6, 0.0, 2);
  nn::save_safetensors(folder / "m.safetensors", from.state_dict());
  attention::MultiHeadAttention to(3, 4, 6, 0.0, 2);
  to.load_state_dict(nn::load_safetensors(folder / "m.safetensors").tensors);
  const Tensor x = rand({2, 5, 3});
  CHECK(to(x).to_vector<float>() == from(x).to_vector<float>());
}

TEST_CASE("a file of another format is refused as a safetensors file") {
  const ScratchFolder folder;
  nn::save_npy(folder / "a.npy", ones({3}));
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "a.npy"),
                    Catch::Matchers::ContainsSubstring("not a safetensors file"));
}

TEST_CASE("safetensors files with false headers are refused") {
  const auto load = [](const auto& path) { nn::load_safetensors(path); };
  CHECK(test::check_hostile(".safetensors", load) == 12);
}
