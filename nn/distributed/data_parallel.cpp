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

/// a + b, where an undefined tensor counts as zero.
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

/// Adds neighbours first, then neighbouring pairs, and so on. The size of `numbers` is a power of
/// two.
double tree_sum(std::vector<double> numbers) {
  for (std::size_t width = 1; width < numbers.size(); width *= 2) {
    for (std::size_t i = 0; i < numbers.size(); i += 2 * width) numbers[i] += numbers[i + width];
  }
  return numbers[0];
}

/// The data that a process sends to the others after the backwards of its shards.
struct Report {
  std::vector<double> losses;  // the loss of each of its shards
  std::uint64_t seed;
  bool keeps;
};

/// The mean loss of all processes' shards.
double mean_loss(Communicator::Operation& operation, int processes, const Report& own) {
  const std::size_t count = own.losses.size();
  std::vector<double> row(own.losses);
  row.push_back(std::bit_cast<double>(own.seed));
  row.push_back(own.keeps ? 1 : 0);
  std::vector<double> rows(row.size() * static_cast<std::size_t>(processes));
  operation.all_gather(std::as_bytes(std::span(row)), std::as_writable_bytes(std::span(rows)));
  std::vector<double> losses;
  for (std::size_t process = 0; process * row.size() < rows.size(); ++process) {
    const std::span<const double> its = std::span(rows).subspan(process * row.size(), row.size());
    if (std::bit_cast<std::uint64_t>(its[count]) != std::bit_cast<std::uint64_t>(rows[count]))
      fail(kBackward, "all default generators must have the same seed, but process ", process,
           " has used other random numbers than process 0");
    if (its.back() != rows[count + 1])
      fail(kBackward, "all processes or no process must have a NoSync, but only one of process 0 ",
           "and process ", process, " has a NoSync");
    losses.insert(losses.end(), its.begin(), its.end() - 2);
  }
  const auto shards = static_cast<double>(losses.size());
  return tree_sum(std::move(losses)) / shards;
}

/// Hooks that the destructor removes.
struct Hooks {
  std::vector<HookHandle> all;

  ~Hooks() { remove(); }
  void remove() {
    for (HookHandle& each : all) each.remove();
    all.clear();
  }
};

}  // namespace

void DataParallel::check_options(const DataParallelOptions& options) const {
  const int processes = context_->size();
  if (!is_power_of_two(processes))
    fail(kParallel, "the number of processes, ", processes, ", is not a power of two");
  if (!is_power_of_two(shards_))
    fail(kParallel, "the number of shards, ", shards_, ", is not a power of two");
  if (shards_ < processes)
    fail(kParallel, processes, " processes need at least ", processes, " shards, got ", shards_);
  if (options.bucket_bytes < 1)
    fail(kParallel, "bucket_bytes must be at least 1, got ", options.bucket_bytes);
}

std::vector<std::string> DataParallel::description(const DataParallelOptions& options) const {
  std::vector<std::string> lines{as_text(shards_, " shards"),
                                 as_text("bucket_bytes ", options.bucket_bytes)};
  for (const auto& [name, tensor] : module_->named_parameters())
    lines.push_back(as_text(name, ' ', tensor.shape(), ' ', tensor.dtype(),
                            tensor.requires_grad() ? "" : ", frozen"));
  for (const auto& [name, tensor] : module_->named_buffers())
    lines.push_back(as_text("buffer ", name, ' ', tensor.shape(), ' ', tensor.dtype()));
  return lines;
}

void DataParallel::check_parameters() const {
  const auto is_same = [](const Tensor& now, const Parameter& then) {
    return now.impl() == then.tensor.impl() && now.dtype() == then.dtype &&
           now.shape() == then.shape;
  };
  const std::vector<Tensor> trained = trained_of(*module_);
  if (!std::equal(trained.begin(), trained.end(), parameters_.begin(), parameters_.end(), is_same))
    fail(kBackward,
         "parameters were added, replaced, converted, frozen or unfrozen; make a new DataParallel");
}

// Adds a shard's gradient to the sums of earlier shards. It works like counting in binary: two sums
// over the same number of shards become one. After the last shard a single sum is left.
void DataParallel::add_gradient(std::size_t number, const Tensor& gradient) {
  Parameter& parameter = parameters_[number];
  if (std::exchange(parameter.has_come, true))
    fail(kBackward, "a parameter had two gradients in one shard: a backward ran within another");
  Tensor& kept = parameter.kept[static_cast<std::size_t>(shard_)];
  Tensor sum = sum_of(kept, gradient);
  kept = keeps_ ? sum : Tensor();
  if (keeps_) return;
  for (std::int64_t made = shard_; made % 2 == 1; made /= 2) {
    sum = sum_of(parameter.sums.back(), sum);
    parameter.sums.pop_back();
  }
  parameter.sums.push_back(sum);
  if (shard_ + 1 < local_ || !buckets_) return;
  buckets_->put(number, sum);
  buckets_->advance();
}

double DataParallel::run_shard(const std::function<Tensor(std::int64_t)>& loss) {
  const std::int64_t number = context_->rank() * local_ + shard_;
  const Tensor value = loss(number);
  // The hooks are registered after `loss` ran. So they run after all hooks of the user, and see the
  // gradient that those hooks return.
  Hooks hooks;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    hooks.all.push_back(parameters_[i].tensor.register_hook(
        [this, i](const Tensor& gradient) { add_gradient(i, gradient); }));
  }
  if (!value.defined() || value.numel() != 1)
    fail(kBackward, "the loss of shard ", number, " is ",
         value.defined() ? as_text(value.shape()) : std::string("undefined"), ", not one number");
  for (Parameter& each : parameters_) {
    each.has_come = false;
    each.tensor.set_grad({});
  }
  value.backward();
  hooks.remove();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].has_come) add_gradient(i, {});
    parameters_[i].tensor.set_grad({});
  }
  return value.item();
}

std::vector<double> DataParallel::run_shards(const std::function<Tensor(std::int64_t)>& loss,
                                             std::uint64_t seed) {
  const RngStateGuard same_generator;
  std::vector<double> losses;
  for (shard_ = 0; shard_ < local_; ++shard_) {
    manual_seed(seed + static_cast<std::uint64_t>(context_->rank() * local_ + shard_));
    losses.push_back(run_shard(loss));
  }
  return losses;
}

void DataParallel::set_gradients() {
  const NoGradGuard no_grad;
  if (buckets_) buckets_->wait();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& each = parameters_[i];
    const Tensor sum = buckets_ ? buckets_->sum(i) : each.sums.back();
    each.sums.clear();
    // The product is exact, since the number of shards is a power of two.
    const Tensor mean = sum.defined() ? sum.mul(1.0 / static_cast<double>(shards_)) : Tensor();
    each.tensor.set_grad(sum_of(each.before, mean));
  }
  for (Parameter& each : parameters_) each.before = {};
}

void DataParallel::put_back_gradients() {
  for (Parameter& each : parameters_) each.tensor.set_grad(std::exchange(each.before, {}));
}

DataParallel::DataParallel(const Context& context, nn::ModuleBase& module,
                           const DataParallelOptions& options)
    : context_(&context),
      module_(&module),
      shards_(options.shards == 0 ? context.size() : options.shards) {
  Communicator::Operation operation(context.communicator(), kParallel);
  operation.check_agreement(description(options));
  check_options(options);
  std::vector<Tensor> tensors = module.parameters();
  for (const Tensor& each : module.buffers()) tensors.push_back(each);
  context.broadcast(tensors);
  local_ = shards_ / context.size();
  const std::vector<Tensor> trained = trained_of(module);
  for (const Tensor& each : trained) {
    parameters_.push_back({.tensor = each, .dtype = each.dtype(), .shape = each.shape()});
    parameters_.back().kept.resize(static_cast<std::size_t>(local_));
  }
  if (context.size() == 1) return;
  buckets_ =
      std::make_unique<GradientBuckets>(context.communicator(), trained, options.bucket_bytes);
}

DataParallel::~DataParallel() = default;

Tensor DataParallel::part(const Tensor& rows, std::int64_t shard) const {
  constexpr const char* kPart = "DataParallel::part";
  const std::int64_t number = shard - first_shard();
  if (number < 0 || number >= local_)
    fail<IndexError>(kPart, "shard ", shard, " does not belong to this process, which has shards ",
                     first_shard(), " to ", first_shard() + local_ - 1);
  if (rows.dim() == 0 || rows.size(0) % local_ != 0)
    fail<ShapeError>(kPart, "the rows of ", rows.shape(), " cannot be divided into ", local_,
                     " shards");
  const std::int64_t size = rows.size(0) / local_;
  return rows.narrow(0, number * size, size);
}

double DataParallel::backward(const std::function<Tensor(std::int64_t shard)>& loss) {
  if (!loss) fail(kBackward, "the function that computes the loss is empty");
  Communicator::Operation operation(context_->communicator(), kBackward);
  if (operation.outer() != nullptr)
    fail(kBackward, "must not be called within a backward, by its loss or a hook");
  check_parameters();
  operation.expect_local_errors();
  keeps_ = no_syncs_ > 0;
  std::uint64_t seed = 0;
  {
    const GeneratorLock lock(default_generator());
    seed = default_generator().u64();
  }
  for (Parameter& each : parameters_) each.before = each.tensor.grad();
  const std::vector<double> losses = run_shards(loss, seed);
  const double mean = mean_loss(operation, context_->size(), {losses, seed, keeps_});
  if (keeps_) {
    put_back_gradients();
  } else {
    set_gradients();
  }
  return mean;
}

ReductionCost DataParallel::cost() const {
  return buckets_ ? buckets_->cost() : ReductionCost();
}

data::Stream<data::IndexList> LocalRows::iter() const {
  return [batches = batches_.iter(), *this]() -> std::optional<data::IndexList> {
    const std::optional<data::IndexList> batch = batches();
    if (!batch) return std::nullopt;
    const auto size = static_cast<std::int64_t>(batch->size());
    if (size % shards_ != 0)
      fail("LocalRows", "the size of a batch must be a multiple of the ", shards_, " shards, got ",
           size);
    const auto first = batch->begin() + first_ * (size / shards_);
    return data::IndexList(first, first + count_ * (size / shards_));
  };
}

}  // namespace tend::distributed
