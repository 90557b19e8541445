/// \file
/// Trains one model on several processes, with the same bits as on one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/data/sampler.h>
#include <tend/nn/distributed/context.h>
#include <tend/nn/module/module.h>

namespace tend::distributed {

class GradientBuckets;

/// The options of DataParallel.
struct DataParallelOptions {
  /// The number of parts of the global batch: a power of two, at least the number of processes. 0
  /// means the number of processes.
  std::int64_t shards = 0;
  /// The approximate size of a bucket. The gradients of a bucket are sent together.
  std::int64_t bucket_bytes = 1 << 20;
};

/// The cost of all backwards of a DataParallel so far: the bytes that were sent, and the time.
struct ReductionCost {
  std::int64_t bytes_sent = 0;  ///< The bytes of gradients that this process sent.
  double seconds = 0;           ///< From sending the first bucket to receiving the last one.
  double waited_seconds = 0;    ///< The part of `seconds` after the last shard's backward.
};

/// Trains a module on several processes:
///
///     distributed::DataParallel parallel(context, model, {.shards = 8});
///     for (...) {
///       optimizer.zero_grad();
///       loss = parallel.backward([&](std::int64_t shard) {
///         return cross_entropy(model(parallel.part(x, shard)), parallel.part(y, shard));
///       });
///       optimizer.step();
///     }
///
/// The global batch has S shards. Each process computes S / size() of them, one after the other.
/// The gradient is the mean over the shards. It is summed in a binary tree: first neighbouring
/// shards, then neighbouring pairs, and so on. So losses and weights have the same bits for any
/// number of processes (a power of two), if optimizer and data are the same on all processes. Each
/// shard has its own random generator, whose seed comes from the default generator.
///
/// Gradients are sent in buckets during the backward of each process's last shard. The gradients of
/// the last parameters are sent first. A parameter on which no loss depends keeps its old gradient.
/// The gradients, and so their global norm, are the same on all processes.
///
/// It corresponds to torch.nn.parallel.DistributedDataParallel, which wraps the forward instead of
/// the backward.
class DataParallel {
 public:
  /// Copies parameters and buffers of process 0 to all. Context and module must live as long as
  /// this object, which refers to them.
  ///
  /// Throws:
  ///   Error - parameters (names, shapes, dtypes, requires_grad), buffers or options differ between
  ///           processes; the message names the first difference
  ///   Error - the number of processes or shards is not a power of two
  DataParallel(const Context& context, nn::ModuleBase& module,
               const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  std::int64_t shards() const noexcept { return shards_; }
  /// This process has local_shards() shards. The number of the first one is first_shard().
  std::int64_t first_shard() const noexcept { return context_->rank() * local_; }
  std::int64_t local_shards() const noexcept { return local_; }
  /// Returns the rows of one of this process's shards.
  ///
  /// `rows` has the rows of all shards of this process, as LocalRows selects them, and not the rows
  /// of the global batch.
  ///
  /// Throws:
  ///   ShapeError - the number of rows is not a multiple of local_shards()
  ///   IndexError - the shard belongs to another process
  Tensor part(const Tensor& rows, std::int64_t shard) const;

  /// Adds the mean gradient over all shards to the `.grad` of the parameters. Returns the mean loss
  /// over all shards, which is the same on all processes.
  ///
  /// It calls `loss` for each shard of this process; `loss` returns the mean loss of the shard's
  /// rows. The hooks of the parameters see the gradients of each shard, before they are summed.
  /// After an exception no more backwards are possible. The other processes wait for this process,
  /// and end when this process ends.
  ///
  /// Throws:
  ///   Error - a loss is not one number
  ///   Error - parameters were added, replaced, converted, frozen or unfrozen after construction
  ///   Error - it is called within the `loss` or a hook of any DataParallel of this Context
  ///   Error - the processes' default generators differ, or only some processes have a NoSync; all
  ///           processes throw
  double backward(const std::function<Tensor(std::int64_t shard)>& loss);

  /// While a NoSync lives, backward() sends no gradients, but saves the gradients of each shard.
  /// The next backward() without a NoSync adds the saved gradients, even after a zero_grad().
  ///
  /// This needs the memory of the gradients for each shard of this process. Gradients are summed,
  /// as in PyTorch: for the mean of n backwards divide each loss by n. All processes must have a
  /// NoSync, or no process may have one. It corresponds to torch's DistributedDataParallel.no_sync.
  class NoSync {
   public:
    explicit NoSync(DataParallel& parallel) : parallel_(&parallel) { ++parallel_->no_syncs_; }
    ~NoSync() { --parallel_->no_syncs_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallel* parallel_;
  };

  /// Returns the cost of the communication so far; zeros for a single process.
  ReductionCost cost() const;

 private:
  // A parameter, and its gradients on this process.
  struct Parameter {
    Tensor tensor;
    DType dtype;
    Shape shape;
    Tensor before = {};     // the parameter's .grad before the backward
    bool has_come = false;  // the gradient of this shard has been computed
    // Partial sums of the tree. Each sum covers at most half as many shards as the previous sum.
    std::vector<Tensor> sums = {};
    std::vector<Tensor> kept = {};  // the gradient of each shard, while there is a NoSync
  };

  void check_options(const DataParallelOptions& options) const;
  std::vector<std::string> description(const DataParallelOptions& options) const;
  void check_parameters() const;
  void add_gradient(std::size_t number, const Tensor& gradient);
  double run_shard(const std::function<Tensor(std::int64_t)>& loss);
  std::vector<double> run_shards(const std::function<Tensor(std::int64_t)>& loss,
                                 std::uint64_t seed);
  void set_gradients();
  void put_back_gradients();

  const Context* context_;
  nn::ModuleBase* module_;
  std::int64_t shards_, local_ = 0;
  std::vector<Parameter> parameters_;
  std::unique_ptr<GradientBuckets> buckets_;  // null for a single process
  std::int64_t shard_ = 0;  // the current shard, counted from this process's first
  int no_syncs_ = 0;
  bool keeps_ = false;  // there was a NoSync when this backward began
};

/// A batch_sampler for a DataLoader. Its batches have only the rows of this process's shards:
///
///     data::DataLoader loader(
///         dataset, {.batch_sampler = distributed::LocalRows(
///                       data::BatchSampler(data::RandomSampler(1000), /*batch_size=*/32,
///                                          /*drop_last=*/true),
///                       parallel)});
///
/// All processes sample the same batches, in the order of a single process. So a loader's state can
/// be loaded with any number of processes.
///
/// Throws: Error - the size of a batch is not a multiple of the number of shards
class LocalRows {
 public:
  LocalRows(data::IndexListSampler batches, const DataParallel& parallel)
      : batches_(std::move(batches)),
        shards_(parallel.shards()),
        first_(parallel.first_shard()),
        count_(parallel.local_shards()) {}
  std::int64_t size() const { return batches_.size(); }
  data::Stream<data::IndexList> iter() const;
  Generator* generator() const noexcept { return batches_.generator(); }

 private:
  data::IndexListSampler batches_;
  std::int64_t shards_, first_, count_;
};

}  // namespace tend::distributed
