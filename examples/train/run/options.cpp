#include "examples/train/run/options.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "examples/train/page/format.h"

namespace train {

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names{"reverse", "copy",         "sort",
                                              "add",     "add-reversed", "recall"};
  return names;
}

namespace {

/// max_steps apart.
Options own_options(std::string_view task) {
  Options s;  // as for reverse
  s.task = task;
  if (task == "reverse") {
    return s;
  }
  if (task == "copy") {
    s.length = 20;
    s.steps = 200;
    return s;
  }
  s.warmup = 50;
  if (task == "sort") {
    s.heads = 2;
    s.steps = 1000;
    s.rate = 6e-3;
  } else if (task == "add") {
    s.length = 3;
    s.layers = 2;
    s.heads = 4;
    s.batch = 128;
    s.steps = 1000;
    s.warmup = 100;
    s.rate = 3e-3;
    s.init = std::nullopt;
  } else if (task == "add-reversed") {
    s.length = 3;
    s.layers = 2;
    s.heads = 4;
    s.batch = 128;
    s.steps = 900;
    s.warmup = 100;
    s.rate = 2e-3;
    s.init = std::nullopt;
  } else if (task == "recall") {
    s.length = 8;
    s.layers = 2;
    s.batch = 32;
    s.steps = 700;
    s.rate = 1.5e-3;
    s.init = std::nullopt;
    s.embedding_init = 0.5;
  } else if (task == "text") {
    s.length = 64;
    s.layers = 4;
    s.heads = 4;
    s.width = 128;
    s.batch = 16;
    s.steps = 500;
    s.rate = 3e-3;
    s.init = std::nullopt;
  } else {
    throw std::invalid_argument("unknown task \"" + std::string(task) + "\"");
  }
  return s;
}

}  // namespace

Options default_options(std::string_view task) {
  Options s = own_options(task);
  s.max_steps = task == "text" ? s.steps : 4 * s.steps;
  return s;
}

void validate(const Options& s) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(what);
  };
  const auto is_count = [](std::uint64_t n, std::uint64_t most) { return n >= 1 && n <= most; };
  const auto is_deviation = [](const std::optional<double>& x) {
    return !x || (*x > 0 && std::isfinite(*x));
  };
  // The upper bounds only keep every product of sizes within 64 bits.
  require(is_count(s.length, 1 << 20), "--length must be from 1 to 1048576");
  require(is_count(s.layers, 1024), "--layers must be from 1 to 1024");
  require(is_count(s.width, 1 << 16), "--width must be from 1 to 65536");
  require(is_count(s.heads, s.width),
          "--heads must be from 1 to --width " + std::to_string(s.width));
  require(s.width % s.heads == 0, "--width " + std::to_string(s.width) +
                                      " must be a multiple of --heads " + std::to_string(s.heads));
  require(is_count(s.batch, 1 << 20), "--batch must be from 1 to 1048576");
  require(s.shards == 0 || std::has_single_bit(s.shards),
          "--shards " + std::to_string(s.shards) + " is no power of two");
  require(s.shards == 0 || s.batch % s.shards == 0, "--batch " + std::to_string(s.batch) +
                                                        " must be a multiple of --shards " +
                                                        std::to_string(s.shards));
  require(s.steps <= 1'000'000'000, "--steps must be at most 1000000000");
  require(s.max_steps >= s.steps && s.max_steps <= 1'000'000'000,
          "--max-steps must be from --steps " + std::to_string(s.steps) + " to 1000000000");
  require(s.task != "text" || s.max_steps == s.steps,
          "--max-steps is for tasks with right answers, not for a text");
  require(s.warmup <= 1'000'000'000, "--warmup must be at most 1000000000");
  require(s.dropout >= 0 && s.dropout < 1, "--dropout must be from 0 to below 1");
  require(s.rate > 0 && std::isfinite(s.rate), "--rate must be above 0");
  require(s.beta1 >= 0 && s.beta1 < 1, "--beta1 must be from 0 to below 1");
  require(s.beta2 >= 0 && s.beta2 < 1, "--beta2 must be from 0 to below 1");
  require(s.weight_decay >= 0 && std::isfinite(s.weight_decay), "--weight-decay must be 0 or more");
  require(s.clip > 0 && std::isfinite(s.clip), "--clip must be above 0");
  require(is_deviation(s.init), "--init must be above 0, or fan");
  require(is_deviation(s.embedding_init), "--init-embedding must be above 0, or fan");
}

std::vector<std::pair<std::string, std::string>> describe(const Options& s) {
  const auto count = [](std::uint64_t n) { return std::to_string(n); };
  const std::string init = s.init ? shortest(*s.init) : "1/√fan-in";
  const std::string embedding = s.embedding_init ? shortest(*s.embedding_init)
                                : s.init         ? init
                                                 : "1/√width";
  std::vector<std::pair<std::string, std::string>> rows{{"task", s.task}};
  if (!s.text.empty()) {
    rows.emplace_back("text", s.text);
  }
  rows.insert(rows.end(), {{"length", count(s.length)},
                           {"layers", count(s.layers)},
                           {"heads", count(s.heads)},
                           {"width", count(s.width)},
                           {"dropout", shortest(s.dropout)},
                           {"weights' deviation", init},
                           {"embeddings' deviation", embedding},
                           {"batch", count(s.batch)},
                           {"steps", count(s.steps)},
                           {"most steps", count(s.max_steps)},
                           {"warm-up", count(s.warmup)},
                           {"peak rate", shortest(s.rate)},
                           {"betas", shortest(s.beta1) + ", " + shortest(s.beta2)},
                           {"weight decay", shortest(s.weight_decay)},
                           {"gradient clip", shortest(s.clip)},
                           {"seed", count(s.seed)}});
  if (s.shards > 0) rows.emplace_back("shards", count(s.shards));
  return rows;
}

double rate_at(const Options& s, std::uint64_t step) {
  if (step < s.warmup) {
    return s.rate * static_cast<double>(step + 1) / static_cast<double>(s.warmup);
  }
  constexpr double kLowest = 0.02;
  const double span =
      static_cast<double>(std::max<std::uint64_t>(1, s.steps - std::min(s.steps, s.warmup)));
  const double progress = std::min(1.0, static_cast<double>(step - s.warmup) / span);
  return s.rate * (kLowest + (1.0 - kLowest) * 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
}

}  // namespace train
