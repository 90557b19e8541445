// What is left after a step, a load or a file that failed, and after calls in an odd order.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tend/nn/files/write_file.h>
#include <tend/nn/training/run_log.h>
#include <tend/tend.h>

#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/threads.h"

using namespace tend;
using Catch::Matchers::ContainsSubstring;
using tend::test::content;
using tend::test::TemporaryFolder;

namespace {

struct Rig {
  nn::Linear model{1, 1};
  optim::SGD optimizer{model.parameters(), 0.01};
  std::function<Tensor()> loss = [this] { return model(ones({1, 1})).square().mean(); };

  std::int64_t train(const nn::TrainerOptions& options) {
    nn::Trainer trainer(model, optimizer, loss, options);
    trainer.run();
    return trainer.steps_done();
  }
};

double first_of(data::Endless<data::DataLoader<data::TensorDataset<1>>>& batches) {
  return batches.next()[0].item();
}

}  // namespace

TEST_CASE("batches without end go on where a state that is loaded says") {
  data::DataLoader loader(data::TensorDataset(arange(6)), {.batch_size = 1});
  data::Endless batches(loader);
  CHECK(first_of(batches) == 0);
  const nn::StateDict state = loader.state_dict();
  first_of(batches);
  first_of(batches);
  loader.load_state_dict(state);
  for (const double expected : {1, 2, 3, 4, 5, 0, 1}) CHECK(first_of(batches) == expected);
}

TEST_CASE("a copy of a loader has a place of its own") {
  data::DataLoader loader(data::TensorDataset(arange(6)), {.batch_size = 1});
  data::Endless batches(loader);
  first_of(batches);
  first_of(batches);
  auto copy = loader;
  std::int64_t count = 0;
  for (auto& batch : copy) count += batch[0].numel();
  CHECK(count == 6);
  CHECK(loader.state_dict()["batches"].item<std::int64_t>() == 2);
  CHECK(loader.state_dict()["running"].item<bool>());
}

TEST_CASE("a folder of checkpoints that cannot be read is no empty one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("run");
  const nn::CheckpointFolder checkpoints(path);
  std::filesystem::remove(path);
  std::ofstream{path} << "a file";
  CHECK_THROWS_AS(checkpoints.steps(), IoError);
}

TEST_CASE("a run's state that does not fit changes no generator") {
  nn::Linear model(1, 1), other(2, 2);
  Generator generator(1), another(2);
  data::DataLoader loader(data::TensorDataset(arange(4)),
                          {.shuffle = true, .generator = &generator});
  data::DataLoader elsewhere(data::TensorDataset(arange(4)),
                             {.shuffle = true, .generator = &another});
  data::Endless batches(loader);
  nn::RunState run(model), foreign(other);
  run.add("loader", loader);
  foreign.add("loader", elsewhere);
  first_of(batches);
  const Generator before = generator;
  CHECK_THROWS_AS(run.load_state_dict(foreign.state_dict()), Error);
  CHECK(generator == before);
  CHECK(loader.state_dict()["batches"].item<std::int64_t>() == 1);
}

TEST_CASE("a part that cannot be put back does not keep the others from it") {
  Rig rig;
  std::int64_t step = 3;
  double best = 1;
  nn::RunState run(rig.model);
  run.add("optimizer", rig.optimizer);  // the first to be put back
  run.add("step", step);
  run.add("best", best);
  nn::StateDict state = run.state_dict();
  state["training.step"] = tensor(9);
  state["training.best"] = tensor(1);  // of another dtype
  rig.optimizer.set_lr(-1);            // which no state may have
  CHECK_THROWS_AS(run.load_state_dict(state), Error);
  CHECK(step == 3);
}

TEST_CASE("gradients of parameters that the optimizer does not have are zeroed, too") {
  nn::Sequential model{nn::Linear(2, 2), nn::Linear(2, 1)};
  const std::vector<Tensor> all = model.parameters();
  optim::SGD optimizer({all[2], all[3]}, 0.0);
  std::vector<double> norms;
  nn::Trainer trainer(model, optimizer,
                      [&] {
                        return model(ones({1, 2})).square().mean();
                      },
                      {.steps = 3, .after_step = [&](const nn::TrainedStep& done) {
                         norms.push_back(done.grad_norm);
                       }});
  trainer.run();
  CHECK(norms == std::vector<double>(3, norms[0]));
}

TEST_CASE("a run that went back writes its later checkpoints anew") {
  const TemporaryFolder folder;
  const std::string out = folder.file("run");
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 10, .out = out, .save_every = 5});
  trainer.run();
  trainer.state.load(out + "/step-00000005.safetensors");
  rig.optimizer.set_lr(0.5);
  trainer.run();
  const nn::Safetensors last = nn::load_run(out + "/step-00000010.safetensors");
  CHECK(equal(last.tensors.at("weight"), rig.model.weight.detach()));
}

TEST_CASE("a trainer takes only folders whose checkpoints it wrote or resumed") {
  const TemporaryFolder folder;
  const std::string theirs = folder.file("theirs"), own = folder.file("own");
  Rig().train({.steps = 100, .out = theirs});
  Rig().train({.steps = 5, .out = own});
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss, {.steps = 7, .out = theirs});
  trainer.state.load(own + "/step-00000005.safetensors");
  CHECK_THROWS_WITH(trainer.run(), ContainsSubstring("another run"));
  CHECK(std::filesystem::exists(theirs + "/step-00000100.safetensors"));

  nn::Trainer fresh(rig.model, rig.optimizer, rig.loss, {.out = folder.file("fresh")});
  fresh.run();
  fresh.set_steps(5);
  fresh.run();
  CHECK(fresh.steps_done() == 5);
}

TEST_CASE("a step is whole where the schedule throws behind it") {
  Rig rig;
  bool throws = true;
  optim::LambdaLR schedule(rig.optimizer, [&](std::int64_t epoch) {
    if (epoch == 3 && throws) throw std::runtime_error("of the user");
    return 1.0 / static_cast<double>(1 + epoch);
  });
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss, {.steps = 5, .schedule = &schedule});
  CHECK_THROWS_AS(trainer.run(), std::runtime_error);
  throws = false;
  trainer.run();
  CHECK(trainer.steps_done() == 5);
  CHECK(rig.optimizer.state_dict()["0.step"].item<std::int64_t>() == 5);
  CHECK(schedule.last_epoch() == 5);
}

TEST_CASE("a step whose callback throws is in the log") {
  const TemporaryFolder folder;
  Rig rig;
  bool throws = true;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 3, .out = folder.file("run"), .after_step = [&](const auto& done) {
                         if (done.step == 2 && std::exchange(throws, false))
                           throw std::runtime_error("of the user");
                       }});
  CHECK_THROWS_AS(trainer.run(), std::runtime_error);
  trainer.run();
  const std::string log = content(folder.file("run/log.csv"));
  CHECK(std::count(log.begin(), log.end(), '\n') == 4);
}

TEST_CASE("evaluations that a callback fills in count for patience") {
  Rig rig;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 20, .patience = 2, .after_step = [](nn::TrainedStep& done) {
                         done.evaluation = 1.0 + static_cast<double>(done.step);
                       }});
  trainer.run();
  CHECK(trainer.steps_done() == 3);
  CHECK(trainer.best_evaluation() == 2);
}

TEST_CASE(
    "an evaluation that a callback changes counts for all, also when the callback throws then") {
  Rig rig;
  optim::ReduceLROnPlateau plateau(rig.optimizer);
  bool throws = true;
  nn::Trainer trainer(rig.model, rig.optimizer, rig.loss,
                      {.steps = 3,
                       .evaluate_every = 1,
                       .plateau = &plateau,
                       .evaluate = [] { return 9.0; },
                       .after_step =
                           [&](nn::TrainedStep& done) {
                             done.evaluation = 3.0 - static_cast<double>(done.step);
                             if (done.step == 2 && std::exchange(throws, false))
                               throw std::runtime_error("of the user");
                           }});
  CHECK_THROWS_AS(trainer.run(), std::runtime_error);
  CHECK(trainer.best_evaluation() == 1);
  CHECK(plateau.best() == 1);
  trainer.run();
  CHECK(trainer.best_evaluation() == 0);
  CHECK(plateau.best() == 0);
}

TEST_CASE("a log is not read from a pipe") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("log.jsonl").c_str(), 0600) == 0);
  const int reader = ::open(folder.file("log.jsonl").c_str(), O_RDONLY | O_NONBLOCK);
  nn::RunLog log(folder.file(""), 0);
  log.write({.step = 1});
  ::close(reader);
  CHECK_THAT(content(folder.file("log.csv")), ContainsSubstring("\n1,"));
}

TEST_CASE("weights come back from their averages in the dtype that the model has by then") {
  Rig rig;
  {
    const NoGradGuard no_grad;
    rig.model.weight.fill_(1);
    optim::AveragedModel averages(rig.model, {.decay = 0.5});
    averages.update_parameters();
    rig.model.weight.fill_(3);
    const optim::AveragedWeightsGuard guard(averages);
    rig.model.to(float64);
  }
  CHECK(rig.model.weight.item() == 3);
}

TEST_CASE("an audit may be made where no graph is recorded") {
  Rig rig;
  const NoGradGuard no_grad;
  CHECK(nn::audit(rig.model, [](const nn::Linear& model) {
          const DType dtype = model.weight.dtype();  // float64 in the copy
          return model(ones({1, 1}, dtype)).square().mean();
        }).passed());
}

namespace {

// Whether f() throws an IoError where a file may have so many bytes.
template <class F>
bool is_refused_beyond(::rlim_t bytes, F f) {
  ::rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const ::rlimit lower{bytes, limit.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);  // which would end the program before the error is seen
  ::setrlimit(RLIMIT_FSIZE, &lower);
  bool is_refused = false;
  try {
    f();
  } catch (const IoError&) {
    is_refused = true;
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
  return is_refused;
}

}  // namespace

TEST_CASE("a file beyond the largest size is an error, and leaves nothing") {
  const TemporaryFolder folder;
  CHECK(is_refused_beyond(4096, [&] { nn::save_npy(folder.file("a.npy"), ones({9999})); }));
  CHECK(std::filesystem::is_empty(folder.file("")));
}

TEST_CASE("what cannot be appended whole is not appended in part") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log");
  nn::append_file(path, "12345678");
  CHECK(is_refused_beyond(12, [&] { nn::append_file(path, "abcdefgh"); }));
  CHECK(content(path) == "12345678");
}

TEST_CASE("a log beyond the largest size is an error, and the run can go on with it") {
  const TemporaryFolder folder;
  CHECK(is_refused_beyond(500, [&] {
    const nn::RunLog log(folder.file(""), 0);
    for (std::int64_t step = 1; step < 99; ++step) log.write({.step = step});
  }));
  const nn::RunLog log(folder.file(""), 1);
  log.write({.step = 2});
  std::ifstream table(folder.file("log.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) lines.push_back(line);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].starts_with("1,"));
  CHECK(lines[2].starts_with("2,"));
}

TEST_CASE("no file or folder is taken for one whose name it begins before a zero byte") {
  const TemporaryFolder folder;
  const std::string behind("\0x", 2);
  nn::save_npy(folder.file("a.npy"), ones({1}));
  CHECK_THROWS_AS(nn::load_npy(folder.file("a.npy") + behind), IoError);
  CHECK_THROWS_AS(nn::CheckpointFolder(folder.file("new") + behind), IoError);
  CHECK(!std::filesystem::exists(folder.file("new")));
}

TEST_CASE("shards are not written through a link that stands in their way") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("victim")) << "precious";
  std::filesystem::create_directory(folder.file("model"));
  std::filesystem::create_symlink("../victim", folder.file("model/model.safetensors.tmp"));
  nn::save_safetensors_shards(folder.file("model"), {{"x", ones({2})}});
  CHECK(content(folder.file("victim")) == "precious");
  CHECK_FALSE(std::filesystem::is_symlink(folder.file("model/model.safetensors")));
}

TEST_CASE("functions that are empty are refused before anything has changed") {
  nn::Linear linear(2, 2);
  const auto refused = [](auto&& call) {
    CHECK_THROWS_AS(call(), Error);
    CHECK_THROWS_WITH(call(), ContainsSubstring("empty"));
  };
  refused([&] { linear.register_forward_pre_hook({}); });
  refused([&] { linear.register_forward_hook({}); });
  refused([&] { linear.register_backward_hook({}); });
  refused([&] { linear.apply({}); });
  const Tensor x = ones({2}).requires_grad_();
  refused([&] { x.register_hook(std::function<void(const Tensor&)>()); });
  const std::function<Tensor(const Tensor&)> nothing;
  refused([&] { autograd::checkpoint(nothing, x); });
  refused([&] { gradcheck(nothing, {x.detach().to(float64).requires_grad_()}); });
  refused([&] { autograd::CustomFunction{"nothing", {}, {}}({x}); });
  optim::SGD optimizer({x}, {.lr = 0.1});
  refused([&] { optimizer.step(std::function<Tensor()>()); });
  refused([&] { optim::decay_groups(linear, 0.1, {}); });
  refused([&] { nn::Trainer(linear, optimizer, std::function<Tensor()>(), {.steps = 1}); });
  refused([&] { nn::Trainer(linear, optimizer, std::function<double()>(), {.steps = 1}); });
  refused([&] { nn::audit(linear, std::function<Tensor(const nn::Linear&)>()); });
  CHECK(linear(x).defined());
}
