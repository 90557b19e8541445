#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <tend/nn/files/safetensors_file.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/files/damage.h"
#include "tests/nn/files/hostile.h"
#include "tests/threads.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

nn::StateDict weights() {
  return {{"a", arange(6, float32).view({2, 3})},
          {"b", tensor({0.5, -2.5}, float64)},
          {"c", tensor({1, 2, 3})},
          {"number", tensor(7)},
          {"nothing", zeros({0, 3})},
          {"flags", tensor({true, false, true})}};
}

void check_equal(const Tensor& got, const Tensor& wanted) {
  CHECK(got.dtype() == wanted.dtype());
  CHECK(got.shape() == wanted.shape());
  CHECK(equal(got, wanted));
}

bool is_mapped(const Tensor& x) {
  return x.array().storage()->is_borrowed();
}

// Writes two files and their index.
void write_parts(const ScratchFolder& folder, const std::string& weight_map) {
  nn::save_safetensors(folder / "one", {{"a", ones({2})}, {"b", tensor(1)}}, {{"from", "one"}});
  nn::save_safetensors(folder / "two", {{"b", tensor(2)}, {"c", tensor(3)}},
                       {{"from", "two"}, {"more", "text"}});
  write_content(folder / "index.json", "{\"weight_map\": " + weight_map + "}");
}

void check_index_refused(const std::string& weight_map, const std::string& why) {
  const ScratchFolder folder;
  write_parts(folder, weight_map);
  INFO(weight_map);
  for (const bool mmap : {false, true}) {
    CHECK_THROWS_AS(nn::load_safetensors(folder / "index.json", {.mmap = mmap}), IoError);
    CHECK_THROWS_WITH(nn::SafetensorsFile(folder / "index.json", {.mmap = mmap}),
                      ContainsSubstring("[load_safetensors] ") &&
                          ContainsSubstring("index.json: ") && ContainsSubstring(why));
  }
}

}  // namespace

TEST_CASE("an open safetensors file lists its tensors and loads one at a time") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights(), {{"format", "pt"}});
  const nn::SafetensorsFile file(folder / "a");
  std::filesystem::remove(folder / "a");  // an open file can still be read
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}});
  REQUIRE(file.entries().size() == 6);
  std::size_t at = 0;
  for (const auto& [name, wanted] : weights()) {
    const nn::SafetensorsEntry& entry = file.entries()[at++];
    INFO(name);
    CHECK(entry.name == name);
    CHECK(entry.dtype == wanted.dtype());
    CHECK(entry.shape == wanted.shape());
    CHECK(file.contains(name));
    check_equal(file.load(name), wanted);
    CHECK_FALSE(is_mapped(file.load(name)));
  }
  CHECK(file.entries()[0].stored == "F32");
  CHECK(file.entries()[5].stored == "BOOL");
  CHECK_FALSE(file.contains("d"));
  CHECK_THROWS_AS(file.load("d"), IndexError);
  CHECK_THROWS_WITH(file.load("d"), ContainsSubstring("there is no tensor 'd'"));
}

TEST_CASE("the entries of a safetensors file name the dtypes that are stored") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights(), {.dtype = nn::HalfType::bfloat16});
  const nn::SafetensorsFile file(folder / "a", {.mmap = true});
  CHECK(file.entries()[0].stored == "BF16");
  CHECK(file.entries()[0].dtype == float32);
  CHECK(file.entries()[1].stored == "BF16");
  CHECK(file.entries()[2].stored == "I64");
  check_equal(file.load("a"), weights().at("a"));
  check_equal(file.load("b"), weights().at("b").to(float32));
  CHECK_FALSE(is_mapped(file.load("a")));
}

TEST_CASE("float16 and bfloat16 are written on request and only for floating tensors") {
  const ScratchFolder folder;
  const nn::StateDict state{{"x", tensor({1.0, -0.0, 65519.0, 65520.0, 0.1}, float64)},
                            {"long", arange(40'000, float32).view({200, 200}).t()},
                            {"n", tensor({65520})}};
  nn::save_safetensors(folder / "a", state,
                       {.dtype = nn::HalfType::float16, .metadata = {{"k", "v"}}});
  const nn::Safetensors half = nn::load_safetensors(folder / "a");
  CHECK(half.metadata.at("k") == "v");
  CHECK(half.tensors.at("x").to_vector<float>() ==
        std::vector<float>{1, -0.0f, 65504, INFINITY, 0.0999755859375f});
  CHECK(std::signbit(half.tensors.at("x").to_vector<float>()[1]));
  CHECK(half.tensors.at("n").item<std::int64_t>() == 65520);
  // float16 can represent every integer up to 2048, and every multiple of 32 up to 40,000.
  const Tensor steps = half.tensors.at("long").t().reshape({-1}).slice(0, 0, 40'000, 32);
  check_equal(steps, arange(0, 40'000, 32, float32));
  nn::save_safetensors(folder / "b", state, {.dtype = nn::HalfType::bfloat16});
  CHECK(nn::load_safetensors(folder / "b").tensors.at("x").to_vector<float>()[4] == 0.10009765625f);
  CHECK(std::filesystem::file_size(folder / "b") < 2 * 40'005 + 8 + 400);
}

TEST_CASE("mapped tensors of a safetensors file use the file's bytes until they are written to") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights());
  const std::string before = content_of(folder / "a");
  const std::int64_t live = live_memory();
  nn::StateDict mapped = nn::load_safetensors(folder / "a", {.mmap = true}).tensors;
  // Only two small tensors are not mapped: the bools and the empty one.
  CHECK(live_memory() - live < 500);
  for (const auto& [name, wanted] : weights()) {
    INFO(name);
    check_equal(mapped.at(name), wanted);
    CHECK(is_mapped(mapped.at(name)) == (name != "flags" && name != "nothing"));
  }
  mapped.at("a").fill_(9);
  mapped.at("c").add_(1);
  CHECK(mapped.at("a").sum().item<float>() == 54);
  CHECK(mapped.at("c").to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3, 4});
  check_equal(mapped.at("b"), weights().at("b"));
  CHECK(content_of(folder / "a") == before);
  check_equal(nn::load_safetensors(folder / "a").tensors.at("a"), weights().at("a"));
}

TEST_CASE("a mapped tensor outlives its SafetensorsFile and can be used in graphs") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights());
  Tensor a = nn::SafetensorsFile(folder / "a", {.mmap = true}).load("a");
  // Writes another file of the same name. The bytes of the first file stay while the tensor lives.
  nn::save_safetensors(folder / "a", {{"a", zeros({2, 3})}});
  a.requires_grad_();
  (a * a).sum().backward();
  CHECK(equal(a.grad(), 2 * weights().at("a")));
}

TEST_CASE("writing to a mapped tensor does not invalidate graphs that saved others") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights());
  const nn::SafetensorsFile file(folder / "a", {.mmap = true});
  Tensor a = file.load("a"), b = file.load("b");
  a.requires_grad_();
  const Tensor loss = (a * a).sum();
  b.fill_(1);
  CHECK_NOTHROW(loss.backward());
}

TEST_CASE("unaligned elements of a safetensors file are copied and not mapped") {
  const ScratchFolder folder;
  // The header has 7 + 8k bytes, and one bool comes before the float32 elements.
  std::string header =
      R"({"f":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
  while (header.size() % 8 != 7) header += ' ';
  std::string content(8, '\0');
  content[0] = static_cast<char>(header.size());
  const auto written = [&](const std::string& name, const std::string& text) {
    const float elements[] = {1.5f, -2.0f};
    content[0] = static_cast<char>(text.size());
    write_content(folder / name,
                  content + text + '\2' + std::string(reinterpret_cast<const char*>(elements), 8));
    return nn::load_safetensors(folder / name, {.mmap = true}).tensors;
  };
  const nn::StateDict aligned = written("a", header), shifted = written("b", header + ' ');
  CHECK(is_mapped(aligned.at("x")));
  CHECK_FALSE(is_mapped(shifted.at("x")));
  for (const nn::StateDict& state : {aligned, shifted}) {
    CHECK(state.at("x").to_vector<float>() == std::vector<float>{1.5f, -2.0f});
    CHECK(state.at("f").to_vector<bool>() == std::vector<bool>{true});
  }
}

TEST_CASE("a tensor of a file beyond four gigabytes can be read without the others") {
  const ScratchFolder folder;
  constexpr std::int64_t kLarge = std::int64_t{5} << 30;  // bytes
  const std::string large = std::to_string(kLarge), end = std::to_string(kLarge + 8);
  std::string header = R"({"large":{"dtype":"F32","shape":[)" + std::to_string(kLarge / 4) +
                       R"(],"data_offsets":[0,)" + large +
                       R"(]},"last":{"dtype":"F32","shape":[2],"data_offsets":[)" + large + "," +
                       end + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  const auto length = static_cast<std::int64_t>(header.size());
  std::string start(8, '\0');
  start[0] = static_cast<char>(length);
  write_content(folder / "large", start + header);
  const int file = ::open((folder / "large").c_str(), O_WRONLY | O_CLOEXEC);
  const float last[] = {1.5f, -2.5f};
  const bool is_sparse = ::pwrite(file, last, 8, 8 + length + kLarge) == 8;
  ::close(file);
  if (!is_sparse) {
    WARN("this file system has no files of five gigabytes");
    return;
  }
  const std::int64_t live = live_memory();
  reset_peak_memory();
  for (const bool mmap : {false, true}) {
    const nn::SafetensorsFile open(folder / "large", {.mmap = mmap});
    CHECK(open.load("last").to_vector<float>() == std::vector<float>{1.5f, -2.5f});
    if (!mmap) continue;
    Tensor mapped = open.load("large");
    CHECK(mapped.numel() == kLarge / 4);
    CHECK(mapped[-1].item<float>() == 0);
    mapped[-1].fill_(3);
    CHECK(mapped[-1].item<float>() == 3);
    CHECK(mapped[-2].item<float>() == 0);
  }
  CHECK(peak_memory() - live < 1'000'000);
}

TEST_CASE("the tensors of an index are read from the files in its folder") {
  const ScratchFolder folder;
  write_parts(folder, R"({"c": "two", "b": "two", "a": "one"})");
  for (const bool mmap : {false, true}) {
    const nn::SafetensorsFile file(folder / "index.json", {.mmap = mmap});
    REQUIRE(file.entries().size() == 3);
    CHECK(file.entries()[0].name == "a");
    CHECK(file.load("b").item<int>() == 2);
    CHECK(file.load("c").item<int>() == 3);
    CHECK(file.metadata() == std::map<std::string, std::string>{{"from", "one"}, {"more", "text"}});
  }
  CHECK(nn::load_safetensors(folder / "index.json").tensors.size() == 3);
}

TEST_CASE("an index that names a missing tensor or file is refused with the reason") {
  check_index_refused(R"({"a": "two"})", "there is no tensor 'a' in two");
  check_index_refused(R"({"x": "one", "a": "one"})", "there is no tensor 'x' in one");
  check_index_refused(R"({"a": "one", "b": "two", "c": "one"})", "there is no tensor 'c' in one");
  for (const std::string name : {"\"../one\"", "\"/tmp/one\"", "\"\"", "\".\"", "\"..\"",
                                 "\"o/ne\"", R"("one\u0000")", "1", "null", "[]", "{}"}) {
    check_index_refused("{\"a\": " + name + "}",
                        "must name a file in the folder of this index for tensor 'a'");
  }
  check_index_refused("[]", "there is no weight_map");
  check_index_refused("null", "there is no weight_map");
  check_index_refused(R"({"a": "one", "a": "two"})", "the name 'a' is used twice");
  check_index_refused("{", "is not JSON");
  check_index_refused(std::string(100, '['), "nest deeper than 64");
  const ScratchFolder folder;
  write_parts(folder, R"({"a": "absent"})");
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "index.json"),
                    ContainsSubstring("absent: cannot be opened"));
  write_content(folder / "one", "x");
  write_content(folder / "index.json", R"({"weight_map": {"a": "one"}})");
  CHECK_THROWS_WITH(nn::load_safetensors(folder / "index.json"),
                    ContainsSubstring("one: is too short"));
}

TEST_CASE("false indexes are refused") {
  const auto load = [](const auto& path) { nn::load_safetensors(path); };
  CHECK(check_hostile(".index.json", load) == 3);
}

TEST_CASE("damaged safetensors files and indexes are read or refused by an IoError") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", {{"x", ones({2})}, {"y", tensor(3)}}, {{"k", "v"}});
  const std::string content = content_of(folder / "a");
  // The damaged files ask for tensors of at most the file's size.
  for (const bool mmap : {false, true}) {
    const auto load = [&](const auto& path) { nn::load_safetensors(path, {.mmap = mmap}); };
    CHECK(load_damaged(content, content.size(), 10'000, load) > content.size());
  }
}

TEST_CASE("several threads can read one safetensors file") {
  const ScratchFolder folder;
  nn::save_safetensors(folder / "a", weights());
  for (const bool mmap : {false, true}) {
    const nn::SafetensorsFile file(folder / "a", {.mmap = mmap});
    together(4, [&](int) {
      for (int i = 0; i < 50; ++i) {
        for (const auto& [name, wanted] : weights())
          if (!equal(file.load(name), wanted)) throw std::runtime_error(name);
      }
    });
  }
}
