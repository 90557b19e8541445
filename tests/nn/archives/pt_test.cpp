#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/archives/npz.h>
#include <tend/nn/archives/pt.h>
#include <tend/nn/archives/zip_reader.h>
#include <tend/nn/archives/zip_writer.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/archives/pt_values.h"
#include "tests/nn/files/damage.h"
#include "tests/nn/files/expected.h"
#include "tests/nn/files/hostile.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;
using nn::PtDict;
using nn::PtList;
using nn::PtTuple;
using nn::PtValue;

namespace {

const nlohmann::json& torch_files() {
  static const nlohmann::json data =
      nlohmann::json::parse(std::ifstream(pt_folder() / "expected.json"));
  return data;
}

const Tensor& tensor_at(const PtValue& value, const char* key) {
  return *value.at(key).as<Tensor>();
}

// Checks that tensors share a storage: writes to one show in the others.
void check_views(const PtValue& views) {
  const NoGradGuard no_grad;
  Tensor base = tensor_at(views, "base");
  base.fill_(-1);
  for (const char* name : {"matrix", "transposed", "tail", "steps", "scalar", "expanded"}) {
    INFO(name);
    const Tensor& view = tensor_at(views, name);
    CHECK(view.array().storage().get() == base.array().storage().get());
    CHECK((view == -1).all().item<bool>());
  }
  CHECK(tensor_at(views, "other").to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1});
}

void check_pt_refused(const std::string& content, const std::string& why) {
  const ScratchFolder folder;
  write_content(folder / "a.pt", content);
  CHECK_THROWS_AS(nn::load_pt(folder / "a.pt"), IoError);
  CHECK_THROWS_WITH(nn::load_pt(folder / "a.pt"), ContainsSubstring("[load_pt] ") &&
                                                      ContainsSubstring("a.pt: ") &&
                                                      ContainsSubstring(why));
}

// A file in the format before PyTorch 1.6. `storages` is a pickled list of the storages' keys, then
// their element counts and elements.
std::string legacy_of(const std::string& pickle, const std::string& storages = "\x80\x02].") {
  const std::string small = content_of(pt_folder() / "small_legacy.pt");
  const std::size_t object = small.find("\x80\x02}q", small.find("protocol_version"));
  REQUIRE(object != std::string::npos);
  return small.substr(0, object) + "\x80\x02" + pickle + "." + storages;
}

// The pickle of a tensor in the storage '0', which has two floats.
std::string tensor_pickle(const std::string& offset, const std::string& sizes,
                          const std::string& strides, const std::string& numel = "K\2") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((U\7storagectorch\nFloatStorage\nU\1"
         "0U\3cpu" +
         numel + "NtQ" + offset + "(" + sizes + "t(" + strides +
         "t\x89"
         "ccollections\nOrderedDict\n)RtR";
}

// Makes a zip archive with these entries in the folder "archive".
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries,
                   bool compressed = false) {
  std::string content;
  const nn::PutBytesAt put = [&](std::uint64_t position, const void* data, std::size_t bytes) {
    content.resize(std::max<std::size_t>(content.size(), position + bytes));
    content.replace(position, bytes, static_cast<const char*>(data), bytes);
  };
  std::vector<nn::ZipEntry> all;
  for (const auto& [name, text] : entries) all.push_back({"archive/" + name, {text}});
  const std::filesystem::path path = "a.zip";
  nn::put_zip({"zip_of", path}, all, compressed, put);
  return content;
}

// Returns the names and contents of the entries, in order.
std::vector<std::pair<std::string, std::string>> entries_of(const std::filesystem::path& path) {
  const nn::ZipReader archive(path, "entries_of");
  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& name : archive.names())
    entries.emplace_back(name, archive.read_all(name, 1 << 20));
  return entries;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

PtValue some_value() {
  Tensor base = arange(6, float32).view({2, 3});
  Tensor weight = ones({2});
  weight.requires_grad_();
  PtDict dict;
  dict.push_back({"shared", PtTuple{{base, base, base.flatten().slice(0, 2, 4)}}});
  dict.push_back({"weight", weight});
  dict.push_back({"tuple", PtTuple{{1, -2.5, PtValue(), true,
                                    "gr\xC3\xB6\xC3\x9F"
                                    "e",
                                    std::int64_t{1} << 40, -1}}});
  dict.push_back({std::int64_t{7}, PtDict{{"list", PtList{PtList{}, PtDict{}, PtTuple{}}}}});
  return dict;
}

nn::StateDict some_state() {
  const float odd[] = {1.5f, -0.0f, INFINITY, 0x1p-149f, -3e38f, 2.0f};
  const std::int64_t limits[] = {std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};
  return {{"float32", Tensor(Array::from<float>(odd, {2, 3}))},
          {"float64", tensor({0.1, -0.0, 5e-324}, float64)},
          {"int64", Tensor(Array::from<std::int64_t>(limits, {1, 2}))},
          {"bool", tensor({true, false, true})},
          {"scalar", tensor(7)},
          {"nothing", zeros({0, 3})},
          {"transposed", tensor({{1, 2, 3}, {4, 5, 6}}).t()}};
}

}  // namespace

TEST_CASE("pt files of both formats are read as torch.load reads them") {
  std::size_t count = 0;
  for (const auto& [name, wanted] : torch_files().at("read").items()) {
    INFO(name);
    check_value(nn::load_pt(pt_folder() / name), wanted);
    ++count;
  }
  CHECK(count == 14);
}

TEST_CASE("tensors that share a storage in a pt file share it after loading") {
  check_views(nn::load_pt(pt_folder() / "views.pt"));
  check_views(nn::load_pt(pt_folder() / "views_legacy.pt"));
}

TEST_CASE("values saved to a pt file are loaded unchanged and shared memory is still shared") {
  const ScratchFolder folder;
  for (const std::string name : {"dtypes", "views", "nested"}) {
    INFO(name);
    const auto& wanted = torch_files().at("read").at(name + ".pt");
    nn::save_pt(folder / "a", nn::load_pt(pt_folder() / (name + ".pt")));
    if (name == "nested") continue;  // a torch.Size is loaded as a tuple, as checked below
    check_value(nn::load_pt(folder / "a"), wanted);
  }
  check_value(nn::load_pt(folder / "a"), torch_files().at("read").at("nested.pt"));
  nn::save_pt(folder / "views", nn::load_pt(pt_folder() / "views.pt"));
  check_views(nn::load_pt(folder / "views"));
}

TEST_CASE("a pt file has each storage at a multiple of 64 bytes and shared memory only once") {
  const ScratchFolder folder;
  const Tensor large = arange(1000, float32);
  nn::save_pt(folder / "a",
              nn::StateDict{{"a", large}, {"b", large.view({10, 100}).t()}, {"c", large}});
  const std::string content = content_of(folder / "a");
  CHECK(content.size() < 4000 + 2000);
  const std::string elements(static_cast<const char*>(large.array().raw()), 4000);
  CHECK(content.find(elements) % 64 == 0);
  nn::save_pt(folder / "part", nn::StateDict{{"a", large.slice(0, 10, 12)}});
  CHECK(std::filesystem::file_size(folder / "part") < 2000);
}

// written_state.pt and written_nested.pt are copies of state.pt and nested.pt, which the test
// "files for NumPy and PyTorch to read" wrote. check_files.py confirmed that PyTorch can read them.
TEST_CASE("pt files have the same entries as the stored files that PyTorch can read") {
  const ScratchFolder folder;
  nn::save_pt(folder / "state.pt", some_state());
  nn::save_pt(folder / "nested.pt", some_value());
  CHECK(entries_of(folder / "state.pt") == entries_of(pt_folder() / "written_state.pt"));
  CHECK(entries_of(folder / "nested.pt") == entries_of(pt_folder() / "written_nested.pt"));
}

TEST_CASE(
    "a dict of tensors in a pt file becomes a state dict and an error names any other value") {
  const ScratchFolder folder;
  const PtValue value = nn::load_pt(pt_folder() / "nested.pt");
  nn::Sequential model(nn::Linear(2, 3), nn::LayerNorm(3));
  CHECK_NOTHROW(model.load_state_dict(value.at("model").state_dict()));
  CHECK(equal(model.state_dict().at("0.weight"), tensor_at(value.at("model"), "0.weight")));
  CHECK_THROWS_WITH(value.state_dict(), ContainsSubstring("'model' is not a tensor"));
  CHECK_THROWS_WITH(value.at("epoch").state_dict(), ContainsSubstring("not a dict"));
  CHECK_THROWS_WITH(value.at("optimizer").at("state").state_dict(),
                    ContainsSubstring("the key 0 is not a text"));
  CHECK_THROWS_AS(value.at("absent"), IndexError);
  CHECK_THROWS_AS(value.at("epoch").at("x"), IndexError);
}

TEST_CASE("loading a pt file leaves out objects of other classes and lists their names") {
  const nn::PtFile file = nn::load_pt(pt_folder() / "left_out.pt");
  std::map<std::string, std::string> wanted = torch_files().at("left_out");
  REQUIRE(file.left_out.size() == wanted.size());
  for (const nn::LeftOut& each : file.left_out) {
    INFO(each.name);
    CHECK_THAT(each.why, ContainsSubstring(wanted.at(each.name)));
  }
  CHECK(file.at("weight").as<Tensor>() != nullptr);
  CHECK(nn::load_pt(pt_folder() / "nested.pt").left_out.empty());
  const ScratchFolder folder;
  write_content(folder / "big", legacy_of("}(U\1a\x8a\x09" + std::string(9, '\1') + "U\1bK\2u"));
  const nn::PtFile big = nn::load_pt(folder / "big");
  REQUIRE(big.left_out.size() == 1);
  CHECK(big.left_out[0].name == "a");
  CHECK(big.left_out[0].why == "an integer beyond int64");
  CHECK(*big.at("b").as<std::int64_t>() == 2);
}

TEST_CASE("the error for a forbidden class or function or opcode in a pt file names it") {
  const auto& refused = torch_files().at("refused");
  REQUIRE(refused.size() == 9);
  for (const auto& [name, words] : refused.items()) {
    INFO(name);
    CHECK_THROWS_AS(nn::load_pt(pt_folder() / name), IoError);
    CHECK_THROWS_WITH(nn::load_pt(pt_folder() / name),
                      ContainsSubstring(words.get<std::string>()) && ContainsSubstring(name));
  }
}

TEST_CASE("a pt file with a tensor outside its storage is refused") {
  const std::string storage(
      "\x80\x02](U\1"
      "0e.\2\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40",
      25);
  const ScratchFolder folder;
  write_content(folder / "good",
                legacy_of(tensor_pickle("K\1", "K\3", std::string("K\0", 2)), storage));
  CHECK(nn::load_pt(folder / "good").as<Tensor>()->to_vector<float>() ==
        std::vector<float>{2, 2, 2});
  // A tensor without elements may have any offset.
  write_content(folder / "empty",
                legacy_of(tensor_pickle("K\7", std::string("K\0", 2), "K\1"), storage));
  CHECK(nn::load_pt(folder / "empty").as<Tensor>()->shape() == Shape{0});
  const auto refused = [&](const std::string& offset, const std::string& sizes,
                           const std::string& strides, const std::string& why) {
    INFO(why);
    check_pt_refused(legacy_of(tensor_pickle(offset, sizes, strides), storage), why);
  };
  const std::string zero("K\0", 2), minus_one = "J\xff\xff\xff\xff",
                                    large = std::string("\x8a\x08\0\0\0\0\0\0\0\x40", 10);
  refused("K\2", "K\1", "K\1", "reach beyond a storage of 2 elements");
  refused(zero, "K\3", "K\1", "reach beyond a storage");
  refused(zero, "K\2", "K\2", "reach beyond a storage");
  refused(minus_one, "K\1", "K\1", "reach beyond a storage");
  refused(zero, "K\1", minus_one, "size or stride 0 is not an integer");
  refused(zero, minus_one, "K\1", "size or stride 0 is not an integer");
  refused(zero, "K\1", "U\1x", "size or stride 0 is not an integer");
  refused(zero, "K\1K\1", "K\1", "shape (1, 1) and strides (1,)");
  refused(zero, large + large, zero + zero, "are too large");
  refused(zero, zero + large + large, zero + zero + zero, "are too large");
  refused(zero, large, large, "are too large");
  refused("U\1x", "K\1", "K\1", "argument 1 is missing or has the wrong type");
  std::string many;
  for (int i = 0; i < 65; ++i) many += "K\1";
  refused(zero, many, many, "more than 64 dimensions");
}

TEST_CASE("a pt file with a missing storage is refused before memory is allocated") {
  const std::string zero("K\0", 2);
  const auto of_size = [&](const std::string& numel, const std::string& storages) {
    return legacy_of(tensor_pickle(zero, "", "", numel), storages);
  };
  const std::string large("\x8a\x08\0\0\0\0\0\0\0\x40", 10), minus_one = "J\xff\xff\xff\xff";
  const std::string count("\2\0\0\0\0\0\0\0", 8), list =
                                                      "\x80\x02](U\1"
                                                      "0e.";
  check_pt_refused(of_size(large, list + count + "12345678"), "does not fit");
  check_pt_refused(of_size(minus_one, list), "must not be negative, got -1");
  check_pt_refused(of_size("K\3", list + count + "123456781234"), "has 2 elements, not 3");
  check_pt_refused(of_size("K\2", list + count + "1234567"), "ends too early");
  check_pt_refused(of_size("K\2", list + count + "123456789"), "1 bytes follow");
  check_pt_refused(of_size("K\2",
                           "\x80\x02](U\1"
                           "1e." +
                               count + "12345678"),
                   "unknown");
  check_pt_refused(of_size("K\2",
                           "\x80\x02](U\1"
                           "0U\1"
                           "0e." +
                               count + "12345678" + count + "12345678"),
                   "or a storage twice");
  check_pt_refused(of_size("K\2", "\x80\x02]." + count + "12345678"), "'0' is missing");
  check_pt_refused(of_size("K\2", "\x80\x02N." + count + "12345678"), "no list of storages");
  const auto vector = [&](const std::string& numel) { return tensor_pickle(zero, "", "", numel); };
  check_pt_refused(legacy_of("(" + vector("K\2") + vector("K\1") + "t", list + count + "12345678"),
                   "storage '0' has two sizes or dtypes");
}

TEST_CASE("zipped pt files whose entries do not belong together are refused") {
  const std::string zero("K\0", 2);
  const std::string tensor = tensor_pickle(zero, "K\2", "K\1");
  const std::pair<std::string, std::string> pickle = {"data.pkl", "\x80\2" + tensor + "."},
                                            floats = {"data/0", std::string("\0\0\200?\0\0\0@", 8)};
  const ScratchFolder folder;
  const auto loaded = [&](const std::string& content) {
    write_content(folder / "a.pt", content);
    return nn::load_pt(folder / "a.pt");
  };
  CHECK(loaded(zip_of({pickle, floats})).as<Tensor>()->to_vector<float>() ==
        std::vector<float>{1, 2});
  CHECK(loaded(zip_of({pickle, floats, {"byteorder", "little"}})).as<Tensor>() != nullptr);

  check_pt_refused(zip_of({pickle, floats, {"byteorder", "middle"}}),
                   "the byte order 'middle' is unknown");
  check_pt_refused(zip_of({pickle, floats, {"byteorder", "little-endian"}}),
                   "'archive/byteorder' has 13 bytes, more than 6");
  check_pt_refused(zip_of({pickle}), "has no entry 'archive/data/0'");
  check_pt_refused(zip_of({pickle, {"data/0", "1234"}}), "of 2 elements does not fit 4 bytes");
  check_pt_refused(zip_of({pickle, {"data/0", "123456789"}}), "of 2 elements does not fit 9 bytes");
  check_pt_refused(replaced(zip_of({pickle, floats, {"data/1", ""}}), "data/1", "data/0"),
                   "a name is used twice");
  check_pt_refused(zip_of({floats}), "it has no data.pkl in a folder");
  check_pt_refused(replaced(zip_of({pickle}), "archive/", "archive_"),
                   "it has no data.pkl in a folder");
  check_pt_refused(zip_of({{"data.pkl", pickle.second + "x"}, floats}),
                   "something follows the pickle");
  const std::string twice = "\x80\2(" + tensor + tensor_pickle(zero, "K\1", "K\1", "K\1") + "t.";
  check_pt_refused(zip_of({{"data.pkl", twice}, floats}), "storage '0' has two sizes");
}

TEST_CASE("an OrderedDict in a pickle may be built from a list of pairs") {
  const auto made = [](const std::string& pairs) {
    return legacy_of("ccollections\nOrderedDict\n(" + pairs + "tR");
  };
  const ScratchFolder folder;
  write_content(folder / "a.pt", made("](U\1aK\5\206U\1bK\6\206e"));
  const PtValue dict = nn::load_pt(folder / "a.pt");
  REQUIRE(dict.as<PtDict>() != nullptr);
  CHECK(dict.as<PtDict>()->size() == 2);
  CHECK(*dict.at("b").as<std::int64_t>() == 6);
  check_pt_refused(made("](K\1e"), "OrderedDict: an item is not a pair");
  check_pt_refused(made("](U\1aK\5K\6\207e"), "OrderedDict: an item is not a pair");
  check_pt_refused(made("K\1"), "argument 0 is missing or has the wrong type");
}

TEST_CASE("invalid pickles and pickles that repeat too much are refused") {
  check_pt_refused(legacy_of("0"), "needs more objects than the stack has");
  check_pt_refused(legacy_of("t"), "needs more objects than the stack has");
  check_pt_refused(legacy_of("(K\1(\x86"), "needs more objects than the stack has");
  check_pt_refused(legacy_of("NN"), "ends too early");
  check_pt_refused(legacy_of("(N"), "ends too early");
  check_pt_refused(legacy_of("h\7"), "refers to memo entry 7, which does not exist");
  check_pt_refused(legacy_of("NNs"), "needs more objects than the stack has");
  check_pt_refused(legacy_of("}(Nu"), "a key without a value");
  check_pt_refused(legacy_of("}(NNu"),
                   "holds a key that is neither a text nor an integer, which is");
  check_pt_refused(legacy_of("}(K\1NK\1Nu"), "the key '1' is used twice");
  check_pt_refused(legacy_of("NNa"), "where a list must be");
  check_pt_refused(legacy_of(")Na"), "adds to a tuple");
  check_pt_refused(legacy_of("K\1)R"), "where a function must be");
  check_pt_refused(legacy_of("cbuiltins\neval\n)R"), "'builtins.eval'");
  check_pt_refused(legacy_of("ctorch\nFloatStorage\n"), "holds the class 'torch.FloatStorage'");
  check_pt_refused(legacy_of("ctorch\nFloatStorage\n)R"),
                   "holds an object of 'torch.FloatStorage'");
  check_pt_refused(legacy_of("}(U\1acbuiltins\neval\n)Ru"), "'builtins.eval'");
  check_pt_refused(legacy_of("(U\1xNtQ"), "a storage must have five or six parts");
  check_pt_refused(legacy_of("X\xff\xff\xff\xff"), "ends too early");
  check_pt_refused(legacy_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), "ends too early");
  check_pt_refused(legacy_of("c" + std::string(2000, 'a')), "ends too early");
  check_pt_refused(legacy_of(std::string(100, ']') + std::string(99, 'a')), "deeper than 64");
  // Each list contains the list before it twice, so there are 2^60 values.
  std::string laughs = "]";
  for (int i = 0; i < 60; ++i)
    laughs +=
        "q\1"
        "0](h\1h\1e";
  check_pt_refused(legacy_of(laughs), "repeats its parts too often");
  // A few bytes copy a list of 20,000 items, 8000 times, and drop each copy at once.
  std::string copies = "ctorch\nSize\nq\1](" + std::string(20'000, 'N') + "e\x85q\2";
  for (int i = 0; i < 8000; ++i) copies += "h\1h\2R0";
  check_pt_refused(legacy_of(copies), "repeats its parts too often");
  // The long name of a class is repeated a thousand times.
  std::string names = "X" + std::string("\x10\x27\0\0", 4) + std::string(10000, 'a') + "q\1";
  for (int i = 0; i < 1000; ++i) names += std::string("h\1h\1\x93") + '0';
  check_pt_refused(legacy_of(names + "0N"), "repeats its parts too often");
  const std::string text = std::string("X\0\0\x10\4", 5) + std::string(65 << 20, 'a');
  check_pt_refused(legacy_of(text), "longer than 64 MiB");
  // Three bytes make each tensor, which has 64 dimensions and one element.
  const std::string zero("K\0", 2);
  std::string sizes;
  for (int i = 0; i < 64; ++i) sizes += "K\1";
  std::string tensors =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\nq\1(" +
      std::string(
          "(U\7storagectorch\nFloatStorage\nU\1"
          "0U\3cpuK\1tQ") +
      zero + "(" + sizes + "t(" + sizes +
      "t\x89"
      "ccollections\nOrderedDict\n)Rtq\2";
  for (int i = 0; i < 200'000; ++i) tensors += "h\1h\2R0";
  check_pt_refused(zip_of({{"data.pkl", tensors + "."}, {"data/0", "1234"}}),
                   "repeats its parts too often");
}

TEST_CASE("the memory that a compressed pt file may need is limited by its size") {
  const std::string zero("K\0", 2);
  // The file compresses nine million bytes to 9000. The tensor is int64, so it needs 72 million
  // bytes.
  const std::string pickle =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n((U\7storagectorch\nByteStorage\nU\1"
      "0U\3cpuJ" +
      std::string("\x40\x54\x89\0", 4) + "tQ" + zero +
      "(K\1t(K\1t\x89"
      "ccollections\nOrderedDict\n)RtR.";
  const std::vector<std::pair<std::string, std::string>> entries{
      {"data.pkl", pickle}, {"data/0", std::string(9'000'000, '\0')}};
  check_pt_refused(zip_of(entries, /*compressed=*/true),
                   "more memory than 64 MiB plus 64 times its size");
  const ScratchFolder folder;
  write_content(folder / "a.pt", zip_of(entries));
  CHECK(nn::load_pt(folder / "a.pt").as<Tensor>()->dtype() == int64);
  // Each object of a pickle also takes memory.
  check_pt_refused(zip_of({{"data.pkl", "\x80\x02](" + std::string(9'000'000, ')') + "e."}},
                          /*compressed=*/true),
                   "more memory than 64 MiB plus 64 times its size");
}

TEST_CASE("a value that a pt file cannot store is refused before anything is written") {
  const ScratchFolder folder;
  const auto refused = [&](const PtValue& value, const std::string& why) {
    CHECK_THROWS_AS(nn::save_pt(folder / "a", value), IoError);
    CHECK_THROWS_WITH(nn::save_pt(folder / "a", value),
                      ContainsSubstring("[save_pt] ") && ContainsSubstring(why));
    CHECK_FALSE(std::filesystem::exists(folder / "a"));
  };
  refused(Tensor(), "undefined");
  refused(zeros(Shape(std::vector<std::int64_t>(65, 1))), "more than 64 dimensions");
  refused("\xFF", "not UTF-8");
  refused(PtDict{{"\xFF", 1}}, "not UTF-8");
  refused(PtDict{{"a", 1}, {"a", 2}}, "'a' is used twice");
  refused(PtDict{{std::int64_t{1}, 1}, {std::int64_t{1}, 2}}, "1 is used twice");
  PtValue deep;
  for (int i = 0; i < 65; ++i) deep = PtList{deep};
  refused(deep, "nest deeper than 64");
  refused(std::string(64 << 20, 'a'), "more than 64 MiB");  // load_pt would refuse it, too
}

TEST_CASE("a truncated or changed pt file is either read or refused") {
  for (const std::string name : {"small.pt", "big.pt", "protocol4.pt", "small_legacy.pt",
                                 "views_legacy.pt", "nested_legacy.pt"}) {
    INFO(name);
    const std::string content = content_of(pt_folder() / name);
    // The tensors of each file take less than 4 KiB.
    CHECK(load_damaged(content, content.size(), 1 << 20,
                       [](const auto& path) { nn::load_pt(path); }) > content.size());
  }
}

TEST_CASE("files for NumPy and PyTorch to read", "[.files]") {
  const char* kept = std::getenv("TEND_KEEP_FILES");
  REQUIRE(kept != nullptr);
  const std::filesystem::path folder = kept;
  const nn::StateDict state = some_state();
  for (const auto& [name, x] : state) nn::save_npy(folder / (name + ".npy"), x);
  nn::save_npz(folder / "stored.npz", state);
  nn::save_npz(folder / "deflated.npz", state, {.compressed = true});
  nn::save_safetensors(folder / "state.safetensors", state);
  nn::save_safetensors(folder / "float16.safetensors", state, {.dtype = nn::HalfType::float16});
  nn::save_safetensors(folder / "bfloat16.safetensors", state, {.dtype = nn::HalfType::bfloat16});
  std::filesystem::create_directories(folder / "shards");
  nn::save_safetensors_shards(folder / "shards", state, {.max_shard_size = 40});
  nn::save_npy(folder / "mapped.npy", nn::load_npy(folder / "float32.npy", {.mmap = true}));
  nn::save_pt(folder / "state.pt", state);
  nn::save_pt(folder / "nested.pt", some_value());
  CHECK(nn::load_pt(folder / "state.pt").state_dict().size() == state.size());
}

TEST_CASE("hostile pt files are refused") {
  CHECK(check_hostile(".pt", [](const auto& path) { nn::load_pt(path); }) == 13);
}
