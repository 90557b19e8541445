// tests/data/pt/tar*.pt: files as torch.save wrote them before 0.1.10 (tests/data/make_tar.py).
#include <cstdio>
#include <string>
#include <vector>

#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/archives/pt_values.h"
#include "tests/nn/files/damage.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t kBlock = 512;

std::string octal_size(std::size_t number) {
  char text[12];
  std::snprintf(text, sizeof text, "%011zo", number);
  return {text, sizeof text};
}

// The header of a file in a tar archive, whose size may be any text.
std::string tar_header(const std::string& name, const std::string& size, char type = '0') {
  std::string block(kBlock, '\0');
  block.replace(0, name.size(), name);
  block.replace(124, size.size(), size);
  block[156] = type;
  block.replace(257, 8,
                std::string("ustar\0"
                            "00",
                            8));
  block.replace(148, 8, "        ");
  std::size_t sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  char text[8];
  std::snprintf(text, sizeof text, "%06zo", sum);
  return block.replace(148, 7, std::string(text, 7));
}

std::string tar_file(const std::string& name, std::string content, char type = '0') {
  const std::string header = tar_header(name, octal_size(content.size()), type);
  content.resize((content.size() + kBlock - 1) / kBlock * kBlock);
  return header + content;
}

std::string tar_end() {
  return std::string(2 * kBlock, '\0');
}

std::string eight_bytes(std::int64_t number) {
  return {reinterpret_cast<const char*>(&number), 8};
}

// A pickle of an integer below 256.
std::string byte_pickle(int number) {
  return std::string("\x80\2K") + static_cast<char>(number) + '.';
}

// The tables of a tar with one storage, 7, of two floats, and one tensor of it, 9.
struct Tables {
  std::string count = byte_pickle(1);
  std::string key = std::string("K\7");
  std::string type = "ctorch\nFloatStorage\n";
  std::string elements = eight_bytes(2) + std::string("\0\0\0\x3f\0\0\0\x40", 8);
  std::string views = "\x80\2].";
  std::string tensor_count = byte_pickle(1);
  std::string tensor_storage = std::string("K\7");
  std::string layout =
      std::string("\1\0\0\0\0\0\0\0", 8) + eight_bytes(2) + eight_bytes(1) + eight_bytes(0);
  std::string value = std::string("\x80\2U\0019Q.", 7);

  std::string storages() const {
    return count + "\x80\2(" + key + "X\3" + std::string(3, '\0') + "cpu" + type + "t." + elements +
           views;
  }
  std::string tensors() const {
    return tensor_count + "\x80\2(K\11" + tensor_storage + "ctorch\nFloatTensor\nt." + layout;
  }
  std::string files() const {
    return tar_file("storages", storages()) + tar_file("tensors", tensors()) +
           tar_file("pickle", value);
  }
};

nn::PtValue load_tar(const std::string& content) {
  const ScratchFolder folder;
  write_content(folder / "a.pt", content);
  return nn::load_pt(folder / "a.pt");
}

void check_tar_refused(const std::string& content, const std::string& why) {
  INFO(why);
  CHECK_THROWS_AS(load_tar(content), IoError);
  CHECK_THROWS_WITH(load_tar(content), ContainsSubstring("[load_pt] ") &&
                                           ContainsSubstring("a.pt") && ContainsSubstring(why));
}

// With one part of the tables changed.
void check_tables_refused(std::string Tables::*part, const std::string& text,
                          const std::string& why) {
  Tables tables;
  tables.*part = text;
  check_tar_refused(tables.files() + tar_end(), why);
}

}  // namespace

TEST_CASE("pt files of before PyTorch 0.1.10 are read as torch.load reads them") {
  const nlohmann::json wanted = nlohmann::json::parse(std::ifstream(pt_folder() / "tar.json"));
  CHECK(wanted.size() == 2);
  for (const auto& [name, value] : wanted.items()) {
    INFO(name);
    check_value(nn::load_pt(pt_folder() / name), value);
  }
  const nn::PtValue value = nn::load_pt(pt_folder() / "tar.pt");
  const auto tensor = [&](const char* name) { return *value.at(name).as<Tensor>(); };
  tensor("base").fill_(-1);
  for (const char* name : {"matrix", "transposed", "tail", "again", "steps"}) {
    INFO(name);
    CHECK((tensor(name) == -1).all().item<bool>());
  }
}

TEST_CASE("a tar of torch.save is read whatever else lies in it, and nothing is unpacked") {
  const Tables tables;
  for (const std::string& content :
       {tables.files() + tar_end(), tables.files() + tar_end() + tar_end(),
        tar_file("../evil", "x") + tables.files() + tar_end(),
        tar_file("/tmp/evil", "") + tables.files() + tar_end(),
        tar_file("x", "20 mtime=1480000.25\n", 'x') + tables.files() + tar_end()}) {
    const ScratchFolder folder;
    CHECK(load_tar(content).as<Tensor>()->to_vector<float>() == std::vector<float>{0.5f, 2.0f});
    CHECK_FALSE(std::filesystem::exists(folder / "../evil"));
  }
}

TEST_CASE("tar archives that are none, or have other entries than files, are refused") {
  const std::string good = Tables().files(), end = tar_end();
  const auto of = [&](const std::string& header) { return header + good + end; };
  for (const char type : {'1', '2', '3', '5', '6', '7', 'L', 'K', 'S', 'M', 'D', 'V', 'X'})
    check_tar_refused(of(tar_file("more", "x", type)), "'more' is no regular file");
  check_tar_refused(of(tar_file("x", "9 path=a\n", 'x')), "the attribute 'path' is not read");
  check_tar_refused(of(tar_file("x", "9 size=9\n", 'x')), "the attribute 'size' is not read");
  check_tar_refused(of(tar_file("x", "22 GNU.sparse.major=1\n", 'g')), "'GNU.sparse.major'");
  for (const std::string text : {"x", "0 a=b\n", "99 a=b\n", "-5 a=b\n", "2 ", "1"})
    check_tar_refused(of(tar_file("x", text, 'x')), "attributes cannot be read");
  check_tar_refused(of(tar_file("x", std::string(70'000, 'a'), 'x')), "attributes of 70000 bytes");
  check_tar_refused(of(tar_file("pickle", "")), "the name 'pickle' is used twice");
  check_tar_refused(tar_header("more", octal_size(1)) + end.substr(0, 0), "leaves the archive");
  for (const std::string size : {"99999999999", "\x80\0\0\0\0\0\0\0\0\0\0\1", "", "x", "-1", "8"})
    check_tar_refused(of(tar_header("more", size)), "'more' leaves the archive");
  std::string changed = of("");
  changed[0] = 't';
  check_tar_refused(changed, "the header at 0 has another checksum");
  check_tar_refused(good, "ends too early");
  check_tar_refused(good + end.substr(0, kBlock), "ends too early");
  check_tar_refused(good + end + "x", "ends too early");
  check_tar_refused(good + end + std::string(kBlock, 'x'), "something follows the archive's end");
  check_tar_refused(good + end.substr(0, kBlock) + good + end, "something follows");
  for (const std::string name : {"storages", "tensors", "pickle"}) {
    std::string other = of("");
    other.replace(other.find(name), name.size(), std::string(name.size(), 'x'));
    const std::size_t at = other.find(std::string(name.size(), 'x')) / kBlock * kBlock;
    const std::size_t size = std::stoul(other.substr(at + 124, 11), nullptr, 8);
    other.replace(at, kBlock, tar_header(std::string(name.size(), 'x'), octal_size(size)));
    check_tar_refused(other, "it has no '" + name + "'");
  }
}

TEST_CASE("storages of a tar that cannot be are refused before memory is taken") {
  check_tables_refused(&Tables::count, "\x80\2N.", "does not say how many parts");
  check_tables_refused(&Tables::count, "\x80\2J\xff\xff\xff\xff.", "does not say how many parts");
  check_tables_refused(&Tables::count, "\x80\2J\xff\xff\xff\x7f.", "where a tuple of 3 must be");
  check_tables_refused(&Tables::count, byte_pickle(0), "has no list of views");
  check_tables_refused(&Tables::key, "N", "where a number must be");
  check_tables_refused(&Tables::key, "K\7K\7", "where a tuple of 3 must be");
  check_tables_refused(&Tables::type, "ctorch\nFloatTensor\n",
                       "storage 7 has no class of storages");
  check_tables_refused(&Tables::type, "N", "storage 7 has no class of storages");
  check_tables_refused(&Tables::type, "cposix\nsystem\n", "posix.system");
  check_tables_refused(&Tables::type, "ctorch\nDoubleStorage\n", "of 2 elements does not fit");
  check_tables_refused(&Tables::elements, eight_bytes(std::int64_t{1} << 62), "does not fit");
  check_tables_refused(&Tables::elements, eight_bytes(-1), "does not fit");
  check_tables_refused(&Tables::elements, "", "ends too early");
  const auto views = [](const std::string& view) { return "\x80\2](" + view + "e."; };
  check_tables_refused(&Tables::views, "\x80\2N.", "has no list of views");
  check_tables_refused(&Tables::views, views("(K\10K\7K\1K\2t"), "a view: sizes (2,)");
  check_tables_refused(&Tables::views, views("(K\10K\7J\xff\xff\xff\xffK\2t"), "leave a storage");
  check_tables_refused(&Tables::views, views("(K\10K\7K\1J\xff\xff\xff\xfft"),
                       "a size or stride of -1");
  check_tables_refused(&Tables::views, views("(K\10K\6K\1K\1t"), "there is no storage 6");
  check_tables_refused(&Tables::views, views("(K\7K\7K\1K\1t"), "storage 7 is there twice");
  check_tables_refused(&Tables::views, views("(K\7K\7K\1t"), "where a tuple of 4 must be");
  check_tables_refused(&Tables::views, "\x80\2].x", "1 bytes follow its last part");
}

TEST_CASE("tensors of a tar that leave their storage, and values without a tensor, are refused") {
  const auto layout = [](int dims, const std::string& rest) {
    return static_cast<char>(dims) + std::string(7, '\0') + rest;
  };
  check_tables_refused(&Tables::layout, layout(65, ""), "more than 64 dimensions");
  check_tables_refused(&Tables::layout, "\xff\xff\xff\xff", "ends too early");
  check_tables_refused(&Tables::layout, layout(1, eight_bytes(2) + eight_bytes(1) + eight_bytes(1)),
                       "tensor 9: sizes (2,) with strides (1,) from 1 leave a storage of 2");
  check_tables_refused(&Tables::layout, layout(1, eight_bytes(2) + eight_bytes(2) + eight_bytes(0)),
                       "leave a storage");
  check_tables_refused(&Tables::layout,
                       layout(1, eight_bytes(-1) + eight_bytes(1) + eight_bytes(0)), "of -1");
  check_tables_refused(&Tables::layout,
                       layout(1, eight_bytes(1) + eight_bytes(-1) + eight_bytes(0)), "of -1");
  check_tables_refused(&Tables::layout,
                       layout(1, eight_bytes(1) + eight_bytes(1) + eight_bytes(-1)),
                       "leave a storage");
  check_tables_refused(&Tables::layout, layout(0, eight_bytes(0)) + "x", "1 bytes follow");
  check_tables_refused(&Tables::tensor_storage, "K\6", "there is no storage 6");
  check_tables_refused(&Tables::tensor_count, byte_pickle(2), "ends too early");
  check_tables_refused(&Tables::value, "\x80\2U\0018Q.", "there is no tensor 8");
  check_tables_refused(&Tables::value, "\x80\2U\2x9Q.", "a tensor's number is 'x9'");
  check_tables_refused(&Tables::value, std::string("\x80\2U\0Q.", 6), "a tensor's number is ''");
  check_tables_refused(&Tables::value, "\x80\2)Q.", "where a tensor's number must be");
  check_tables_refused(&Tables::value, "\x80\2ctorch\nFloatStorage\n.", "is no value");
  check_tables_refused(&Tables::value, "\x80\2cposix\nsystem\n.", "posix.system");
  check_tables_refused(&Tables::value, std::string("\x80\2U\0019Q.x", 8), "1 bytes follow");
  Tables twice;
  twice.tensor_count = byte_pickle(2);
  twice.layout += twice.tensors().substr(byte_pickle(2).size());
  check_tar_refused(twice.files() + tar_end(), "tensor 9 is there twice");
}

TEST_CASE("tars of torch.save that end early or have a changed byte are read or refused") {
  std::string content = content_of(pt_folder() / "tar_small.pt");
  // No more than the end's two blocks of the zeros that Python writes.
  content.resize((content.find_last_not_of('\0') / kBlock + 3) * kBlock);
  CHECK(load_damaged(content, content.size(), 1 << 16,
                     [](const auto& path) { nn::load_pt(path); }) > content.size());
}
