/// \file
/// One model, trained by several processes with the same bits as by one.
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

struct DataParallelOptions {
  /// Parts of the global batch, a power of two, at least one for each process; 0: as many as there
  /// are processes.
  std::int64_t shards = 0;
  /// Gradients are sent together until they have so many bytes.
  std::int64_t bucket_bytes = 1 << 20;
};

/// What the backwards of a DataParallel have cost so far.
struct ReductionCost {
  std::int64_t bytes_sent = 0;  ///< Of gradients, by this process.
  double seconds = 0;           ///< From the first bucket that was sent to the last that came.
  double waited_seconds = 0;    ///< Of these, after the backward of the last shard.
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
/// The global batch has S shards, and each process computes S / size() of them, one after the
/// other. The gradient is the mean over the shards, summed by a binary tree over them: first
/// neighbours, then neighbouring pairs. So losses and weights have the same bits for any number of
/// processes (a power of two), as long as optimizer and data do the same on all. Random numbers are
/// drawn for each shard from a generator of its own, whose seed is drawn from the default one.
///
/// Gradients are sent in buckets, those of the last parameters first, while the backward of the
/// last shard goes on. A parameter that no shard reaches keeps its gradient as it is. The
/// gradients, and so their global norm, are the same on all processes.
///
/// torch.nn.parallel.DistributedDataParallel; there the forward is wrapped, here the backward.
class DataParallel {
 public:
  /// Copies parameters and buffers of process 0 to all. Error unless the module's parameters have
  /// the same names, shapes, dtypes and requires_grad on all processes (the first difference is
  /// named), the same for its buffers and the options, and for processes or shards that are no
  /// powers of two. Context and module are referred to, and must live as long.
  DataParallel(const Context& context, nn::ModuleBase& module,
               const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  std::int64_t shards() const noexcept { return shards_; }
  /// The shards of this process: from first_shard() on, local_shards() of them.
  std::int64_t first_shard() const noexcept { return context_->rank() * local_; }
  std::int64_t local_shards() const noexcept { return local_; }
  /// The rows of a shard of this process, where `rows` are those of all of its shards, as LocalRows
  /// gives them. Those of the whole global batch would be divided, too, and wrongly. ShapeError
  /// where they cannot be divided; IndexError for another process's shard.
  Tensor part(const Tensor& rows, std::int64_t shard) const;

  /// Calls `loss` for each shard of this process, which gives the mean loss of the shard's rows,
  /// and adds the mean gradient over all shards to `.grad` of the parameters. Returns the mean loss
  /// over all shards, the same on all processes. The hooks of the parameters see the gradients of
  /// each shard, before they are summed. Error for a loss that is not one number, for parameters
  /// that were added, replaced, converted, frozen or set free since the construction, when called
  /// within the `loss` or a hook of any DataParallel of the same Context, and on all processes
  /// where the default generators differ, or only some have a NoSync. After an exception on the way
  /// no more backwards are possible; the other processes, which wait for this one, are ended when
  /// it ends.
  double backward(const std::function<Tensor(std::int64_t shard)>& loss);

  /// A backward() that begins while it lives sends nothing: the gradients of each shard are kept,
  /// and added to those of the next backward() without it, whatever zero_grad() does in between.
  /// That takes the memory of the gradients for each shard of this process. They are summed, as in
  /// PyTorch: for the mean of n backwards divide each loss by n. All processes must have one, or
  /// none. torch: DistributedDataParallel.no_sync
  class NoSync {
   public:
    explicit NoSync(DataParallel& parallel) : parallel_(&parallel) { ++parallel_->no_syncs_; }
    ~NoSync() { --parallel_->no_syncs_; }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DataParallel* parallel_;
  };

  ReductionCost cost() const;

 private:
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
  std::int64_t shard_ = 0;  // the one that runs, counted from the first of this process
  int no_syncs_ = 0;
  bool keeps_ = false;  // there was a NoSync when this backward began
};

/// Of each batch of a sampler the rows of this process's shards, for a DataLoader's batch_sampler:
///
///     data::DataLoader loader(
///         dataset, {.batch_sampler = distributed::LocalRows(
///                       data::BatchSampler(data::RandomSampler(1000), /*batch_size=*/32,
///                                          /*drop_last=*/true),
///                       parallel)});
///
/// All processes draw the same batches, so the order is that of one process, and a loader's state
/// fits any number of processes. A batch whose size is no multiple of the shards is an Error.
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
