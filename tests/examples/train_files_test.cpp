// The files that the training program reads and writes.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <tend/nn/files/safetensors.h>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/train_program.h"

using Catch::Matchers::ContainsSubstring;
using namespace tend::test;

TEST_CASE("none stands for a file that is not written") {
  const TemporaryFolder folder;
  REQUIRE(run(small({"--steps", "1", "--json", "none", "--report", "none", "--checkpoint", "none"}),
              folder)
              .code == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a checkpoint goes on in its own file, and no other result may take its place") {
  const TemporaryFolder folder;
  const std::string own = "checkpoint.safetensors";
  REQUIRE(run(small({"--steps", "2"}), folder).code == 0);
  const Ended refused =
      run({"--resume", own, "--checkpoint", "none", "--json", "./" + own}, folder);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.output, ContainsSubstring("--json and --resume are one file"));
  REQUIRE(run({"--resume", own, "--steps", "4", "--checkpoint", own, "--json", "r.json"}, folder)
              .code == 0);
  CHECK(results(folder).at("steps") == 4);
}

TEST_CASE("a text that a checkpoint names is not overwritten either") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(2000, 'a') << "b";
  REQUIRE(run({"--text", "text", "--length", "8", "--layers", "1", "--heads", "1", "--width", "8",
               "--steps", "1"},
              folder)
              .code == 0);
  const Ended ended =
      run({"--resume", "checkpoint.safetensors", "--steps", "2", "--json", "text"}, folder);
  CHECK(ended.code == 2);
  CHECK_THAT(ended.output, ContainsSubstring("--json and --text are one file"));
}

TEST_CASE("a file with the name of a checkpoint or a log is not overwritten") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("step-00000002.safetensors", "log.csv", "log.jsonl");
  const std::string letters(1000, 'a');
  std::ofstream(folder.file(name)) << letters;
  const Ended text =
      run({"--text", name, "--length", "16", "--steps", "4", "--save-every", "2", "--overwrite"},
          folder);
  CHECK(text.code == 2);
  CHECK_THAT(text.output, ContainsSubstring(name + " has a name of what --save-every writes"));
  CHECK(content(folder.file(name)) == letters);
  const Ended json =
      run(small({"--steps", "4", "--json", "./" + name, "--save-every", "2"}), folder);
  CHECK(json.code == 2);
}

TEST_CASE("files that cannot be used end the program with 1") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("noise")) << "not a checkpoint";
  std::ofstream(folder.file("short")) << "too short";
  const auto [arguments, message] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--resume", "nowhere"}, "nowhere"},
      {{"--resume", "noise"}, "noise"},
      {{"--text", "nowhere"}, "cannot read nowhere: No such file"},
      {{"--text", "short"}, "a text of 9 bytes is too short"},
      {{"--report", "no/such/folder/r.html"}, "cannot write no/such/folder/r.html"},
  }));
  const Ended ended = run(arguments, folder);
  CAPTURE(ended.output);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring(message));
}

TEST_CASE("a result that cannot be written is reported, and the others are written") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);  // nobody reads it
  for (const std::string broken : {"--checkpoint", "--report", "--json"}) {
    const TemporaryFolder inner;
    std::map<std::string, std::string> files{{"--checkpoint", inner.file("c")},
                                             {"--report", inner.file("r")},
                                             {"--json", inner.file("j")}};
    files[broken] = folder.file("pipe");
    std::vector<std::string> words{"--steps", "2"};
    for (const auto& [option, file] : files) words.insert(words.end(), {option, file});
    const Ended ended = run(small(words), folder);
    INFO(ended.output);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("cannot write " + folder.file("pipe")));
    CHECK_THAT(ended.output, ContainsSubstring("samples, decoded greedily"));
    CHECK(std::distance(std::filesystem::directory_iterator(inner.path()), {}) == 2);
    for (const auto& [option, file] : files) {
      const bool said = ended.output.find("wrote " + file) != std::string::npos;
      CHECK(said == (option != broken));
    }
  }
}

TEST_CASE("results go into pipes and through links, and keep their modes") {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::ofstream(folder.file("page")) << "old";
  std::filesystem::permissions(folder.file("page"), std::filesystem::perms::owner_read);
  std::filesystem::create_symlink("page", folder.file("link"));
  std::string json;
  std::thread reader([&] { json = content(pipe); });
  const Ended ended =
      run(small({"--steps", "2", "--json", "pipe", "--report", "link", "--overwrite"}), folder);
  if (ended.code != 0) std::ofstream(pipe).close();  // lets the reader end
  reader.join();
  REQUIRE(ended.code == 0);
  CHECK(nlohmann::json::parse(json).at("steps") == 2);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK_THAT(content(folder.file("page")), ContainsSubstring("</html>"));
  CHECK(std::filesystem::status(folder.file("page")).permissions() ==
        std::filesystem::perms::owner_read);
}

TEST_CASE("standard output that takes nothing ends the program with 1, and files are written") {
  const TemporaryFolder folder;
  const Ended ended = run_in_shell("", "> /dev/full", small({"--steps", "2"}), folder);
  CHECK(ended.code == 1);
  CHECK_THAT(ended.output, ContainsSubstring("standard output could not be written"));
  CHECK(std::filesystem::exists(folder.file("checkpoint.safetensors")));
  CHECK(std::filesystem::exists(folder.file("report.html")));
  CHECK(run_in_shell("", "> /dev/full", {"--help"}, folder).code == 1);
  CHECK(run_in_shell("", ">&-", {"--help"}, folder).code == 1);
}

TEST_CASE("who stops reading the output does not stop the training") {
  const TemporaryFolder folder;
  run_in_shell("", "2>&1 | head -c 1", small({"--steps", "2"}), folder);
  CHECK(std::filesystem::exists(folder.file("report.html")));
}

TEST_CASE("a result on standard output stands among what is printed") {
  const TemporaryFolder folder;
  const Ended ended =
      run_in_shell("", "> out", small({"--steps", "2", "--json", "/dev/stdout"}), folder);
  CHECK(ended.code == 0);
  const std::string out = content(folder.file("out"));
  CHECK_THAT(out, ContainsSubstring("reverse: "));
  CHECK_THAT(out, ContainsSubstring("\"losses\""));
  CHECK_THAT(out, ContainsSubstring("wrote /dev/stdout"));
}

TEST_CASE("text comes from pipes that somebody writes to, and no other") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(1000, 'a') << std::string(1000, 'b');
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const std::vector<std::string> model{"--length", "8", "--layers", "1", "--heads",     "1",
                                       "--width",  "8", "--steps",  "1", "--overwrite", "--text"};
  const auto reads = [&](const std::string& text, const std::string& before) {
    std::vector<std::string> words = model;
    words.push_back(text);
    return run_in_shell(before, "", words, folder);
  };
  CHECK(reads("/dev/stdin", "cat text |").code == 0);
  CHECK(reads("/dev/stdin", "(sleep 4; cat text) |").code == 0);  // slow, but there
  CHECK(reads("pipe", "cat text > pipe &").code == 0);
  for (const std::string unread : {"pipe", "/dev/zero", "."}) {
    const Ended ended = reads(unread, "");
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("cannot read " + unread));
  }
  const Ended resumed = run({"--resume", "pipe"}, folder);
  CHECK(resumed.code == 1);
  CHECK_THAT(resumed.output, ContainsSubstring("is no regular file"));
}
