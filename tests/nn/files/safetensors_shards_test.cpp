#include <set>
#include <string>

#include <tend/nn/files/safetensors_file.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/nn/files/damage.h"

using namespace tend;
using namespace tend::test;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kIndexName = "model.safetensors.index.json";

// Tensors of 24, 8, 32 and 4 bytes. The third one is a transposed view.
nn::StateDict four_tensors() {
  return {{"b", arange(6, float32).view({2, 3})},
          {"a", tensor(5)},
          {"gr\xC3\xB6\xC3\x9F\"e", arange(8, float32).view({2, 4}).t()},
          {"flags", tensor({true, false, true, true})}};
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

void check_holds(const std::filesystem::path& path, const nn::StateDict& wanted) {
  const nn::StateDict loaded = nn::load_safetensors(path).tensors;
  CHECK(loaded.size() == wanted.size());
  for (const auto& [name, tensor] : wanted) {
    INFO(name);
    REQUIRE(loaded.contains(name));
    CHECK(equal(loaded.at(name), tensor));
  }
}

}  // namespace

TEST_CASE("shards have Hugging Face's names, sizes and index") {
  const ScratchFolder folder;
  nn::save_safetensors_shards(folder / ".", four_tensors(), {.max_shard_size = 32});
  CHECK(names_in(folder / ".") == std::set<std::string>{"model-00001-of-00003.safetensors",
                                                        "model-00002-of-00003.safetensors",
                                                        "model-00003-of-00003.safetensors",
                                                        kIndexName});
  CHECK(content_of(folder / kIndexName) ==
        "{\n  \"metadata\": {\n    \"total_size\": 68\n  },\n  \"weight_map\": {\n"
        "    \"a\": \"model-00001-of-00003.safetensors\",\n"
        "    \"b\": \"model-00001-of-00003.safetensors\",\n"
        "    \"flags\": \"model-00003-of-00003.safetensors\",\n"
        "    \"gr\xC3\xB6\xC3\x9F\\\"e\": \"model-00002-of-00003.safetensors\"\n  }\n}\n");
  check_holds(folder / kIndexName, four_tensors());
  const nn::Safetensors first = nn::load_safetensors(folder / "model-00001-of-00003.safetensors");
  CHECK(first.tensors.size() == 2);
  CHECK(first.metadata == std::map<std::string, std::string>{{"format", "pt"}});
}

TEST_CASE("a tensor that is larger than max_shard_size has its own file") {
  const ScratchFolder folder;
  const nn::StateDict state{{"a", tensor(true)}, {"large", ones({100})}, {"b", tensor(false)}};
  nn::save_safetensors_shards(folder / ".", state, {.max_shard_size = 1});
  CHECK(names_in(folder / ".").size() == 4);
  CHECK(nn::SafetensorsFile(folder / "model-00002-of-00003.safetensors").entries().size() == 1);
  check_holds(folder / kIndexName, state);
}

TEST_CASE("weights whose stored size fits into one shard are saved as one file") {
  const ScratchFolder folder;
  const nn::StateDict state{{"x", ones({10})}, {"y", ones({10}, float64)}};
  nn::save_safetensors_shards(folder / ".", state, {.max_shard_size = 119});
  CHECK(names_in(folder / ".").size() == 3);
  // Twenty 16-bit numbers fit into one file. The index of the two older files is removed.
  nn::save_safetensors_shards(folder / ".", state,
                              {.max_shard_size = 40, .dtype = nn::HalfType::bfloat16});
  CHECK(names_in(folder / ".") == std::set<std::string>{"model-00001-of-00002.safetensors",
                                                        "model-00002-of-00002.safetensors",
                                                        "model.safetensors"});
  CHECK(nn::SafetensorsFile(folder / "model.safetensors").entries()[1].stored == "BF16");
  // The single file is removed when an index is written.
  nn::save_safetensors_shards(folder / ".", state, {.max_shard_size = 80});
  CHECK_FALSE(std::filesystem::exists(folder / "model.safetensors"));
  check_holds(folder / kIndexName, state);
  nn::save_safetensors_shards(folder / ".", nn::StateDict());
  check_holds(folder / "model.safetensors", {});
}

TEST_CASE("weights that cannot be stored are refused before a file has changed") {
  const ScratchFolder folder;
  nn::save_safetensors_shards(folder / ".", four_tensors(), {.max_shard_size = 32});
  const auto names = names_in(folder / ".");
  const auto refused = [&](const nn::StateDict& state, const std::string& why) {
    INFO(why);
    CHECK_THROWS_AS(nn::save_safetensors_shards(folder / ".", state, {.max_shard_size = 8}),
                    IoError);
    CHECK_THROWS_WITH(nn::save_safetensors_shards(folder / ".", state, {.max_shard_size = 8}),
                      ContainsSubstring(why));
    CHECK(names_in(folder / ".") == names);
    check_holds(folder / kIndexName, four_tensors());
  };
  refused({{"a", ones({8})}, {"b", ones({8})}, {"a", ones({1})}}, "the name 'a' is used twice");
  refused({{"a", ones({8})}, {"", ones({1})}}, "is empty");
  refused({{"a", ones({8})}, {"b", Tensor()}}, "'b' is undefined");
  refused({{"a", ones({8})}, {"b", zeros({1}).expand({std::int64_t{1} << 62})}}, "2^63 bytes");
  CHECK_THROWS_WITH(
      nn::save_safetensors_shards(folder / ".", four_tensors(), {.max_shard_size = 0}),
      ContainsSubstring("max_shard_size must be at least 1, got 0"));
  CHECK_THROWS_WITH(nn::save_safetensors_shards(folder / "absent", four_tensors()),
                    ContainsSubstring("[save_safetensors_shards] ") &&
                        ContainsSubstring("absent: cannot be written: No such file"));
}

// The save fails because a folder has the name of a file that is to be written.
TEST_CASE("a failed save of shards leaves the old shards") {
  const nn::StateDict old_state{{"x", zeros({2})}, {"y", zeros({2})}},
      new_state{{"x", ones({2})}, {"y", ones({2})}};
  for (const std::string taken :
       {"model-00001-of-00002.safetensors.tmp", "model-00002-of-00002.safetensors.tmp",
        "model.safetensors.index.json.tmp"}) {
    INFO(taken);
    const ScratchFolder folder;
    nn::save_safetensors_shards(folder / ".", old_state, {.max_shard_size = 8});
    std::filesystem::create_directory(folder / taken);
    CHECK_THROWS_AS(nn::save_safetensors_shards(folder / ".", new_state, {.max_shard_size = 8}),
                    IoError);
    check_holds(folder / kIndexName, old_state);
    CHECK(names_in(folder / ".").size() == 4);
  }
  for (const std::string taken :
       {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", kIndexName,
        "model.safetensors"}) {
    INFO(taken);
    const ScratchFolder folder;
    nn::save_safetensors_shards(folder / ".", old_state, {.max_shard_size = 8});
    std::filesystem::remove(folder / taken);
    std::filesystem::create_directory(folder / taken);
    write_content(folder / taken / "file", "");  // a rename would replace an empty folder
    const auto before = names_in(folder / ".");
    CHECK_THROWS_AS(nn::save_safetensors_shards(folder / ".", new_state, {.max_shard_size = 8}),
                    IoError);
    CHECK(names_in(folder / ".") == before);
    std::filesystem::remove_all(folder / taken);
    nn::save_safetensors_shards(folder / ".", new_state, {.max_shard_size = 8});
    check_holds(folder / kIndexName, new_state);
  }
}
