// Translates dates as people write them ("5 March 1987") to ISO 8601 ("1987-03-05"), letter by
// letter, with an encoder, and a decoder that attends to the encoder's results.

#include <array>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <tend/tend.h>

#include "examples/program.h"

#include <nlohmann/json.hpp>

namespace {

using tend::Slice;
using tend::Tensor;

// A token is the index of its letter in this string. The first letter pads a date to full length,
// and begins an ISO date.
constexpr std::string_view kLetters =
    "^0123456789-,. ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t kDateLength = 20, kIsoLength = 10, kWidth = 48;

struct Batch {
  Tensor dates, iso;  // tokens (count, kDateLength) and (count, 1 + kIsoLength)
  std::vector<std::string> texts;
};

std::int64_t draw(std::int64_t low, std::int64_t high) {
  return tend::randint(low, high + 1, tend::Shape{}).item<std::int64_t>();
}

void add_tokens(std::vector<std::int64_t>& tokens, const std::string& text, std::int64_t length) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i)
    tokens.push_back(i < text.size() ? static_cast<std::int64_t>(kLetters.find(text[i])) : 0);
}

Batch make_batch(std::int64_t count) {
  constexpr std::array kMonths{"January",   "February", "March",    "April",
                               "May",       "June",     "July",     "August",
                               "September", "October",  "November", "December"};
  std::vector<std::int64_t> dates, iso;
  Batch batch;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto year = draw(1900, 2099), month = draw(1, 12), day = draw(1, 28), form = draw(0, 3);
    const std::string name = kMonths[static_cast<std::size_t>(month - 1)];
    std::ostringstream date, number;
    if (form == 0) date << day << ' ' << name << ' ' << year;
    if (form == 1) date << name << ' ' << day << ", " << year;
    if (form == 2) date << day << '.' << month << '.' << year;
    if (form == 3) date << name.substr(0, 3) << ' ' << day << ", " << year;
    number << std::setfill('0') << year << '-' << std::setw(2) << month << '-' << std::setw(2)
           << day;
    batch.texts.push_back(date.str());
    add_tokens(dates, date.str(), kDateLength);
    iso.push_back(0);
    add_tokens(iso, number.str(), kIsoLength);
  }
  batch.dates = tend::tensor(dates, {count, kDateLength});
  batch.iso = tend::tensor(iso, {count, 1 + kIsoLength});
  return batch;
}

class Translator : public tend::nn::Module<Translator> {
 public:
  Translator()
      : letters(kLetterCount, kWidth),
        date_places(kDateLength, kWidth),
        iso_places(kIsoLength, kWidth),
        transformer({.d_model = kWidth,
                     .nhead = 4,
                     .num_encoder_layers = 2,
                     .num_decoder_layers = 2,
                     .layer = {.dim_feedforward = 96, .dropout = 0, .batch_first = true}}),
        head(kWidth, kLetterCount) {}

  /// For each letter of `iso`, the logits of the next letter: (count, length, letters).
  Tensor forward(const Tensor& dates, const Tensor& iso) const {
    const Tensor from = letters(dates) + date_places(tend::arange(dates.size(1)));
    const Tensor to = letters(iso) + iso_places(tend::arange(iso.size(1)));
    return head(transformer(from, to, {.tgt_is_causal = true}));
  }

  static constexpr auto kLetterCount = static_cast<std::int64_t>(kLetters.size());
  TEND_MODULE(tend::nn::Embedding, letters);
  TEND_MODULE(tend::nn::Embedding, date_places);
  TEND_MODULE(tend::nn::Embedding, iso_places);
  TEND_MODULE(tend::nn::Transformer, transformer);
  TEND_MODULE(tend::nn::Linear, head);
};

/// Chooses the likeliest next letter, ten times. Returns tokens (count, 1 + kIsoLength).
Tensor translated(const Translator& model, const Tensor& dates) {
  const tend::NoGradGuard no_grad;
  Tensor iso = tend::zeros({dates.size(0), 1}, tend::int64);
  for (std::int64_t i = 0; i < kIsoLength; ++i) {
    const Tensor next = model(dates, iso)[{Slice(), -1}].argmax(-1, true);
    iso = tend::cat({iso, next}, 1);
  }
  return iso;
}

std::string text_of(const Tensor& tokens) {
  std::string text;
  for (const std::int64_t token : tokens.to_vector<std::int64_t>())
    text += kLetters[static_cast<std::size_t>(token)];
  return text.substr(1);
}

int run(const std::string& json_path, std::uint64_t seed, std::int64_t steps) {
  program::check_can_write(json_path);
  tend::manual_seed(seed);
  Translator model;
  tend::optim::Adam optimizer(model.parameters(), {.lr = 0.002, .betas = {0.9, 0.98}});
  tend::optim::CosineWithWarmup schedule(optimizer, {.warmup = steps / 10, .total = steps});
  double loss = 0;
  const auto loss_of_batch = [&] {
    const Batch batch = make_batch(64);
    const Tensor logits = model(batch.dates, batch.iso[{Slice(), Slice(0, kIsoLength)}]);
    return tend::cross_entropy(logits.flatten(0, 1), batch.iso[{Slice(), Slice(1, {})}].flatten());
  };
  tend::nn::Trainer trainer(
      model, optimizer, loss_of_batch,
      {.steps = steps,
       .clip_norm = 1,
       .schedule = &schedule,
       .after_step = [&](const tend::nn::TrainedStep& done) { loss = done.loss; }});
  trainer.run();

  model.eval();
  const Batch batch = make_batch(500);
  const Tensor iso = translated(model, batch.dates);
  const double right = (iso == batch.iso).all(1).to(tend::float32).mean().item();
  for (std::int64_t i = 0; i < 5; ++i)
    std::cout << batch.texts[static_cast<std::size_t>(i)] << " -> " << text_of(iso[{i}]) << '\n';
  std::cout << 100 * right << " % of 500 new dates right, loss " << loss << '\n';
  const nlohmann::ordered_json results{
      {"seed", seed}, {"steps", steps}, {"share_right", right}, {"loss", loss}};
  program::write_results(json_path, [&] { return results.dump(1); });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::CommandLine line("dates", "Translates dates to ISO 8601 with an encoder and a decoder");
  std::string json_path;
  std::uint64_t seed = 0;
  std::int64_t steps = 1500;
  line.add_json(json_path);
  line.add_whole("--seed", seed, "Seed of weights and dates (0)");
  line.add_threads();
  line.add_whole("--steps", steps, "Training steps (1500)", 1, 1'000'000);
  return line.run(argc, argv, [&] { return run(json_path, seed, steps); });
}
