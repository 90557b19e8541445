#include <set>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/files/damage.h"
#include "tests/nn/files/expected.h"
#include "tests/nn/files/hostile.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string npy_of(const std::string& header, const std::string& data) {
  std::string text("\x93NUMPY\1\0", 8);
  text += {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  return text + header + data;
}

void check_npy_refused(const std::string& content, const std::string& why) {
  const ScratchFolder folder;
  write_content(folder / "a.npy", content);
  INFO(content);
  CHECK_THROWS_AS(nn::load_npy(folder / "a.npy"), IoError);
  CHECK_THROWS_WITH(nn::load_npy(folder / "a.npy"), ContainsSubstring("[load_npy] ") &&
                                                        ContainsSubstring("a.npy: ") &&
                                                        ContainsSubstring(why));
}

}  // namespace

TEST_CASE("npy files of every dtype, byte order, version and layout are read as by NumPy") {
  std::size_t count = 0;
  for (const auto& [name, wanted] : numpy_files().at("read").items()) {
    if (!name.ends_with(".npy")) continue;
    INFO(name);
    check_same(nn::load_npy(npy_folder() / name), wanted);
    ++count;
  }
  CHECK(count == 27);
  const Tensor fortran = nn::load_npy(npy_folder() / "fortran.npy");
  CHECK(fortran.strides() == Shape{1, 2, 6});
}

TEST_CASE("an npy file of another dtype is refused with the name of the dtype") {
  const auto& refused = numpy_files().at("refused");
  REQUIRE(refused.size() == 11);
  for (const auto& [name, words] : refused.items()) {
    INFO(name);
    CHECK_THROWS_AS(nn::load_npy(npy_folder() / name), IoError);
    CHECK_THROWS_WITH(nn::load_npy(npy_folder() / name),
                      ContainsSubstring(words.get<std::string>()) && ContainsSubstring(name));
  }
}

TEST_CASE("npy files that tend writes have NumPy's bytes and are read as the same tensors") {
  const ScratchFolder folder;
  for (const std::string name : {"b1", "i8", "f4", "f8", "scalar", "nothing"}) {
    INFO(name);
    const auto original = npy_folder() / (name + ".npy");
    nn::save_npy(folder / name, nn::load_npy(original));
    const std::string written = content_of(folder / name), wanted = content_of(original);
    // NumPy leaves room for the first size to grow, so only the number of spaces may differ.
    CHECK(written.size() % 64 == wanted.size() % 64);
    CHECK(written.substr(0, 60) == wanted.substr(0, 60));
    check_same(nn::load_npy(folder / name), numpy_files().at("read").at(name + ".npy"));
  }
  nn::save_npy(folder / "t", tensor({{1, 2, 3}, {4, 5, 6}}).t());
  CHECK(nn::load_npy(folder / "t").to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("an npy header that NumPy would not write is refused with the reason") {
  const std::string four(4, '\0');
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
  const auto with = [&](const std::string& descr, const std::string& order,
                        const std::string& shape) {
    return npy_of(
        "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}", four);
  };
  const ScratchFolder folder;
  for (const std::string& content :
       {npy_of(good, four), with("'<f4'", "True", "(1L,)"), with("\"=f4\"", "False", "( 1 , )"),
        with("'<f4'", "False", "(1, 1)"), with("'|u1'", "False", "(4,)"),
        with("'float32'", "False", "(1,)")}) {
    write_content(folder / "good", content);
    INFO(content);
    CHECK_NOTHROW(nn::load_npy(folder / "good"));
  }
  check_npy_refused(npy_of(good, four + "x"), "takes 4 bytes, but 5 follow");
  check_npy_refused(npy_of(good, "abc"), "takes 4 bytes, but 3 follow");
  check_npy_refused(npy_of("", four), "it is not a dict");
  check_npy_refused(npy_of(good + "x", four), "it is not a dict");
  check_npy_refused(npy_of("{}", four), "no 'descr'");
  check_npy_refused(npy_of("{'descr': '<f4'}", four), "no 'fortran_order'");
  check_npy_refused(npy_of("{'descr': '<f4', 'fortran_order': True}", four), "no 'shape'");
  check_npy_refused(npy_of("{'descr': '<f4", four), "it is not a dict");
  check_npy_refused(with("'f4'", "False", "(1,)"), "does not say its byte order");
  check_npy_refused(with("'|f4'", "False", "(1,)"), "does not say its byte order");
  check_npy_refused(with("'<f3'", "False", "(1,)"), "cannot be read");
  check_npy_refused(with("''", "False", "(1,)"), "cannot be read");
  check_npy_refused(with("[('a', '<f4')]", "False", "(1,)"), "structures cannot be read");
  check_npy_refused(with("'<f4'", "0", "(1,)"), "neither True nor False");
  check_npy_refused(with("'<f4'", "False", "[1]"), "is not a tuple");
  check_npy_refused(with("'<f4'", "False", "(-1,)"), "is not a size");
  check_npy_refused(with("'<f4'", "False", "(1.0,)"), "is not a size");
  check_npy_refused(with("'<f4'", "False", "(99999999999999999999,)"), "is not a size");
  check_npy_refused(with("'<f4'", "False", "(4611686018427387904, 4)"), "beyond 2^63 bytes");
  check_npy_refused(with("'<f4'", "False", "(0, 4611686018427387904, 4)"), "beyond 2^63 bytes");
  check_npy_refused(with("'<f4'", "False", "(1000000000000,)"), "takes 4000000000000 bytes");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  check_npy_refused(with("'<f4'", "False", many + ")"), "more than 64 dimensions");
}

TEST_CASE("npy files of unknown versions and files of other formats are refused") {
  const std::string good = content_of(npy_folder() / "f4.npy");
  std::string changed = good;
  changed[6] = 4;
  check_npy_refused(changed, "version 4.0 of .npy is unknown");
  changed[6] = 1;
  changed[7] = 1;
  check_npy_refused(changed, "version 1.1 of .npy is unknown");
  check_npy_refused("PK" + good, "is not a .npy file");
  check_npy_refused("", "too short");
  check_npy_refused(std::string("\x93NUMPY\2\0\0\0\0\xff", 12), "a header of 4278190080 bytes");
  CHECK_THROWS_WITH(nn::load_npy("/dev/zero"), ContainsSubstring("is not a regular file"));
}

TEST_CASE("tensors that npy files cannot store are refused before anything is written") {
  const ScratchFolder folder;
  CHECK_THROWS_WITH(nn::save_npy(folder / "a", Tensor()), ContainsSubstring("undefined"));
  CHECK_THROWS_WITH(nn::save_npy(folder / "a", ones(Shape::filled(65, 1))),
                    ContainsSubstring("NumPy allows at most 64 dimensions, got 65"));
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
}

TEST_CASE("npy files that end early are refused, and changed bytes do no harm") {
  for (const std::string name : {"f4", "u8_big", "version3", "nothing_fortran", "scalar"}) {
    INFO(name);
    // 1 MiB is far more than these tensors need, and far less than a changed size could ask for.
    CHECK(load_damaged(content_of(npy_folder() / (name + ".npy")), 128, 1 << 20,
                       [](const auto& path) { nn::load_npy(path); }) > 500);
  }
}

TEST_CASE("tensors of mapped npy files are the same, and their elements stay in the file") {
  std::set<std::string> mapped_files;
  for (const auto& [name, wanted] : numpy_files().at("read").items()) {
    if (!name.ends_with(".npy")) continue;
    INFO(name);
    const Tensor mapped = nn::load_npy(npy_folder() / name, {.mmap = true});
    check_same(mapped, wanted);
    CHECK(mapped.strides() == nn::load_npy(npy_folder() / name).strides());
    if (mapped.array().storage()->is_borrowed()) mapped_files.insert(name);
  }
  // Files with other dtypes, the other byte order or no elements are not mapped.
  CHECK(mapped_files == std::set<std::string>{"f4.npy", "f8.npy", "i8.npy", "scalar.npy"});
  for (const auto& [name, words] : numpy_files().at("refused").items()) {
    INFO(name);
    CHECK_THROWS_WITH(nn::load_npy(npy_folder() / name, {.mmap = true}),
                      ContainsSubstring(words.get<std::string>()));
  }
}

TEST_CASE("writing to a mapped npy file's tensor never changes the file") {
  const ScratchFolder folder;
  nn::save_npy(folder / "a", arange(5000, float32));
  const std::string before = content_of(folder / "a");
  const std::int64_t live = live_memory();
  Tensor mapped = nn::load_npy(folder / "a", {.mmap = true});
  CHECK(live_memory() - live < 1000);  // the file has 20,000 bytes
  mapped.mul_(2);
  CHECK(mapped[4999].item<float>() == 9998);
  CHECK(content_of(folder / "a") == before);
  CHECK(nn::load_npy(folder / "a", {.mmap = true})[4999].item<float>() == 4999);
}

TEST_CASE("npy files in Fortran order can be mapped, and unaligned files are read") {
  const ScratchFolder folder;
  const float elements[] = {1, 2, 3, 4, 5, 6};
  const std::string data(reinterpret_cast<const char*>(elements), sizeof elements);
  std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}";
  while (header.size() % 4 != 2) header += ' ';  // ten bytes come before it
  for (const bool is_aligned : {true, false}) {
    write_content(folder / "a", npy_of(header, data));
    const Tensor mapped = nn::load_npy(folder / "a", {.mmap = true});
    CHECK(mapped.array().storage()->is_borrowed() == is_aligned);
    CHECK(mapped.strides() == Shape{1, 2});
    CHECK(mapped.to_vector<float>() == std::vector<float>{1, 3, 5, 2, 4, 6});
    header += ' ';
  }
}

TEST_CASE("damaged npy files are also refused when they are mapped") {
  for (const std::string name : {"f4.npy", "u8.npy"}) {
    const std::string content = content_of(npy_folder() / name);
    const auto load = [](const auto& path) { nn::load_npy(path, {.mmap = true}); };
    CHECK(load_damaged(content, 128, 10'000, load) > content.size());
  }
}

TEST_CASE("npy files with false headers are refused") {
  CHECK(check_hostile(".npy", [](const auto& path) { nn::load_npy(path); }) == 8);
}
