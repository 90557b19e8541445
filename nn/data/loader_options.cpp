#include <tend/nn/data/loader_options.h>

#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/core/base/error.h>
#include <tend/core/threads/parallel.h>
#include <tend/nn/module/generator_state.h>

namespace tend::data::detail {
namespace {

using nn::generator_of_tensor, nn::tensor_of_generator;

constexpr const char* kLoader = "DataLoader";
constexpr const char* kLoad = "DataLoader::load_state_dict";
constexpr std::array kGeneratorNames{"generator.loader", "generator.sampler", "generator.default"};

const Tensor& entry(const nn::StateDict& state, std::string_view name, DType dtype,
                    std::int64_t rank) {
  const auto found = state.find(name);
  if (found == state.end()) fail<IndexError>(kLoad, "the state has no \"", name, '"');
  const Tensor& value = found->second;
  if (!value.defined()) fail(kLoad, '"', name, "\" is undefined");
  if (value.dtype() != dtype)
    fail<DTypeError>(kLoad, '"', name, "\" is ", value.dtype(), ", not ", dtype);
  if (value.dim() != rank)
    fail<ShapeError>(kLoad, '"', name, "\" has ", value.dim(), " dimensions, not ", rank);
  return value;
}

std::int64_t whole(const nn::StateDict& state, std::string_view name) {
  return entry(state, name, DType::int64, 0).item<std::int64_t>();
}

// The default generator is not the user's own.
Generator* own_or_null(Generator* generator) {
  return generator == &default_generator() ? nullptr : generator;
}

// What decides the order of a pass, as a state has it.
std::int64_t order_of(const DataLoaderOptions& options) {
  return options.batch_sampler ? 3 : options.sampler ? 2 : options.shuffle ? 1 : 0;
}

std::string pass_of(std::int64_t examples, std::int64_t batch_size, std::int64_t order) {
  constexpr std::array kOrders{"in order", "shuffled", "by a sampler", "by a batch_sampler"};
  const std::string over = examples < 0 ? "an iterable dataset" : as_text(examples, " examples");
  const bool is_known = order >= 0 && order < static_cast<std::int64_t>(kOrders.size());
  return as_text("a pass over ", over, " in batches of ", batch_size, ", ",
                 is_known ? kOrders[static_cast<std::size_t>(order)] : "in an unknown order");
}

}  // namespace

LoaderState::LoaderState(const DataLoaderOptions& options, std::optional<std::int64_t> size,
                         Generator* sampler)
    : own_{own_or_null(options.generator), own_or_null(sampler)},
      examples_(size.value_or(-1)),
      batch_size_(options.batch_size),
      drops_last_(options.drop_last),
      order_(order_of(options)) {
  if (own_[0] == own_[1]) own_[1] = nullptr;
}

LoaderState::Generators LoaderState::current() const {
  Generators now;
  for (std::size_t i = 0; i < kOwn; ++i) {
    if (own_[i] != nullptr) now[i] = *own_[i];
  }
  now[kOwn] = get_rng_state();
  return now;
}

void LoaderState::set_own(const Generators& generators) const {
  for (std::size_t i = 0; i < kOwn; ++i) {
    if (own_[i] != nullptr) *own_[i] = *generators[i];
  }
}

LoaderState::Start LoaderState::start() const {
  if (!loaded_) return {current()};
  set_own(at_start_);
  return {at_start_, batches_, true};
}

std::uint64_t LoaderState::begin(const Start& start) {
  at_start_ = start.generators;
  batches_ = start.batches;
  loaded_ = false;
  running_ = true;
  return ++loop_;
}

nn::StateDict LoaderState::to_dict() const {
  const Generators generators = running_ ? at_start_ : current();
  nn::StateDict state;
  state.insert({"running", full({}, running_, boolean)});
  state.insert({"batches", full({}, batches_, DType::int64)});
  state.insert({"examples", full({}, examples_, DType::int64)});
  state.insert({"batch_size", full({}, batch_size_, DType::int64)});
  state.insert({"order", full({}, order_, DType::int64)});
  for (std::size_t i = 0; i < generators.size(); ++i) {
    if (generators[i]) state.insert({kGeneratorNames[i], tensor_of_generator(*generators[i])});
  }
  return state;
}

void LoaderState::set_examples(std::int64_t examples) {
  if (loaded_ && examples != examples_)
    fail(kLoader, "the dataset had ", examples_,
         " examples when a place among them was loaded, now ", examples);
  examples_ = examples;
}

void LoaderState::load(const nn::StateDict& state, std::int64_t examples) {
  const bool running = entry(state, "running", DType::boolean, 0).item<bool>();
  const std::int64_t batches = whole(state, "batches");
  if (batches < 0 || (batches > 0 && !running))
    fail(kLoad, "the state has ", batches, " batches ", running ? "within" : "outside of",
         " a pass");
  // Otherwise a place within a pass would be another: examples would be repeated or left out.
  // Checkpoints of 0.1 do not tell.
  if (running && state.contains("examples")) {
    const std::string was =
        pass_of(whole(state, "examples"), whole(state, "batch_size"), whole(state, "order"));
    const std::string own = pass_of(examples, batch_size_, order_);
    if (was != own) fail(kLoad, "the state is of ", was, ", this loader makes ", own);
    // Samplers may give any number of examples.
    const bool has_rest = !drops_last_ && examples % batch_size_ != 0;
    const std::int64_t most = examples / batch_size_ + (has_rest ? 1 : 0);
    if (examples >= 0 && order_ <= 1 && batches > most)
      fail(kLoad, "the state has ", batches, " batches of ", own);
  }
  Generators generators;
  for (std::size_t i = 0; i < generators.size(); ++i) {
    const bool is_own = i == kOwn || own_[i] != nullptr;
    if (!is_own && state.contains(kGeneratorNames[i]))
      fail(kLoad, "the state has a \"", kGeneratorNames[i], "\", this loader has none");
    if (is_own)
      generators[i] = generator_of_tensor(entry(state, kGeneratorNames[i], DType::int64, 1));
  }
  set_own(generators);  // the default generator stays as the program has it
  at_start_ = generators;
  examples_ = examples;
  ++loop_;  // loops that are running do not count any more
  ++loads_;
  batches_ = batches;
  running_ = loaded_ = running;
}

void check_options(const DataLoaderOptions& options, std::optional<std::int64_t> size) {
  constexpr std::int64_t kMostAhead = 1024;
  if (options.batch_size <= 0) fail(kLoader, "batch_size is ", options.batch_size);
  if (options.num_workers < 0 || options.num_workers > kMaxThreads)
    fail(kLoader, "num_workers is ", options.num_workers, ", not from 0 to ", kMaxThreads);
  if (options.prefetch_factor <= 0 || options.prefetch_factor > kMostAhead)
    fail(kLoader, "prefetch_factor is ", options.prefetch_factor, ", not from 1 to ", kMostAhead);
  if (options.sampler && options.shuffle) fail(kLoader, "shuffle and sampler exclude each other");
  if (options.batch_sampler &&
      (options.batch_size != 1 || options.shuffle || options.sampler || options.drop_last))
    fail(kLoader, "batch_sampler excludes batch_size, shuffle, sampler and drop_last");
  if (!size && (options.shuffle || options.sampler || options.batch_sampler))
    fail(kLoader, "an iterable dataset has its own order: no shuffle, sampler or batch_sampler");
  if (size && *size < 0) fail(kLoader, "the dataset's size is ", *size);
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
