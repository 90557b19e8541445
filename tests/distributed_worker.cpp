// The program that the tests of tend::distributed start in several processes.
//   distributed_worker train SHARDS STEPS [FILE]   prints each loss and the weights, as bits, and
//                                                  writes a checkpoint to FILE half-way
//   distributed_worker resume SHARDS STEPS FILE    continues from that checkpoint
//   distributed_worker dies SHARDS STEPS FILE      like train, but the last process is killed in
//                                                  the last step
//   distributed_worker kept SHARDS STEPS           calls backward twice per step, the first
//                                                  time with NoSync
//   distributed_worker trainer FOLDER (patience | signal | filled | unwritten | best | onwards)
//                                                  uses nn::Trainer on all processes
//   distributed_worker again FOLDER                a Trainer resumes the checkpoint that it saved
//   distributed_worker (calls | hooks | extra | skipped | shapes | options |
//                       seeds | frozen | replaced | converted | nosync | within | nested | loss |
//                       killed | throws | catches | leaves)

#include <bit>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tend/nn/distributed/data_parallel.h>
#include <tend/nn/distributed/for_processes.h>
#include <tend/tend.h>

namespace {

using namespace tend;
using distributed::Context;
using distributed::DataParallel;
using Dataset = data::TensorDataset<2>;

constexpr std::int64_t kRows = 16;  // the number of rows of the global batch

// Has dropout, a frozen layer, a layer that only some shards use, and a layer that no shard uses.
class Net : public nn::Module<Net> {
 public:
  explicit Net(std::int64_t width = 6)
      : up(5, width), dropout(0.3), down(width, 2), sometimes(2, 2), never(3, 3), frozen(2, 2) {
    frozen.requires_grad_(false);
  }
  Tensor forward(const Tensor& x) const {
    const Tensor y = frozen(down(dropout(gelu(up(x)))));
    return x[{0, 0}].item() > 0 ? sometimes(y) : y;
  }
  TEND_MODULE(nn::Linear, up);
  TEND_MODULE(nn::Dropout, dropout);
  TEND_MODULE(nn::Linear, down);
  TEND_MODULE(nn::Linear, sometimes);
  TEND_MODULE(nn::Linear, never);
  TEND_MODULE(nn::Linear, frozen);
};

std::uint64_t bits(double number) {
  return std::bit_cast<std::uint64_t>(number);
}

struct Run {
  Run(const Context& context, std::int64_t shards)
      : parallel(context, net, {.shards = shards, .bucket_bytes = 200}),
        loader(Dataset(normal(0, 1, {96, 5}), normal(0, 1, {96, 2})),
               {.batch_sampler = distributed::LocalRows(
                    data::BatchSampler(data::RandomSampler(96), kRows, true), parallel),
                .num_workers = 1}) {
    state.add("optimizer", optimizer);
    state.add("loader", loader);
    state.add("step", step);
  }

  double backward() {
    auto& batch = batches.next();
    return parallel.backward([&](std::int64_t shard) {
      const auto& [x, y] = batch;
      return mse_loss(net(parallel.part(x, shard)), parallel.part(y, shard));
    });
  }
  void make_step(bool keeps_first) {
    optimizer.zero_grad();
    if (keeps_first) {
      const DataParallel::NoSync no_sync(parallel);
      std::cout << std::hex << bits(backward()) << '\n';
    }
    const double loss = backward();
    const double norm = nn::clip_grad_norm_(net.parameters(), 0.5);
    optimizer.step();
    ++step;
    std::cout << std::hex << bits(loss) << ' ' << bits(norm) << '\n';
  }
  void print_weights() {
    for (const auto& [name, tensor] : net.state_dict())
      for (const float each : tensor.to_vector<float>()) std::cout << std::hex << bits(each) << ' ';
    std::cout << (net.never.weight.grad().defined() ? "never has a gradient" : "") << '\n';
  }

  bool is_seeded = (manual_seed(3), true);
  Net net;
  DataParallel parallel;
  optim::AdamW optimizer{net.parameters(), {.lr = 0.01}};
  data::DataLoader<Dataset> loader;
  data::Endless<data::DataLoader<Dataset>> batches{loader};
  std::int64_t step = 0;
  nn::RunState state{net};
};

void train(const Context& context, const std::string& what, std::int64_t shards, std::int64_t steps,
           const std::string& file) {
  Run run(context, shards);
  if (what == "resume") run.state.load(file);
  while (run.step < steps) {
    const bool is_last = context.rank() == context.size() - 1;
    if (what == "dies" && is_last && run.step == steps - 1) std::raise(SIGKILL);
    run.make_step(what == "kept");
    if (what != "resume" && !file.empty() && run.step == steps / 2 && context.is_first())
      run.state.save(file);
  }
  run.print_weights();
}

// Only the last process sees the event that ends the run.
void use_trainer(const Context& context, const std::string& folder, const std::string& what) {
  manual_seed(3);
  Net net;
  optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  DataParallel parallel(context, net, {.shards = 8});
  const Tensor x = randn({kRows, 5}), y = randn({kRows, 2});
  const std::int64_t size = kRows / context.size();
  const auto own = [&](const Tensor& rows) { return rows.narrow(0, context.rank() * size, size); };
  const auto gradients = [&] {
    return parallel.backward([&](std::int64_t shard) {
      return mse_loss(net(parallel.part(own(x), shard)), parallel.part(own(y), shard));
    });
  };
  const bool is_last = context.rank() == context.size() - 1;
  double evaluation = 0;
  nn::TrainerOptions options{.steps = 12, .out = folder, .save_every = 4};
  if (what == "patience") {
    options.evaluate_every = 2;
    options.patience = 2;
    options.evaluate = [&] { return is_last ? --evaluation : ++evaluation; };
  }
  if (what == "signal") {
    options.after_step = [&](nn::TrainedStep& done) {
      if (is_last && done.step == 5) std::raise(SIGTERM);
    };
  }
  if (what == "unwritten") options.writes = false;
  std::int64_t first = 0;
  if (what == "best" || what == "onwards") {  // "best" is killed before step 12
    options.save_every = 0;
    options.evaluate_every = 2;
    options.keep_best = true;
    options.resume = what == "onwards";
    options.evaluate = [&] { return --evaluation; };
    options.after_step = [&](nn::TrainedStep& done) {
      if (first == 0) first = done.step;
      if (what == "best" && is_last && done.step == 5) std::raise(SIGKILL);
    };
  }
  optim::ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  if (what == "filled") {
    options.plateau = &plateau;
    options.after_step = [&](nn::TrainedStep& done) {
      if (!is_last) done.evaluation = static_cast<double>(done.step);
    };
  }
  nn::Trainer trainer(net, optimizer, gradients, distributed::for_processes(context, options));
  trainer.run();
  if (what == "filled") {
    for (const double lr : context.gather(optimizer.lr(0))) std::cout << lr << ' ';
  }
  if (what == "onwards") {
    for (const double step : context.gather(static_cast<double>(first))) std::cout << step << ' ';
  }
  for (const double steps : context.gather(static_cast<double>(trainer.steps_done())))
    std::cout << steps << ' ';
  std::cout << '\n';
}

// A part of a run's state that is slow to save.
struct Slow {
  static nn::StateDict state_dict() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return {};
  }
  static void load_state_dict(const nn::StateDict&) {}
};

// Each run resumes the checkpoint of the run before it. Process 0 is still saving that checkpoint
// when the other processes start the next run.
void run_again(const Context& context, const std::string& folder) {
  manual_seed(3);
  nn::Linear net(2, 1);
  optim::SGD optimizer(net.parameters(), {.lr = 0.01});
  DataParallel parallel(context, net);
  const auto gradients = [&] {
    return parallel.backward([&](std::int64_t) { return net(ones({2, 2})).sum(); });
  };
  const nn::TrainerOptions options{.steps = 3, .out = folder, .resume = true};
  nn::Trainer trainer(net, optimizer, gradients, distributed::for_processes(context, options));
  Slow slow;
  trainer.state.add("slow", slow);
  std::vector<std::int64_t> steps;
  for (const std::int64_t each : {3, 6, 9}) {
    trainer.set_steps(each);
    trainer.run();
    steps.push_back(trainer.steps_done());
  }
  for (const std::int64_t each : steps)
    for (const double its : context.gather(static_cast<double>(each))) std::cout << its << ' ';
  std::cout << '\n';
}

// Writes to a file, because mpirun kills all other processes when the first one fails, and may lose
// its output.
void log_error(const std::exception& error) {
  std::ofstream("errors", std::ios::app) << "error: " << error.what() << std::endl;
}

// Logs the error that f() throws. Process 0 also prints the error.
template <class F>
void expect_error(F f) {
  try {
    f();
    std::cout << "no error\n";
  } catch (const Error& error) {
    log_error(error);
    std::cout << error.what() << '\n';
  }
}

void make_calls(const Context& context) {
  for (const double each : context.gather(context.rank() + 0.5)) std::cout << each << ' ';
  const Tensor mixed = full({2, 3}, context.rank() + 1).t();
  const Tensor whole = full({3}, context.rank() + 1, int64);
  context.broadcast({mixed, whole, Tensor()});
  std::cout << mixed.sum().item() << ' ' << whole.sum().item<std::int64_t>() << '\n';
  expect_error([&] { context.broadcast({zeros({1 + context.rank()})}); });
  std::cout << context.sum(context.rank() + 1) << ' ' << context.mean(context.rank() + 1) << ' '
            << context.gather(full({2}, context.rank() + 1, int64).expand({3, 2})).sum({1, 2})
            << '\n';
  // gather() allows different strides in different processes.
  const Tensor row = context.is_first() ? ones({1}).expand({2}) : ones({2});
  std::cout << context.gather(row).sum().item() << '\n';
  expect_error([&] { context.gather(zeros({1 + context.rank()})); });
  Net net;
  expect_error([&] { DataParallel(context, net, {.shards = 3}); });
  expect_error([&] { DataParallel(context, net, {.shards = 1}); });
  expect_error([&] { DataParallel(context, net, {.bucket_bytes = 0}); });
  expect_error([&] { context.gather(ones({1}).expand({1 << 29})); });
  DataParallel parallel(context, net, {.shards = 4});
  expect_error([&] { parallel.part(zeros({4, 2}), parallel.first_shard() - 1); });
  expect_error([&] { parallel.part(zeros({5, 2}), parallel.first_shard()); });
  const distributed::LocalRows rows(data::BatchSampler(data::SequentialSampler(6), 6, false),
                                    parallel);
  expect_error([&] { rows.iter()(); });
  context.barrier();
}

// The user registers hooks before DataParallel, after it, and in the first loss. Each hook sees the
// gradient of each shard, and `.grad` is the mean of the hooks' results.
void use_hooks(const Context& context) {
  manual_seed(1);
  nn::Linear model(2, 1, {.bias = false});
  const HookHandle before =
      model.weight.register_hook([](const Tensor& gradient) { return gradient + 1; });
  DataParallel parallel(context, model, {.shards = 4});
  const HookHandle after =
      model.weight.register_hook([](const Tensor& gradient) { return gradient * 2; });
  std::optional<HookHandle> late;
  for (int backward = 0; backward < 2; ++backward)
    parallel.backward([&](std::int64_t shard) {
      if (!late)
        late = model.weight.register_hook([](const Tensor& gradient) { return gradient * 3; });
      return model(full({1, 2}, static_cast<double>(shard))).sum();
    });
  std::cout << model.weight.grad() << '\n';  // twice the mean of 6 (shard + 1), shards 0 to 3
}

// Process 1 makes one call more than the others, or one call less.
void differ(const Context& context, const std::string& what) {
  const bool is_second = context.rank() == 1;
  if (is_second && what == "extra") context.mean(1);
  if (!is_second || what != "skipped") context.gather(2);
  expect_error([&] {
    context.gather(3);
    context.gather(4);
    context.gather(ones({3}));
  });
  expect_error([&] { context.barrier(); });
}

void fail_on_purpose(const Context& context, const std::string& what) {
  const bool is_second = context.rank() == 1;
  manual_seed(1);
  Net net(what == "shapes" && is_second ? 7 : 6);
  if (what == "shapes") return expect_error([&] { DataParallel(context, net); });
  if (what == "options")
    return expect_error([&] { DataParallel(context, net, {.bucket_bytes = is_second ? 0 : 1}); });
  DataParallel parallel(context, net);
  std::optional<DataParallel> other;
  if (what == "within") other.emplace(context, net);
  std::optional<DataParallel::NoSync> no_sync;
  if (what == "nosync" && is_second) no_sync.emplace(parallel);
  if (what == "replaced") net.up.weight = nn::Parameter(ones({6, 5}));
  if (what == "converted") net.to(float64);
  if (what == "seeds") manual_seed(static_cast<std::uint64_t>(context.rank()));
  if (what == "frozen") net.up.requires_grad_(false);
  for (int step = 0; step < 1000; ++step) {
    const auto loss = [&](std::int64_t) -> Tensor {
      if (what == "loss") return zeros({2});
      if (what == "nested") {
        const Tensor y = net(ones({2, 5}));
        y.register_hook([&](const Tensor&) {
          const GradModeGuard records(true);
          net(ones({2, 5})).sum().backward();
        });
        return y.sum();
      }
      if (what == "within") other->backward([](std::int64_t) { return zeros({}); });
      if (what == "killed" && is_second && step == 3) std::raise(SIGKILL);
      if ((what == "throws" || what == "catches") && is_second && step == 3)
        fail("loss", "this is the end");
      return net(ones({2, 5})).sum();
    };
    if (what == "leaves" && is_second && step == 3) return;
    if (what == "catches" && is_second && step == 3)
      return expect_error([&] { parallel.backward(loss); });
    if (what != "killed" && what != "throws" && what != "catches" && what != "leaves") {
      expect_error([&] { parallel.backward(loss); });
      if (what == "frozen" || what == "replaced" || what == "converted") return;
      return expect_error([&] { parallel.backward(loss); });
    }
    parallel.backward(loss);
  }
}

int run(int argc, char** argv) {
  const Context context(argc, argv);
  const std::string what = argc > 1 ? argv[1] : "";
  if (!context.is_first()) std::cout.setstate(std::ios::failbit);  // one process prints
  if (what == "trainer") {
    use_trainer(context, argv[2], argv[3]);
  } else if (argc > 3) {
    train(context, what, std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? argv[4] : "");
  } else if (what == "calls") {
    make_calls(context);
  } else if (what == "hooks") {
    use_hooks(context);
  } else if (what == "again") {
    run_again(context, argv[2]);
  } else if (what == "extra" || what == "skipped") {
    differ(context, what);
  } else {
    fail_on_purpose(context, what);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    log_error(error);
    std::cerr << "error: " << error.what() << std::endl;
    return 1;
  }
}
