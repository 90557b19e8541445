// Calls on files, without memory and with system calls that fail.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include <tend/nn/data/token_file.h>
#include <tend/nn/files/safetensors_file.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/refusals.h"

namespace tend::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nn::StateDict some_state() {
  return {{"a.weight", linspace(0, 1, 6).view({2, 3})},
          {"b", tensor({true, false})},
          {"a long name that has no room inside of a std::string", ones({3}, float64)}};
}

// A layer, its optimizer and a counter, after a step.
struct SteppedRun {
  nn::Linear model{3, 2};
  optim::AdamW optimizer{model.parameters(), {}};
  std::int64_t step = 1;
  nn::RunState run{model};

  SteppedRun() {
    for (const Tensor& parameter : model.parameters()) parameter.sum().backward();
    optimizer.step();
    run.add("optimizer", optimizer);
    run.add("step", step);
  }
};

Scenario loading_a_run() {
  return {"RunState::load", [] {
            manual_seed(1);
            const auto own = std::make_shared<SteppedRun>();
            const std::string path = scratch_file();
            SteppedRun().run.save(path, {{"key", "a value that is longer than a short string"}});
            Prepared prepared;
            // Not their versions: weights that were set already are set back.
            prepared.state = [own] {
              std::string text = as_text(own->step);
              for (const auto& [name, x] : own->run.state_dict())
                text += as_text('|', name, '=', x);
              return text;
            };
            prepared.run = [own, path](Tensors&) { own->run.load(path); };
            return prepared;
          }};
}

// An empty folder.
fs::path scratch_folder() {
  const fs::path folder = scratch_file() + "_folder";
  fs::remove_all(folder);
  fs::create_directory(folder);
  return folder;
}

// What is in a folder: nothing temporary may stay there.
std::string files_in(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files.insert(entry.path().filename().string() + ": " + bytes_of(entry.path().string()));
  std::string text;
  for (const std::string& file : files) text += '|' + file;
  return text;
}

// write(path), over a file that is there.
template <class Write>
Scenario writing(const std::string& name, Write write) {
  return {name, [write] {
            const fs::path folder = scratch_folder();
            std::ofstream(folder / "file") << "what stood there before";
            Prepared prepared;
            prepared.state = [folder] { return files_in(folder); };
            prepared.run = [=](Tensors&) { write(folder / "file"); };
            return prepared;
          }};
}

// read(path, results) of a file that write(path) has written.
template <class Write, class Read>
Scenario reading(const std::string& name, Write write, Read read) {
  return {name, [=] {
            const std::string path = scratch_file();
            write(path);
            Prepared prepared;
            prepared.state = [path] { return bytes_of(path); };
            prepared.run = [=](Tensors& results) { read(path, results); };
            return prepared;
          }};
}

std::vector<Scenario> safetensors() {
  const auto save = [](const fs::path& path) {
    nn::save_safetensors(path, some_state(),
                         {{"key", "a value that is longer than a short string"}});
  };
  const auto save_damaged = [](const fs::path& path) {
    std::ofstream(path) << std::string("\x05\0\0\0\0\0\0\0{\"a\":", 13);
  };
  const auto refuse = [](const fs::path& path, Tensors& results) {
    try {
      nn::load_safetensors(path);
    } catch (const IoError&) {
      results.emplace_back();
    }
  };
  const auto load = [](const fs::path& path, Tensors& results) {
    for (const auto& [name, x] : nn::load_safetensors(path).tensors) results.push_back(x);
  };
  const auto map = [](const fs::path& path, Tensors& results) {
    const nn::SafetensorsFile file(path, {.mmap = true});
    for (const auto& entry : file.entries()) results.push_back(file.load(entry.name));
  };
  // Shards and their index, over older ones: the index is the old or the new one, or there is none.
  const auto shards = [] {
    const fs::path folder = scratch_folder();
    const nn::ShardOptions options{.max_shard_size = 1};
    nn::save_safetensors_shards(folder, some_state(), options);
    Prepared prepared;
    prepared.state = [folder] { return files_in(folder); };
    prepared.files_may_go = true;
    prepared.run = [=](Tensors&) { nn::save_safetensors_shards(folder, some_state(), options); };
    return prepared;
  };
  return {writing("save_safetensors", save),
          reading("load_safetensors", save, load),
          reading("load of a damaged file", save_damaged, refuse),
          reading("mapped safetensors", save, map),
          {"save_safetensors_shards", shards}};
}

std::vector<Scenario> pretrained() {
  const auto small = [] {
    manual_seed(1);
    attention::GPT model({.vocab_size = 7,
                          .context_length = 4,
                          .width = 4,
                          .num_heads = 2,
                          .num_layers = 1,
                          .qkv_bias = true,
                          .tied_head = true});
    return model;
  };
  const auto save = [small] {
    const fs::path folder = scratch_folder();
    attention::save_pretrained(folder, small());
    Prepared prepared;
    prepared.state = [folder] { return files_in(folder); };
    prepared.files_may_go = true;
    prepared.run = [folder, model = small()](Tensors&) {
      attention::save_pretrained(folder, model);
    };
    return prepared;
  };
  const auto load = [small] {
    const fs::path folder = scratch_folder();
    attention::save_pretrained(folder, small());
    Prepared prepared;
    prepared.state = [folder] { return files_in(folder); };
    prepared.run = [folder](Tensors& results) {
      const attention::GPT model = attention::load_pretrained(folder);
      for (const auto& [name, x] : model.state_dict()) results.push_back(x.clone());
    };
    return prepared;
  };
  return {{"save_pretrained", save}, {"load_pretrained", load}};
}

std::vector<Scenario> arrays_and_data() {
  const auto save_npy = [](const fs::path& path) {
    nn::save_npy(path, linspace(0, 1, 6).view({2, 3}).t());
  };
  const auto load_npy = [](const fs::path& path, Tensors& results) {
    results.push_back(nn::load_npy(path));
  };
  const auto write_tokens = [](const fs::path& path) {
    data::write_tokens(path, arange(5000), data::TokenType::uint16);
  };
  const auto read_tokens = [](const fs::path& path, Tensors& results) {
    results.push_back(data::TokenFile(path, data::TokenType::uint16).tokens(1, 4999));
  };
  const auto write_csv = [](const fs::path& path) { std::ofstream(path) << "a,b\n1,2\n3,4\n"; };
  const auto read_csv = [](const fs::path& path, Tensors& results) {
    results.push_back(data::read_csv(path).values);
  };
  const auto write_idx = [](const fs::path& path) {
    std::ofstream(path) << std::string("\0\0\x08\x01\0\0\0\3xyz", 11);
  };
  const auto load_idx = [](const fs::path& path, Tensors& results) {
    results.push_back(data::load_idx(path));
  };
  return {writing("save_npy", save_npy),
          reading("load_npy", save_npy, load_npy),
          writing("write_tokens", write_tokens),
          reading("TokenFile", write_tokens, read_tokens),
          reading("read_csv", write_csv, read_csv),
          reading("load_idx", write_idx, load_idx)};
}

std::vector<Scenario> saved_runs() {
  const auto save = [](const fs::path& path) {
    manual_seed(1);
    SteppedRun().run.save(path, {{"key", "a value"}});
  };
  // The third of which two are kept.
  const auto save_third = [] {
    const fs::path folder = scratch_folder();
    manual_seed(1);
    const auto own = std::make_shared<SteppedRun>();
    const nn::CheckpointFolder checkpoints(folder, 2);
    checkpoints.save(own->run, 1);
    checkpoints.save(own->run, 2);
    Prepared prepared;
    prepared.state = [folder] { return files_in(folder); };
    prepared.run = [=](Tensors&) { checkpoints.save(own->run, 3); };
    return prepared;
  };
  // The log of a run that goes on behind its first step.
  const auto log = [] {
    const fs::path folder = scratch_folder();
    nn::RunLog(folder, 0).write({.step = 1});
    Prepared prepared;
    prepared.state = [folder] { return files_in(folder); };
    prepared.files_may_go = true;  // the line may be in one of the two files
    prepared.run = [folder](Tensors&) { nn::RunLog(folder, 1).write({.step = 2}); };
    return prepared;
  };
  return {writing("RunState::save", save),
          loading_a_run(),
          {"RunLog", log},
          {"CheckpointFolder::save", save_third}};
}

}  // namespace

std::vector<Scenario> file_scenarios() {
  std::vector<Scenario> all = safetensors();
  for (const auto& family : {pretrained(), arrays_and_data(), saved_runs()})
    for (const Scenario& each : family) all.push_back(each);
  return all;
}

}  // namespace tend::test
