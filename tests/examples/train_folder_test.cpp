// Tests where the training program writes its files, and which files it does not overwrite.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tend/nn/training/checkpoint_folder.h>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/kills.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("all files of a run go to its folder, which is created") {
  const TemporaryFolder folder;
  const std::string elsewhere = folder.file("elsewhere.json");
  const auto run_to = [&](const std::string& json) {
    return run(small({"--steps", "2", "--out", "runs/a", "--json", json, "--overwrite"}), folder);
  };
  const Ended ended = run_to("r.json");
  CAPTURE(ended.output);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.output, ContainsSubstring("wrote runs/a/report.html"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"runs"});
  CHECK(names_in(folder.file("runs/a")) ==
        std::vector<std::string>{"checkpoint.safetensors", "r.json", "report.html"});
  CHECK(run_to(elsewhere).code == 0);
  CHECK(std::filesystem::exists(elsewhere));
  CHECK(run(small({"--steps", "2", "--out", "runs/with/slash/"}), folder).code == 0);
  CHECK(std::filesystem::exists(folder.file("runs/with/slash/checkpoint.safetensors")));
}

TEST_CASE("a path with a folder is not relative to --out and a run is resumed in its own folder") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "2", "--out", "runs/a", "--json", "runs/r.json"}), folder).code ==
          0);
  CHECK(std::filesystem::exists(folder.file("runs/r.json")));
  CHECK(run({"--resume", "runs/a", "--steps", "4"}, folder).code == 0);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"runs"});
  const Ended gone = run({"--resume", "runs", "--steps", "4"}, folder);
  CHECK(gone.code == 1);
  CHECK_THAT(gone.output, ContainsSubstring("runs has no checkpoint"));
}

TEST_CASE("the program fails for a folder that it cannot use") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "kept";
  const auto refused = [&](const std::vector<std::string>& more, int code) {
    const Ended ended = run(more, folder);
    INFO(ended.output);
    CHECK(ended.code == code);
    CHECK(content(folder.file("file")) == "kept");
  };
  refused({"--out", ""}, 2);
  refused({"--out", "file"}, 1);
  refused({"--out", "file/runs"}, 1);
  refused({"--out", "runs", "--report", "deeper/report.html"}, 1);
  refused({"--out", "runs", "--save-every", "0"}, 2);
}

TEST_CASE("existing files are replaced only with --overwrite") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("report.html", "checkpoint.safetensors", "r.json");
  CAPTURE(name);
  const std::string file = folder.file(name);
  std::ofstream(file) << "kept";
  const std::vector<std::string> words = small({"--steps", "2", "--json", "r.json"});
  const Ended refused = run(words, folder);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, ContainsSubstring(name + " already exists: --overwrite"));
  CHECK(content(file) == "kept");
  CHECK(names_in(folder.path()) == std::vector<std::string>{name});
  std::vector<std::string> more = words;
  more.emplace_back("--overwrite");
  CHECK(run(more, folder).code == 0);
  CHECK(content(file) != "kept");
}

TEST_CASE("resuming replaces only the files in the folder of its checkpoint") {
  const TemporaryFolder folder;
  const std::vector<std::string> go_on{"--resume", "a/checkpoint.safetensors", "--steps", "3",
                                       "--out"};
  const auto resume_in = [&](const std::string& out) {
    std::vector<std::string> words = go_on;
    words.push_back(out);
    return run(words, folder);
  };
  REQUIRE(run(small({"--steps", "2", "--out", "a"}), folder).code == 0);
  REQUIRE(run(small({"--steps", "2", "--out", "b"}), folder).code == 0);
  const std::string other = content(folder.file("b/checkpoint.safetensors"));
  const Ended refused = resume_in("b");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output, ContainsSubstring("b/report.html already exists"));
  CHECK(content(folder.file("b/checkpoint.safetensors")) == other);
  CHECK(resume_in("a").code == 0);
  CHECK(resume_in("c").code == 0);
}

TEST_CASE("the last checkpoints of a run are kept and each of them resumes to the same result") {
  const TemporaryFolder folder;
  const Ended ended =
      run(small({"--steps", "90", "--save-every", "20", "--out", "a", "--json", "r.json"}), folder);
  CAPTURE(ended.output);
  REQUIRE(ended.code == 0);
  CHECK(names_in(folder.file("a")) ==
        std::vector<std::string>{"checkpoint.safetensors", "log.csv", "log.jsonl", "r.json",
                                 "report.html", "step-00000060.safetensors",
                                 "step-00000080.safetensors", "step-00000090.safetensors"});
  for (const std::string name : {"/step-00000060.safetensors", "/step-00000080.safetensors", ""}) {
    const Ended resumed = run({"--resume", "a" + name, "--save-every", "20", "--out", "b", "--json",
                               "r.json", "--overwrite"},
                              folder);
    CAPTURE(name, resumed.output);
    CHECK_THAT(resumed.output, ContainsSubstring("continuing from step "));
    CHECK(results(folder, "b/r.json").at("losses") == results(folder, "a/r.json").at("losses"));
    const bool same_state = state_of(folder.file("a/checkpoint.safetensors")) ==
                            state_of(folder.file("b/checkpoint.safetensors"));
    CHECK(same_state);
  }
}

TEST_CASE("each step is one line of the logs, also after a run is resumed") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "9", "--save-every", "5", "--out", "a"}), folder).code == 0);
  REQUIRE(run({"--resume", "a", "--steps", "12", "--save-every", "5", "--out", "a"}, folder).code ==
          0);
  std::ifstream log(folder.file("a/log.jsonl"));
  int steps = 0;
  for (std::string line; std::getline(log, line);)
    CHECK(nlohmann::json::parse(line).at("step") == ++steps);
  CHECK(steps == 12);
}

TEST_CASE("checkpoints and logs of another run are not mixed with new ones") {
  const TemporaryFolder folder;
  const std::vector<std::string> words = small({"--steps", "2", "--save-every", "1"});
  for (const std::string name : {"step-.safetensors", "step-1x.safetensors", "step-7.safetensors"})
    std::ofstream(folder.file(name)) << "no checkpoint of a step";
  for (const std::string name : {"step-00000007.safetensors", "log.csv", "log.jsonl"}) {
    std::ofstream(folder.file(name)) << "kept";
    const Ended refused = run(words, folder);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.output, ContainsSubstring(name + " already exists"));
    std::filesystem::remove(folder.file(name));
  }
  std::ofstream(folder.file("step-00000007.safetensors")) << "replaced";
  std::vector<std::string> more = words;
  more.emplace_back("--overwrite");
  CHECK(run(more, folder).code == 0);
  CHECK(!std::filesystem::exists(folder.file("step-00000007.safetensors")));
  CHECK(std::filesystem::exists(folder.file("step-7.safetensors")));
}

TEST_CASE("a run that replaces another leaves no checkpoint of the old run") {
  const TemporaryFolder folder;
  const auto run_in_a = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--out", "a"});
    return run(small(words), folder);
  };
  REQUIRE(run_in_a({"--steps", "4", "--save-every", "2"}).code == 0);
  std::filesystem::remove(folder.file("a/report.html"));
  std::filesystem::remove(folder.file("a/checkpoint.safetensors"));
  const Ended refused = run_in_a({"--steps", "2"});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.output,
             ContainsSubstring("a/step-00000004.safetensors already exists: --overwrite"));
  // A run that writes no files to the folder deletes no files.
  CHECK(run_in_a({"--steps", "2", "--report", "none", "--checkpoint", "none"}).code == 0);
  CHECK(names_in(folder.file("a")).size() == 4);
  CHECK(run_in_a({"--steps", "2", "--overwrite"}).code == 0);
  CHECK(names_in(folder.file("a")) ==
        std::vector<std::string>{"checkpoint.safetensors", "report.html"});
  CHECK_THAT(run({"--resume", "a"}, folder).output, ContainsSubstring("continuing from step 2"));
}

TEST_CASE("a folder without checkpoints cannot be resumed") {
  const TemporaryFolder folder;
  const Ended ended = run({"--resume", "."}, folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring(". has no checkpoint"));
}

TEST_CASE("a train run that is killed at any moment and resumed equals an uninterrupted run") {
  const TemporaryFolder folder;
  const auto words = [&](const std::string& out) -> std::vector<std::string> {
    const std::vector<std::string> files{"--save-every", "7", "--out", out};
    std::vector<std::string> all{"--resume", out};
    // A run that was killed before its first checkpoint starts again from the beginning.
    const std::filesystem::path path = folder.file(out);
    if (!std::filesystem::exists(path) || tend::nn::CheckpointFolder(path).last().empty())
      all = small({"--steps", "600", "--overwrite"});
    all.insert(all.end(), files.begin(), files.end());
    return all;
  };
  Kills kills(kProgram, words, folder);
  const auto state = [&](const std::string& out) {
    return state_of(folder.file(out + "/checkpoint.safetensors"));
  };
  while (kills.has_more()) {
    const std::string out = kills.run();
    const bool same_state = state(out) == state("whole");
    CHECK(same_state);
    CHECK(names_in(folder.file(out)) == names_in(folder.file("whole")));
  }
  WARN("train: " << kills.kills() << " kills survived in " << kills.runs() << " runs");
}
