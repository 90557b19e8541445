// Tokenizers and vocabularies. It is compiled where tend::text is built.
#include <filesystem>

#include <tend/nn/text/byte_pair_encoding.h>
#include <tend/nn/text/vocabulary.h>

#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

std::string draw_text(Arguments& a) {
  const std::string text = a.choice<const char*>(
      {"", "the cat, the dog", "caf\xC3\xA9 \xE4\xBD\xA0\xE5\xA5\xBD", "\xFF\xC3 \xED\xA0\x80",
       "a<|endoftext|><|unk|>b", "it's -- 42\n\n\t x", "\xF0\x9F\x98\x80\xF0\x9F\x98"});
  std::string repeated;
  for (std::int64_t count = a.choice<std::int64_t>({1, 1, 2, 99}); count > 0; --count)
    repeated += text;
  return repeated;
}

std::vector<std::int64_t> draw_ids(Arguments& a, std::int64_t vocab_size) {
  std::vector<std::int64_t> ids;
  for (std::int64_t count = a.draws().between(0, 4); count > 0; --count) {
    ids.push_back(a.draws().chance(0.8) ? a.draws().between(0, vocab_size - 1) : a.integer());
    a.say(ids.back());
  }
  return ids;
}

nn::BytePairEncoding some_tokenizer() {
  return nn::BytePairEncoding::train("the cat, the dog, the cat", {.vocab_size = 262});
}

// A function of one object and one text.
template <class Make, class F>
PublicFunction of_text(const char* signature, Make make, F f) {
  return by_hand(signature, [=](Arguments& a) {
    return DrawnCall([=, text = draw_text(a)]() -> Tensors {
      f(make(), text);
      return {};
    });
  });
}

template <class Make, class F>
PublicFunction of_ids(const char* signature, Make make, F f) {
  return by_hand(signature, [=](Arguments& a) {
    const auto object = make();
    return DrawnCall([=, ids = draw_ids(a, object.vocab_size())]() -> Tensors {
      f(object, ids);
      return {};
    });
  });
}

template <class F>
PublicFunction of_path(const char* signature, F f) {
  return by_hand(signature, [=](Arguments& a) {
    return DrawnCall([=, path = draw_path(a)]() -> Tensors {
      f(path);
      return {};
    });
  });
}

std::vector<PublicFunction> byte_pairs() {
  using nn::BytePairEncoding;
  return {
      by_hand("nn::BytePairEncoding::train(std::string_view, const BytePairTraining&)",
              [](Arguments& a) {
                nn::BytePairTraining options{a.choice<std::int64_t>({257, 260, 300}), a.integer()};
                if (a.draws().chance(0.3)) options.vocab_size = a.integer();
                if (a.draws().chance(0.3)) options.special_tokens = {draw_text(a), draw_text(a)};
                return DrawnCall([=, text = draw_text(a)]() -> Tensors {
                  const auto tokenizer = BytePairEncoding::train(text, options);
                  if (tokenizer.decode(tokenizer.encode(text)) != text)
                    throw std::logic_error("another text came back");
                  return {};
                });
              }),
      by_hand("nn::BytePairEncoding::encode(std::string_view, const EncodeOptions&)",
              [](Arguments& a) {
                const bool allow_special = a.flag();
                return DrawnCall([=, text = draw_text(a)]() -> Tensors {
                  return {tensor(some_tokenizer().encode(text, {allow_special}))};
                });
              }),
      of_ids("nn::BytePairEncoding::decode(const std::vector<std::int64_t>&)", some_tokenizer,
             [](const auto& tokenizer, const auto& ids) { tokenizer.decode(ids); }),
      of_ids("nn::BytePairEncoding::token_bytes(std::int64_t)", some_tokenizer,
             [](const auto& tokenizer, const auto& ids) {
               for (const std::int64_t id : ids) tokenizer.token_bytes(id);
             }),
      of_ids("nn::BytePairEncoding::vocab_size()", some_tokenizer,
             [](const auto& tokenizer, const auto&) { tokenizer.vocab_size(); }),
      of_text("nn::BytePairEncoding::token_id(std::string_view)", some_tokenizer,
              [](const auto& tokenizer, const auto& text) { tokenizer.token_id(text); }),
      of_path("nn::BytePairEncoding::load(const std::filesystem::path&, const "
              "std::filesystem::path&, const std::vector<std::string>&)",
              [](const auto& path) { BytePairEncoding::load(path, path, {"<|endoftext|>"}); }),
      of_path("nn::BytePairEncoding::load_tokenizer_json(const std::filesystem::path&, const "
              "TokenizerJsonOptions&)",
              [](const auto& path) {
                BytePairEncoding::load_tokenizer_json(path, {.ignore_normalizer = true});
              }),
      of_path("nn::BytePairEncoding::save(const std::filesystem::path&, const "
              "std::filesystem::path&)",
              [](const auto& path) { some_tokenizer().save(path, path); }),
      of_path("nn::BytePairEncoding::save_tokenizer_json(const std::filesystem::path&)",
              [](const auto& path) { some_tokenizer().save_tokenizer_json(path); }),
  };
}

template <class V>
std::vector<PublicFunction> vocabularies(const std::string& name) {
  const auto make = [] { return V::from_text("the cat, the dog -- caf\xC3\xA9"); };
  const auto signature = [&](const char* rest) { return as_text("nn::", name, "::", rest); };
  return {
      of_text(signature("from_text(std::string_view)").c_str(), make,
              [](const auto&, const auto& text) { V::from_text(text); }),
      of_text(signature("encode(std::string_view)").c_str(), make,
              [](const auto& vocabulary, const auto& text) { vocabulary.encode(text); }),
      of_ids(signature("decode(const std::vector<std::int64_t>&)").c_str(), make,
             [](const auto& vocabulary, const auto& ids) { vocabulary.decode(ids); }),
      of_path(signature("load(const std::filesystem::path&)").c_str(),
              [](const auto& path) { V::load(path); }),
  };
}

std::vector<PublicFunction> of_both_vocabularies() {
  const auto make = [] { return nn::WordVocabulary::from_text("the cat, the dog"); };
  return {
      of_ids("nn::Vocabulary::vocab_size()", make,
             [](const auto& vocabulary, const auto&) { vocabulary.vocab_size(); }),
      of_text("nn::Vocabulary::token_id(std::string_view)", make,
              [](const auto& vocabulary, const auto& text) { vocabulary.token_id(text); }),
      of_ids("nn::Vocabulary::token(std::int64_t)", make,
             [](const auto& vocabulary, const auto& ids) {
               for (const std::int64_t id : ids) vocabulary.token(id);
             }),
      of_path("nn::Vocabulary::save(const std::filesystem::path&)",
              [make](const auto& path) { make().save(path); }),
  };
}

}  // namespace

std::vector<PublicFunction> text_functions() {
  std::vector<PublicFunction> all;
  for (auto family : {byte_pairs(), vocabularies<nn::CharVocabulary>("CharVocabulary"),
                      vocabularies<nn::WordVocabulary>("WordVocabulary"), of_both_vocabularies()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace tend::test
