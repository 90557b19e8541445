#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tend/core/build_info.h>
#include <tend/nn/archives/npz.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/files/damage.h"
#include "tests/nn/files/expected.h"
#include "tests/nn/files/hostile.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

void check_npz_refused(const std::string& content, const std::string& why) {
  const ScratchFolder folder;
  write_content(folder / "a.npz", content);
  CHECK_THROWS_AS(nn::load_npz(folder / "a.npz"), IoError);
  CHECK_THROWS_WITH(nn::load_npz(folder / "a.npz"), ContainsSubstring("[load_npz] ") &&
                                                        ContainsSubstring("a.npz") &&
                                                        ContainsSubstring(why));
}

// Replaces each `from` in `content` by `to`, which has the same length.
std::string with(std::string content, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  std::size_t at = content.find(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = content.find(from, at + 1))
    content.replace(at, from.size(), to);
  return content;
}

nn::StateDict some_arrays() {
  return {{"weight", tensor({{1, 2, 3}, {4, 5, 6}}).t()},
          {"Gr\xC3\xB6\xC3\x9F"
           "e/a",
           tensor({0.5, -0.0}, float64)},
          {"flags", tensor({true, false})},
          {"nothing", zeros({0, 3})},
          {"zeros", zeros({100, 100})},
          {"", tensor(7)}};
}

}  // namespace

TEST_CASE("build_info says what tend::archives was built with") {
  CHECK_THAT(build_info().archives, ContainsSubstring("libzip 1."));
}

TEST_CASE("npz files, stored and deflated, are read as NumPy reads them") {
  for (const std::string name : {"stored.npz", "deflated.npz", "empty.npz"}) {
    INFO(name);
    const auto& wanted = numpy_files().at("read").at(name);
    const nn::StateDict arrays = nn::load_npz(npy_folder() / name);
    REQUIRE(arrays.size() == wanted.size());
    for (const auto& [key, array] : wanted.items()) {
      INFO(key);
      check_same(arrays.at(key), array);
    }
  }
}

TEST_CASE("a tensor saved to a stored or deflated npz file is loaded unchanged") {
  const ScratchFolder folder;
  for (const bool compressed : {false, true}) {
    nn::save_npz(folder / "a", some_arrays(), {.compressed = compressed});
    CHECK((content_of(folder / "a").size() < 40'000) == compressed);
    const nn::StateDict back = nn::load_npz(folder / "a");
    REQUIRE(back.size() == some_arrays().size());
    auto at = back.begin();
    for (const auto& [name, array] : some_arrays()) {
      INFO(name);
      CHECK(at->first == name);
      CHECK(at->second.dtype() == array.dtype());
      CHECK(equal(at->second, array));
      ++at;
    }
  }
  nn::save_npz(folder / "empty", {});
  CHECK(nn::load_npz(folder / "empty").empty());
}

namespace {

std::set<std::string> names_of_mapped(const nn::StateDict& arrays) {
  std::set<std::string> names;
  for (const auto& [name, array] : arrays)
    if (array.array().storage()->is_borrowed()) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("mapped npz arrays equal the loaded ones and their elements stay in the file") {
  const ScratchFolder folder;
  const nn::StateDict arrays = some_arrays();
  for (const bool compressed : {false, true}) {
    INFO(compressed);
    nn::save_npz(folder / "a", arrays, {.compressed = compressed});
    const nn::StateDict mapped = nn::load_npz(folder / "a", {.mmap = true});
    CHECK(mapped == nn::load_npz(folder / "a"));
    // Neither bools nor empty tensors are mapped.
    const std::set<std::string> wanted{"", "weight", std::next(arrays.begin())->first, "zeros"};
    CHECK(names_of_mapped(mapped) == (compressed ? std::set<std::string>() : wanted));
  }
  for (const std::string name : {"stored.npz", "deflated.npz", "empty.npz"}) {
    INFO(name);
    const nn::StateDict mapped = nn::load_npz(npy_folder() / name, {.mmap = true});
    for (const auto& [key, array] : numpy_files().at("read").at(name).items())
      check_same(mapped.at(key), array);
    CHECK(names_of_mapped(mapped) ==
          (name == "stored.npz" ? std::set<std::string>{"weight"} : std::set<std::string>()));
  }
}

TEST_CASE(
    "mapped npz arrays need no memory for elements and writing to them never changes the file") {
  const ScratchFolder folder;
  nn::save_npz(folder / "a", {{"first", arange(5000, float32)}, {"x", arange(5000)}});
  const std::string before = content_of(folder / "a");
  const std::int64_t live = live_memory();
  nn::StateDict mapped = nn::load_npz(folder / "a", {.mmap = true});
  CHECK(live_memory() - live < 2000);  // the elements have 60,000 bytes
  mapped.at("x").mul_(2);
  CHECK(mapped.at("x")[4999].item<std::int64_t>() == 9998);
  CHECK(mapped.at("first")[4999].item<float>() == 4999);
  CHECK(content_of(folder / "a") == before);
  // The mapping lives as long as any tensor uses it.
  const Tensor one = mapped.at("first");
  mapped = {};
  nn::save_npz(folder / "a", {});
  CHECK(one[4999].item<float>() == 4999);
}

// Writes more than 4 GiB of zeros, which are holes in the file, and then an entry whose position
// needs 64 bits.
TEST_CASE("entries of zip archives may be larger than 4 GiB", "[slow]") {
  const std::string block(std::size_t{1} << 20, '\0');
  const std::vector<std::string_view> parts(4097, block);
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "a.zip";
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](std::uint64_t position, const void* data, std::size_t bytes) {
    const std::string_view text(static_cast<const char*>(data), bytes);
    if (text.find_first_not_of('\0') == std::string_view::npos) return;
    file.seekp(static_cast<std::streamoff>(position));
    file.write(text.data(), static_cast<std::streamsize>(bytes));
  };
  nn::put_zip({"put_zip", path}, {{"zeros", parts}, {"last", {"the end"}}}, /*compressed=*/false,
              put);
  file.close();
  REQUIRE(file);
  const nn::ZipReader reader(path, "read");
  CHECK(reader.read_all("last", 100) == "the end");
  nn::ZipReader::Entry zeros = reader.open("zeros");
  REQUIRE(zeros.size() == parts.size() * block.size());
  std::string got(block.size(), 'x');
  zeros.read(got.data(), got.size());
  CHECK(zeros.position().value_or(1) % 64 == 0);
  for (std::size_t i = 1; i < parts.size(); ++i) zeros.read(got.data(), got.size());
  CHECK(got == block);
  zeros.finish();
}

TEST_CASE("names that an npz archive cannot store are refused before anything is written") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& why) {
    CHECK_THROWS_WITH(nn::save_npz(folder / "a", {{"x", tensor(1)}, {name, tensor(2)}}),
                      ContainsSubstring("[save_npz] ") && ContainsSubstring(why));
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
  };
  refused("x", "'x.npy' is used twice");
  refused("\xFF", "not UTF-8");
  refused(std::string("a\0b", 3), "zero byte");
  refused(std::string(65'532, 'a'), "too long");
  CHECK_THROWS_WITH(nn::save_npz(folder / "a", {{"x", Tensor()}}),
                    ContainsSubstring("'x': the tensor is undefined"));
}

TEST_CASE("an npz file keeps names with any other character") {
  const ScratchFolder folder;
  nn::StateDict saved;
  for (int c = 1; c <= 0x7f; ++c) {
    const char name = static_cast<char>(c);
    if (c >= ' ' || name == '\t' || name == '\n' || name == '\r')
      saved.emplace_back(std::string(1, name) + "\u00e9", tensor(c));
  }
  saved.emplace_back("", tensor(0));
  nn::save_npz(folder / "a", saved);
  CHECK(nn::load_npz(folder / "a") == saved);
}

TEST_CASE("loading an npz archive leaves out and lists an entry of an unsupported dtype") {
  const ScratchFolder folder;
  nn::save_npz(folder / "a", {{"aa", tensor({1., 2.})}, {"bb", tensor({1, 2})}});
  const std::string good = content_of(folder / "a");
  write_content(folder / "text", with(good, "<f4", "<U1"));
  const nn::NpzFile file = nn::load_npz(folder / "text");
  REQUIRE(file.left_out.size() == 1);
  CHECK(file.left_out[0].name == "aa");
  CHECK_THAT(file.left_out[0].why, ContainsSubstring("text (dtype '<U1') cannot be read"));
  CHECK(file.size() == 1);
  CHECK(equal(file.at("bb"), tensor({1, 2})));
  nn::save_npz(folder / "b", {{"aa", tensor({1., 2.})}});
  check_npz_refused(with(content_of(folder / "b"), "<f4", "<U1"), "cannot be read");
}

TEST_CASE("npz archives that are damaged or cut short are refused with the reason") {
  const ScratchFolder folder;
  nn::save_npz(folder / "a", {{"aa", tensor({1, 2})}, {"bb", tensor({1, 2})}});
  const std::string good = content_of(folder / "a");
  check_npz_refused(with(good, "bb.npy", "aa.npy"), "is used twice");
  check_npz_refused(with(good, "bb.npy", "bb.txt"), "'bb.txt' is not a .npy file");
  check_npz_refused("", "is empty");
  check_npz_refused("PK", "is not a zip archive, or was cut short");
  check_npz_refused(good.substr(0, good.size() - 1), "is not a zip archive, or was cut short");
  // Changes the second value of the first array, which then differs from its checksum.
  std::string changed = good;
  changed[good.find(std::string("\1\0\0\0\0\0\0\0\2", 9)) + 8] = 3;
  check_npz_refused(changed, "'aa.npy' cannot be read: CRC error");
  CHECK_THROWS_WITH(nn::load_npz("/dev/zero"), ContainsSubstring("is not a regular file"));
  CHECK_THROWS_WITH(nn::load_npz(folder / "absent"), ContainsSubstring("cannot be opened"));
}

TEST_CASE("a truncated or changed npz file is either read or refused") {
  std::vector<std::string> contents{content_of(npy_folder() / "stored.npz"),
                                    content_of(npy_folder() / "deflated.npz")};
  const ScratchFolder folder;
  nn::save_npz(folder / "a", {{"a", tensor({1, 2, 3})}, {"b", tensor({0.5})}});
  contents.push_back(content_of(folder / "a"));
  for (const std::string& content : contents) {
    for (const bool mmap : {false, true}) {
      // The arrays take 4 KiB. A changed size of a deflated entry may ask for a thousand times the
      // bytes of the entry.
      CHECK(load_damaged(content, content.size(), 1 << 20, [&](const auto& path) {
              nn::load_npz(path, {.mmap = mmap});
            }) > content.size());
    }
  }
}

TEST_CASE("hostile npz files are refused") {
  for (const bool mmap : {false, true}) {
    INFO(mmap);
    CHECK(check_hostile(".npz", [&](const auto& path) { nn::load_npz(path, {.mmap = mmap}); }) ==
          18);
  }
}
