#include <tend/nn/data/loader_options.h>

#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/module/generator_state.h>

namespace tend::data::detail {
namespace {

constexpr const char* kLoader = "DataLoader";
constexpr const char* kLoad = "DataLoader::load_state_dict";
constexpr std::array kGeneratorNames{"generator.loader", "generator.sampler", "generator.default"};

// The generators of a position. The options' and the sampler's generator are null if the user gave
// no generator, or gave the default one.
std::array<Generator*, 3> generators_of(const DataLoaderOptions& options) {
  const auto own = [](Generator* generator) {
    return generator == &default_generator() ? nullptr : generator;
  };
  Generator* const of_loader = own(options.generator);
  Generator* of_sampler = nullptr;
  if (options.sampler) of_sampler = own(options.sampler->generator());
  if (options.batch_sampler) of_sampler = own(options.batch_sampler->generator());
  if (of_sampler == of_loader) of_sampler = nullptr;
  return {of_loader, of_sampler, &default_generator()};
}

LoopPosition start_now(const DataLoaderOptions& options, std::int64_t examples) {
  LoopPosition start;
  start.examples = examples;
  const auto own = generators_of(options);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != nullptr) start.generators[i] = *own[i];
  }
  start.generators.back() = get_rng_state();
  return start;
}

// Sets the generators of the options and the sampler, but not the default generator.
void set_own_generators(const LoopPosition& position, const DataLoaderOptions& options) {
  const auto own = generators_of(options);
  for (std::size_t i = 0; i + 1 < own.size(); ++i) {
    if (own[i] != nullptr) *own[i] = *position.generators[i];
  }
}

// What determines the order of a loop, as a number for the state.
std::int64_t order_of(const DataLoaderOptions& options) {
  return options.batch_sampler ? 3 : options.sampler ? 2 : options.shuffle ? 1 : 0;
}

}  // namespace

LoopPosition begin_loop(const LoopPosition& last, const DataLoaderOptions& options,
                        std::int64_t examples) {
  const bool resumes = last.is_loaded && last.is_running;
  if (resumes) set_own_generators(last, options);
  LoopPosition start = resumes ? last : start_now(options, examples);
  start.is_running = true;
  start.is_loaded = false;
  return start;
}

nn::StateDict state_of(const LoopPosition& position, const DataLoaderOptions& options) {
  const auto generators =
      position.is_running ? position.generators : start_now(options, position.examples).generators;
  nn::StateDict state{{"running", full({}, position.is_running, boolean)},
                      {"batches", full({}, position.batches, int64)},
                      {"examples", full({}, position.examples, int64)},
                      {"batch_size", full({}, options.batch_size, int64)},
                      {"order", full({}, order_of(options), int64)}};
  for (std::size_t i = 0; i < generators.size(); ++i) {
    if (generators[i]) state.insert({kGeneratorNames[i], nn::tensor_of_generator(*generators[i])});
  }
  return state;
}

LoopPosition position_of(const nn::StateDict& state, const DataLoaderOptions& options,
                         std::int64_t examples) {
  const auto number = [&](std::string_view name) { return state.at(name).item<std::int64_t>(); };
  LoopPosition position;
  position.examples = examples;
  position.batches = number("batches");
  position.is_running = state.at("running").item<bool>();
  position.is_loaded = true;
  if (position.batches < 0)
    fail(kLoad, "the number of batches in the state must not be negative, got ", position.batches);
  const auto compare = [&](std::string_view name, std::int64_t own) {
    if (number(name) != own)
      fail(kLoad, "a loop can only continue with the same \"", name, "\", which is ", number(name),
           " in the state and ", own, " in this loader");
  };
  // With other values, the loop would repeat or leave out examples. Checkpoints of version 0.1 do
  // not have these entries.
  if (position.is_running && state.contains("examples")) {
    compare("examples", examples);
    compare("batch_size", options.batch_size);
    compare("order", order_of(options));
  }
  const auto own = generators_of(options);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != nullptr) {
      position.generators[i] = nn::generator_of_tensor(state.at(kGeneratorNames[i]));
    } else if (state.contains(kGeneratorNames[i])) {
      fail(kLoad, "this loader needs a \"", kGeneratorNames[i], "\", because the state has one");
    }
  }
  set_own_generators(position, options);
  return position;
}

void check_options(const DataLoaderOptions& options, std::int64_t examples) {
  if (options.batch_size <= 0)
    fail(kLoader, "batch_size must be at least 1, got ", options.batch_size);
  if (options.num_workers < 0 || options.num_workers > kMaxThreads)
    fail(kLoader, "num_workers is ", options.num_workers, ", not from 0 to ", kMaxThreads);
  if (options.prefetch_factor <= 0)
    fail(kLoader, "prefetch_factor must be at least 1, got ", options.prefetch_factor);
  if (options.sampler && options.shuffle) fail(kLoader, "shuffle and sampler exclude each other");
  if (options.batch_sampler &&
      (options.batch_size != 1 || options.shuffle || options.sampler || options.drop_last))
    fail(kLoader, "batch_sampler excludes batch_size, shuffle, sampler and drop_last");
  if (examples < 0 && (options.shuffle || options.sampler || options.batch_sampler))
    fail(kLoader, "an iterable dataset has its own order, so it excludes shuffle and samplers");
}

IndexListSampler batches_of(const DataLoaderOptions& options, std::int64_t size) {
  if (options.batch_sampler) return *options.batch_sampler;
  const Sampler sampler = options.sampler ? *options.sampler
                          : options.shuffle
                              ? Sampler(RandomSampler(size, {.generator = options.generator}))
                              : Sampler(SequentialSampler(size));
  return BatchSampler(sampler, options.batch_size, options.drop_last);
}

}  // namespace tend::data::detail
