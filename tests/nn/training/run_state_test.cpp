// Checkpoints of whole runs: a resumed run has the bits of an uninterrupted one.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/arrays.h"
#include "tests/catch.h"
#include "tests/examples/process.h"
#include "tests/nn/training/course.h"

#include <tend/tend.h>

using Catch::Matchers::ContainsSubstring;
using namespace tend;
using tend::test::Drop;
using tend::test::TemporaryFolder;

namespace {

// A run over shuffled data, with dropout, and everything that its steps change.
struct SmallRun {
  Drop model;
  optim::AdamW optimizer{model.parameters(), {.lr = 0.01}};
  data::DataLoader<data::TensorDataset<2>> loader{
      data::TensorDataset(linspace(-1, 1, 60).view({20, 3}), linspace(0, 1, 20).view({20, 1})),
      {.batch_size = 4, .shuffle = true}};
  std::int64_t step = 0;
  double best = 1e9;
  std::vector<double> losses;
  Generator noise{17};
  nn::RunState state{model};

  SmallRun() {
    state.add("noise", noise);
    state.add("optimizer", optimizer);
    state.add("loader", loader);
    state.add("step", step);
    state.add("best", best);
    state.add("losses", losses);
  }
  SmallRun(const SmallRun&) = delete;
  SmallRun& operator=(const SmallRun&) = delete;

  void go_to(
      std::int64_t end, const std::function<void()>& after_step = [] {}) {
    while (step < end) {
      for (auto& [x, y] : loader) {
        optimizer.zero_grad();
        const Tensor loss = mse_loss(model(x + 0.1 * randn(x.shape(), x.dtype(), noise)), y);
        loss.backward();
        optimizer.step();
        losses.push_back(loss.item());
        best = std::min(best, losses.back());
        ++step;
        after_step();
        if (step == end) break;
      }
    }
  }
};

bool same_bits(const nn::StateDict& a, const nn::StateDict& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !test::same_bits(i->second.array(), j->second.array()))
      return false;
  }
  return true;
}

nn::StateDict copy_of(const nn::StateDict& state) {
  nn::StateDict copy;
  for (const auto& [name, tensor] : state) copy.emplace_back(name, tensor.detach().clone());
  return copy;
}

void change_byte(const std::filesystem::path& path, std::int64_t from_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-from_end, std::ios::end);
  const auto byte = static_cast<char>(file.get() ^ 1);
  file.seekp(-from_end, std::ios::end);
  file.put(byte);
}

}  // namespace

TEST_CASE("a run that continues from any checkpoint has the bits of an uninterrupted run",
          "[products]") {
  const TemporaryFolder folder;
  manual_seed(7);
  SmallRun whole;
  const auto file = [&](std::int64_t step) { return folder.file("run" + std::to_string(step)); };
  whole.go_to(13, [&] { whole.state.save(file(whole.step), {{"task", "small"}}); });
  // After the first step, in the middle, after an epoch's last batch, and at the end.
  for (const std::int64_t at : {1, 4, 5, 12, 13}) {
    CAPTURE(at);
    manual_seed(99);  // other weights and random numbers
    SmallRun resumed;
    resumed.noise.manual_seed(static_cast<std::uint64_t>(at));
    CHECK(resumed.state.load(file(at)) == std::map<std::string, std::string>{{"task", "small"}});
    CHECK(resumed.step == at);
    resumed.go_to(13);
    CHECK(resumed.losses == whole.losses);
    CHECK(resumed.best == whole.best);
    CHECK(same_bits(resumed.state.state_dict(), nn::load_run(file(13)).tensors));
  }
}

TEST_CASE("other programs find the model's weights in a checkpoint under their own names",
          "[products]") {
  const TemporaryFolder folder;
  SmallRun run;
  run.go_to(2);
  run.state.save(folder.file("run"));
  const nn::Safetensors file = nn::load_safetensors(folder.file("run"));
  CHECK(equal(file.tensors.at("up.weight"), run.model.up.weight));
  CHECK(file.tensors.at("training.step").item<std::int64_t>() == 2);
  CHECK(file.tensors.at("training.losses").shape() == Shape{2});
  CHECK(file.tensors.contains("training.optimizer.0.exp_avg"));
  CHECK(file.tensors.at("training.generator").numel() == 315);
}

TEST_CASE("a state that does not fit is refused with the reason", "[products]") {
  manual_seed(3);
  SmallRun run;
  run.go_to(6);
  const nn::StateDict other = copy_of(run.state.state_dict());
  run.go_to(9);
  const auto refuses = [&](const std::string& message, const auto& change) {
    CAPTURE(message);
    nn::StateDict wrong = other;
    change(wrong);
    CHECK_THROWS_WITH(run.state.load_state_dict(wrong), ContainsSubstring(message));
  };
  refuses("up.bias", [](auto& state) { state.erase("up.bias"); });
  refuses("0.exp_avg", [](auto& state) { state.erase("training.optimizer.0.exp_avg"); });
  refuses("the state has no training.losses", [](auto& state) { state.erase("training.losses"); });
  refuses("the state has no training.generator",
          [](auto& state) { state.erase("training.generator"); });
  refuses("training.step is () float32, not int64 with 0 dimensions",
          [](auto& state) { state["training.step"] = tensor(1.5F); });
  refuses("training.best is undefined", [](auto& state) { state["training.best"] = Tensor(); });
  refuses("training.schedule.lr belongs to no part: \"schedule\" was not added",
          [](auto& state) { state["training.schedule.lr"] = tensor(1.0); });
  refuses("training.step is there twice",
          [](auto& state) { state.emplace_back("training.step", tensor(std::int64_t{1})); });
  refuses("[Generator]", [](auto& state) { state["training.generator"] = zeros({315}, int64); });
  refuses("[Generator]", [](auto& state) { state["training.noise"] = zeros({315}, int64); });
  refuses("training.noise is () int64, not int64 with 1 dimensions",
          [](auto& state) { state["training.noise"] = tensor(std::int64_t{1}); });
  run.state.load_state_dict(other);
  CHECK(run.step == 6);
  CHECK(same_bits(run.state.state_dict(), other));
}

TEST_CASE("a checkpoint with a byte or a setting that changed is refused", "[products]") {
  const TemporaryFolder folder;
  SmallRun run;
  run.go_to(2);
  const auto path = folder.file("run");
  const nn::StateDict before = copy_of(run.state.state_dict());
  for (const std::int64_t from_end : {1, 100, 3000}) {
    run.state.save(path);
    change_byte(path, from_end);
    CHECK_THROWS_WITH(run.state.load(path), ContainsSubstring("is damaged"));
  }
  run.state.save(path, {{"lr", "1"}});
  nn::Safetensors file = nn::load_safetensors(path);
  file.metadata["lr"] = "2";
  nn::save_safetensors(path, file.tensors, file.metadata);
  CHECK_THROWS_AS(run.state.load(path), IoError);
  nn::save_safetensors(path, file.tensors);
  CHECK_THROWS_WITH(run.state.load(path), ContainsSubstring("has no checksum"));
  CHECK_THROWS_WITH(run.state.save(path, {{"checksum", "1"}}), ContainsSubstring("checksum"));
  CHECK(same_bits(run.state.state_dict(), before));
}

TEST_CASE("a run may have parts that are empty, in any order") {
  const TemporaryFolder folder;
  Drop model;
  nn::RunState run(model);
  std::vector<double> losses, checks;
  run.add("losses", losses);
  run.add("checks", checks);
  run.save(folder.file("run"));
  checks = {1};
  run.load(folder.file("run"));
  CHECK(checks.empty());
}

TEST_CASE("the parts of a run need different names") {
  Drop model;
  nn::RunState run(model);
  std::int64_t step = 0;
  run.add("step", step);
  CHECK_THROWS_WITH(run.add("step", step), ContainsSubstring("a part \"step\" already"));
  CHECK_THROWS_WITH(run.add("generator", step), ContainsSubstring("already"));
  CHECK_THROWS_WITH(run.add("", step), ContainsSubstring("is empty or has a dot"));
  CHECK_THROWS_WITH(run.add("a.b", step), ContainsSubstring("is empty or has a dot"));
  nn::Linear child(1, 1);
  model.register_module("training", child);
  CHECK_THROWS_WITH(run.state_dict(),
                    ContainsSubstring("training.weight begins with the run's prefix, training."));
}

TEST_CASE("a folder keeps the last checkpoints and removes checkpoints of later steps",
          "[products]") {
  const TemporaryFolder folder;
  SmallRun run;
  const nn::CheckpointFolder checkpoints(folder.file("out/deep"), 2);
  const auto steps = [&] {
    std::vector<std::int64_t> found;
    for (const auto& [step, path] : checkpoints.steps()) found.push_back(step);
    return found;
  };
  CHECK(checkpoints.last().empty());
  std::ofstream(folder.file("out/deep/step-7.safetensors"));  // not a name that save() uses
  std::ofstream(folder.file("out/deep/notes.txt"));
  for (const std::int64_t step : {5, 10, 15}) {
    run.go_to(step);
    const std::filesystem::path path = checkpoints.save(run.state, step);
    CHECK(checkpoints.last() == path);
  }
  CHECK(steps() == std::vector<std::int64_t>{10, 15});
  checkpoints.save(run.state, 20);
  run.state.load(checkpoints.steps().at(15));
  CHECK(checkpoints.save(run.state, 16).filename() == "step-00000016.safetensors");
  CHECK(steps() == std::vector<std::int64_t>{15, 16});
  CHECK(checkpoints.save(run.state, 123'456'789'012).filename() == "step-123456789012.safetensors");
  CHECK(steps() == std::vector<std::int64_t>{16, 123'456'789'012});
  CHECK(std::filesystem::exists(folder.file("out/deep/notes.txt")));

  CHECK_THROWS_WITH(checkpoints.save(run.state, -1), ContainsSubstring("negative"));
  CHECK_THROWS_WITH(nn::CheckpointFolder(folder.file("x"), 0), ContainsSubstring("at least 1"));
  CHECK_THROWS_AS(nn::CheckpointFolder(folder.file("out/deep/notes.txt")), IoError);
}

TEST_CASE("entries that belong to no part of a run are refused", "[products]") {
  SmallRun run;
  for (const char* key : {"training.step.foo", "training.optimizer", "training.", "training.stepp",
                          "training.other.x"}) {
    nn::StateDict state = run.state.state_dict();
    state.emplace_back(key, tensor(1));
    CHECK_THROWS_WITH(run.state.load_state_dict(state),
                      ContainsSubstring(std::string(key) + " belongs to no part"));
  }
}

TEST_CASE("the error for a state that does not fit names the part", "[products]") {
  SmallRun run;
  nn::StateDict state;
  for (const auto& [key, value] : run.state.state_dict())
    if (key != "training.optimizer.group.0.lr") state.emplace_back(key, value);
  CHECK_THROWS_WITH(run.state.load_state_dict(state),
                    ContainsSubstring("(in the part \"optimizer\" of the state)"));
}
