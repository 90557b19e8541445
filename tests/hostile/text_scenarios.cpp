// Calls without memory: tokenizers. It is compiled where tend::text is built.
#include <filesystem>
#include <memory>
#include <utility>

#include <tend/nn/text/byte_pair_encoding.h>
#include <tend/nn/text/vocabulary.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

constexpr const char* kText =
    "the cat's dog -- the cats and dogs, caf\xC3\xA9 \xFF the cat's dog and the cats";

nn::BytePairEncoding small_tokenizer() {
  return nn::BytePairEncoding::train(kText, {.vocab_size = 270});
}

Prepared of_ids(std::function<std::vector<std::int64_t>()> call) {
  Prepared prepared;
  prepared.run = [call = std::move(call)](std::vector<Tensor>& results) {
    const std::vector<std::int64_t> ids = call();
    results.push_back(with_memory([&] { return tensor(ids); }));
  };
  return prepared;
}

Prepared of_saved_files() {
  const std::string path = scratch_file(), merges = path + ".merges", whole = path + ".json";
  small_tokenizer().save(path, merges);
  small_tokenizer().save_tokenizer_json(whole);
  const std::shared_ptr<void> files(nullptr, [=](void*) {
    for (const std::string& each : {path, merges, whole}) std::filesystem::remove(each);
  });
  return of_ids([=] {
    static_cast<void>(files);
    auto ids = nn::BytePairEncoding::load(path, merges).encode(kText);
    const auto more = nn::BytePairEncoding::load_tokenizer_json(whole).encode(kText);
    ids.insert(ids.end(), more.begin(), more.end());
    return ids;
  });
}

Prepared of_damaged_file() {
  const std::string path = scratch_file();
  nn::WordVocabulary::from_text("one two").save(path);
  Prepared prepared;
  prepared.run = [path](std::vector<Tensor>& results) {
    try {
      nn::BytePairEncoding::load(path, path);
    } catch (const IoError&) {
      results.emplace_back();
    }
  };
  return prepared;
}

}  // namespace

std::vector<Scenario> text_scenarios() {
  return {{"BytePairEncoding train",
           [] { return of_ids([] { return small_tokenizer().encode("the"); }); }},
          {"BytePairEncoding encode",
           [] {
             return of_ids([tokenizer = small_tokenizer()] {
               return tokenizer.encode(kText, {.allow_special = true});
             });
           }},
          {"BytePairEncoding load", of_saved_files},
          {"BytePairEncoding load of a damaged file", of_damaged_file},
          {"WordVocabulary", [] {
             return of_ids(
                 [] { return nn::WordVocabulary::from_text("one, two").encode("two three"); });
           }}};
}

}  // namespace tend::test
