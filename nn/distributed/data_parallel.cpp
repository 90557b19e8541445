#include <tend/nn/distributed/data_parallel.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/ops/arithmetic.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/random/random.h>
#include <tend/nn/distributed/communicator.h>
#include <tend/nn/distributed/gradient_buckets.h>

namespace tend::distributed {
namespace {

constexpr const char* kParallel = "DataParallel";
constexpr const char* kBackward = "DataParallel::backward";

bool is_power_of_two(std::int64_t n) {
  return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

/// Either may be undefined.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  const NoGradGuard no_grad;
  if (!a.defined()) return b;
  return b.defined() ? a.add(b) : a;
}

std::vector<Tensor> trained_of(const nn::ModuleBase& module) {
  std::vector<Tensor> trained = module.parameters();
  std::erase_if(trained, [](const Tensor& each) { return !each.requires_grad(); });
  return trained;
}

/// Neighbours first, then neighbouring pairs; of a power of two of numbers.
double tree_sum(std::vector<double> numbers) {
  for (std::size_t width = 1; width < numbers.size(); width *= 2) {
    for (std::size_t i = 0; i < numbers.size(); i += 2 * width) numbers[i] += numbers[i + width];
  }
  return numbers[0];
}

/// Hooks that are removed at the end.
struct Hooks {
  std::vector<HookHandle> all;

  ~Hooks() { remove(); }
  void remove() {
    for (HookHandle& each : all) each.remove();
    all.clear();
  }
};

}  // namespace

struct DataParallel::State {
  // A parameter, and its gradients on this process.
  struct Parameter {
    Tensor tensor;
    DType dtype;
    Shape shape;
    Tensor before = {};             // its .grad before the backward
    bool has_come = false;          // the gradient of this shard
    std::vector<Tensor> sums = {};  // of shards, each of half as many as the one before it
    std::vector<Tensor> kept = {};  // of each shard, while there is a NoSync
  };

  State(const Context& c, nn::ModuleBase& m, const DataParallelOptions& options)
      : context(&c), module(&m), shards(options.shards == 0 ? c.size() : options.shards) {}

  const Context* context;
  nn::ModuleBase* module;
  std::int64_t shards;
  std::int64_t local = 0;
  std::vector<Parameter> parameters;
  std::optional<GradientBuckets> buckets;
  std::int64_t shard = 0;  // the one that runs, counted from the first of this process
  int no_syncs = 0;
  bool keeps = false;  // there was a NoSync when this backward began
  ReductionCost no_cost;

  void check_options(const DataParallelOptions& options) const;
  std::vector<std::string> description(const DataParallelOptions& options) const;
  void find_parameters();
  void check_parameters() const;
  void add_gradient(std::size_t number, const Tensor& gradient);
  double run_shard(const std::function<Tensor(std::int64_t)>& loss);
  std::vector<double> run_shards(const std::function<Tensor(std::int64_t)>& loss,
                                 std::uint64_t seed);
  double mean_loss(Communicator::Operation& operation, const std::vector<double>& own,
                   std::uint64_t seed) const;
  void set_gradients();
  void put_back_gradients();
};

void DataParallel::State::check_options(const DataParallelOptions& options) const {
  const int processes = context->size();
  if (!is_power_of_two(processes)) fail(kParallel, processes, " processes are no power of two");
  if (!is_power_of_two(shards)) fail(kParallel, shards, " shards are no power of two");
  if (shards < processes)
    fail(kParallel, shards, " shards are fewer than the ", processes, " processes");
  if (options.bucket_bytes < 1)
    fail(kParallel, "bucket_bytes must be at least 1, got ", options.bucket_bytes);
}

std::vector<std::string> DataParallel::State::description(
    const DataParallelOptions& options) const {
  std::vector<std::string> lines{as_text(shards, " shards"),
                                 as_text("bucket_bytes ", options.bucket_bytes)};
  for (const auto& [name, tensor] : module->named_parameters())
    lines.push_back(as_text(name, ' ', tensor.shape(), ' ', tensor.dtype(),
                            tensor.requires_grad() ? "" : ", frozen"));
  for (const auto& [name, tensor] : module->named_buffers())
    lines.push_back(as_text("buffer ", name, ' ', tensor.shape(), ' ', tensor.dtype()));
  return lines;
}

void DataParallel::State::find_parameters() {
  for (const Tensor& each : trained_of(*module)) {
    parameters.push_back({.tensor = each, .dtype = each.dtype(), .shape = each.shape()});
    Parameter& added = parameters.back();
    added.kept.resize(static_cast<std::size_t>(local));
  }
}

void DataParallel::State::check_parameters() const {
  const auto is_same = [](const Tensor& now, const Parameter& then) {
    return now.impl() == then.tensor.impl() && now.dtype() == then.dtype &&
           now.shape() == then.shape;
  };
  const std::vector<Tensor> trained = trained_of(*module);
  if (!std::equal(trained.begin(), trained.end(), parameters.begin(), parameters.end(), is_same))
    fail(kBackward,
         "parameters were added, replaced, converted, frozen or set free; make a new DataParallel");
}

// Adds a shard's gradient to those before it, as one counts in binary: two sums of as many shards
// become one. The last shard of this process leaves a single sum.
void DataParallel::State::add_gradient(std::size_t number, const Tensor& gradient) {
  Parameter& parameter = parameters[number];
  if (std::exchange(parameter.has_come, true))
    fail(kBackward, "a parameter had two gradients in one shard: a backward ran within another");
  Tensor& kept = parameter.kept[static_cast<std::size_t>(shard)];
  Tensor sum = sum_of(kept, gradient);
  kept = keeps ? sum : Tensor();
  if (keeps) return;
  for (std::int64_t made = shard; made % 2 == 1; made /= 2) {
    sum = sum_of(parameter.sums.back(), sum);
    parameter.sums.pop_back();
  }
  parameter.sums.push_back(sum);
  if (shard + 1 < local || !buckets) return;
  buckets->put(number, sum);
  buckets->advance();
}

double DataParallel::State::run_shard(const std::function<Tensor(std::int64_t)>& loss) {
  const std::int64_t number = context->rank() * local + shard;
  const Tensor value = loss(number);
  // The hooks are registered when the loss is there, so that they see what all hooks of the user
  // have made of a gradient.
  Hooks hooks;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    hooks.all.push_back(parameters[i].tensor.register_hook(
        [this, i](const Tensor& gradient) { add_gradient(i, gradient); }));
  }
  if (!value.defined() || value.numel() != 1)
    fail(kBackward, "the loss of shard ", number, " is ",
         value.defined() ? as_text(value.shape()) : std::string("undefined"), ", not one number");
  for (Parameter& each : parameters) {
    each.has_come = false;
    each.tensor.set_grad({});
  }
  value.backward();
  hooks.remove();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].has_come) add_gradient(i, {});
    parameters[i].tensor.set_grad({});
  }
  return value.item();
}

std::vector<double> DataParallel::State::run_shards(const std::function<Tensor(std::int64_t)>& loss,
                                                    std::uint64_t seed) {
  const RngStateGuard same_generator;
  std::vector<double> losses;
  for (shard = 0; shard < local; ++shard) {
    manual_seed(seed + static_cast<std::uint64_t>(context->rank() * local + shard));
    losses.push_back(run_shard(loss));
  }
  return losses;
}

double DataParallel::State::mean_loss(Communicator::Operation& operation,
                                      const std::vector<double>& own, std::uint64_t seed) const {
  std::vector<double> row(own);  // what each process tells the others
  row.push_back(std::bit_cast<double>(seed));
  row.push_back(keeps ? 1 : 0);
  std::vector<double> rows(row.size() * static_cast<std::size_t>(context->size()));
  operation.all_gather(std::as_bytes(std::span(row)), std::as_writable_bytes(std::span(rows)));
  std::vector<double> losses;
  for (std::size_t process = 0; process * row.size() < rows.size(); ++process) {
    const std::span<const double> its = std::span(rows).subspan(process * row.size(), row.size());
    if (std::bit_cast<std::uint64_t>(its[own.size()]) !=
        std::bit_cast<std::uint64_t>(rows[own.size()]))
      fail(kBackward, "process ", process,
           " has drawn other random numbers than process 0; seed all alike");
    if (its.back() != rows[own.size() + 1])
      fail(kBackward, "of process 0 and process ", process, " only one has a NoSync");
    losses.insert(losses.end(), its.begin(), its.end() - 2);
  }
  return tree_sum(std::move(losses)) / static_cast<double>(shards);
}

void DataParallel::State::set_gradients() {
  const NoGradGuard no_grad;
  if (buckets) buckets->wait();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Parameter& each = parameters[i];
    const Tensor sum = buckets ? buckets->sum(i) : each.sums.back();
    each.sums.clear();
    // Exact, since there is a power of two of shards.
    const Tensor mean = sum.defined() ? sum.mul(1.0 / static_cast<double>(shards)) : Tensor();
    each.tensor.set_grad(sum_of(each.before, mean));
  }
  for (Parameter& each : parameters) each.before = {};
}

void DataParallel::State::put_back_gradients() {
  for (Parameter& each : parameters) each.tensor.set_grad(std::exchange(each.before, {}));
}

DataParallel::DataParallel(const Context& context, nn::ModuleBase& module,
                           const DataParallelOptions& options)
    : state_(std::make_unique<State>(context, module, options)) {
  Communicator::Operation operation(context.communicator(), kParallel);
  operation.check_agreement(state_->description(options));
  state_->check_options(options);
  std::vector<Tensor> tensors = module.parameters();
  for (const Tensor& each : module.buffers()) tensors.push_back(each);
  context.broadcast(tensors);
  state_->local = state_->shards / context.size();
  state_->find_parameters();
  if (context.size() == 1) return;
  std::vector<Tensor> trained;
  for (const State::Parameter& each : state_->parameters) trained.push_back(each.tensor);
  state_->buckets.emplace(context.communicator(), trained, options.bucket_bytes);
}

DataParallel::~DataParallel() = default;

std::int64_t DataParallel::shards() const noexcept {
  return state_->shards;
}
std::int64_t DataParallel::local_shards() const noexcept {
  return state_->local;
}
std::int64_t DataParallel::first_shard() const noexcept {
  return state_->context->rank() * state_->local;
}

Tensor DataParallel::part(const Tensor& rows, std::int64_t shard) const {
  constexpr const char* kPart = "DataParallel::part";
  const std::int64_t local = state_->local, number = shard - first_shard();
  if (number < 0 || number >= local)
    fail<IndexError>(kPart, "shard ", shard, " is not one of this process's, ", first_shard(),
                     " to ", first_shard() + local - 1);
  if (rows.dim() == 0 || rows.size(0) % local != 0)
    fail<ShapeError>(kPart, rows.shape(), " does not have rows for ", local, " shards");
  const std::int64_t size = rows.size(0) / local;
  return rows.narrow(0, number * size, size);
}

double DataParallel::backward(const std::function<Tensor(std::int64_t shard)>& loss) {
  if (!loss) fail(kBackward, "the function that computes the loss is empty");
  State& s = *state_;
  Communicator::Operation operation(s.context->communicator(), kBackward);
  if (operation.outer() != nullptr)
    fail(kBackward, "called within a backward, by its loss or a hook");
  s.check_parameters();
  operation.unsettle();
  s.keeps = s.no_syncs > 0;
  std::uint64_t seed = 0;
  {
    const GeneratorLock lock(default_generator());
    seed = default_generator().u64();
  }
  for (State::Parameter& each : s.parameters) each.before = each.tensor.grad();
  const double mean = s.mean_loss(operation, s.run_shards(loss, seed), seed);
  if (s.keeps) {
    s.put_back_gradients();
  } else {
    s.set_gradients();
  }
  return mean;
}

DataParallel::NoSync::NoSync(DataParallel& parallel) : parallel_(&parallel) {
  ++parallel_->state_->no_syncs;
}

DataParallel::NoSync::~NoSync() {
  --parallel_->state_->no_syncs;
}

const ReductionCost& DataParallel::cost() const noexcept {
  return state_->buckets ? state_->buckets->cost() : state_->no_cost;
}

data::Stream<data::IndexList> LocalRows::iter() const {
  return [batches = batches_.iter(), *this]() -> std::optional<data::IndexList> {
    const std::optional<data::IndexList> batch = batches();
    if (!batch) return std::nullopt;
    const auto size = static_cast<std::int64_t>(batch->size());
    if (size % shards_ != 0)
      fail("LocalRows", "a batch has ", size, " rows, no multiple of ", shards_, " shards");
    const auto first = batch->begin() + first_ * (size / shards_);
    return data::IndexList(first, first + count_ * (size / shards_));
  };
}

}  // namespace tend::distributed
