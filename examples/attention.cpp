// Prints attention weights as pictures: for each ready-made mask and score of flex_attention, and
// for some combinations of them. Each row is a query, each column a key.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tend/tend.h>

#include "examples/program.h"

namespace {

using namespace tend::attention;
using tend::Tensor;

struct Picture {
  std::string name;
  FlexOptions options;
  std::int64_t queries = 0;  // 0 means the number of keys
};

std::vector<Picture> pictures(std::int64_t tokens) {
  // Three documents: half of the tokens, a quarter and a quarter.
  const Tensor place = tend::arange(0, tokens, 1, {.dtype = tend::int64});
  const Tensor ids = tend::floor_divide(place * 4, tokens).clamp(1);
  const Tensor lengths = tend::tensor({tokens * 3 / 4});
  const Tensor bias = tend::randn({1, 2 * tokens - 1});
  const Tensor buckets = tend::randn({8, 1}) * 2;
  const auto slope = lookup(scores::alibi_slopes(1) * 64);
  const std::int64_t last = tokens / 4;
  const std::string sizes = std::to_string(last) + ", " + std::to_string(tokens);
  return {
      {"causal()", {.mask = masks::causal()}},
      {"sliding_window(4)", {.mask = masks::sliding_window(4)}},
      {"causal_bottom_right(" + sizes + ")",
       {.mask = masks::causal_bottom_right(last, tokens)},
       last},
      {"prefix(5)", {.mask = masks::prefix(5)}},
      {"prefix(lengths)", {.mask = masks::prefix(lengths)}},
      {"documents(ids) && causal()", {.mask = masks::documents(ids) && masks::causal()}},
      {"padding(lengths)", {.mask = masks::padding(lengths)}},
      {"blocks(4)", {.mask = masks::blocks(4)}},
      {"dilated(3) && causal()", {.mask = masks::dilated(3) && masks::causal()}},
      {"!causal() || at.key == 0",
       {.mask = !masks::causal() || MaskFunction([](auto at) { return at.key == 0; })}},
      {"alibi(slopes)", {.score = scores::alibi(scores::alibi_slopes(1) * 64)}},
      {"relative_bias(table)", {.score = scores::relative_bias(bias)}},
      {"t5_bias(table, true, 16)", {.score = scores::t5_bias(buckets, true, 16)}},
      {"t5_bias(table, false, 16) with a causal mask",
       {.score = scores::t5_bias(buckets, false, 16), .mask = masks::causal()}},
      {"relative_bias(table) + soft_cap(0.5)",
       {.score = scores::relative_bias(bias) + scores::soft_cap(0.5)}},
      {"score - slope(at.head) * (at.query - at.key) with a causal mask",
       {.score = [&](auto s, auto at) { return s - slope(at.head) * (at.query - at.key); },
        .mask = [](auto at) { return at.key <= at.query; }}},
  };
}

// The attention weights of one head, (queries, tokens). All scores are 0 before the score function.
Tensor weights_of(const Picture& picture, std::int64_t tokens) {
  const std::int64_t queries = picture.queries > 0 ? picture.queries : tokens;
  const Tensor query = tend::zeros({1, 1, queries, 1}), key = tend::zeros({1, 1, tokens, 1});
  return flex_attention_with_weights(query, key, key, picture.options)
      .weights.view({queries, tokens});
}

// Draws each weight as a character. A darker character means a weight that is nearer to the row's
// largest weight.
std::string draw(const Tensor& weights) {
  const std::string shades = ".:-=+*#%@";
  std::string text;
  for (std::int64_t i = 0; i < weights.size(0); ++i) {
    const std::vector<float> row = weights.select(0, i).to_vector<float>();
    const float largest = *std::max_element(row.begin(), row.end());
    for (const float weight : row) {
      const float share = largest > 0 ? weight / largest : 0;
      const auto shade = static_cast<std::size_t>(share * static_cast<float>(shades.size() - 2));
      text += weight > 0 ? shades[shade + 1] : '.';
      text += ' ';
    }
    text.back() = '\n';
  }
  return text;
}

int run(std::int64_t tokens, const std::string& json_path) {
  program::check_can_write(json_path);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::cout << "Each row is a query, each column a key. @ is the largest weight of its row, a dot "
               "is a weight of 0.\n\n";
  for (const Picture& picture : pictures(tokens)) {
    const Tensor weights = weights_of(picture, tokens);
    std::cout << picture.name << "\n\n" << draw(weights) << '\n';
    list.push_back({{"name", picture.name}, {"weights", weights.reshape({-1}).to_vector<float>()}});
  }
  program::write_results(json_path, [&] { return list.dump(); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line(
      "attention",
      "Draws the masks and scores of flex_attention as pictures. Rows are queries, columns keys.");
  std::int64_t tokens = 16;
  std::uint64_t seed = 123;
  std::string json_path;
  line.add_whole("--tokens", tokens, "number of queries, and of keys", 4, 100).default_text("16");
  line.add_file("--json", json_path,
                "write the weights to this file, as a list of objects with two keys: name, and "
                "weights (queries x tokens numbers, row by row)");
  line.add_whole("--seed", seed, "seed of the biases").default_text("123");
  line.add_threads();
  return line.run(argc, argv, [&] {
    tend::manual_seed(seed);
    return run(tokens, json_path);
  });
}
