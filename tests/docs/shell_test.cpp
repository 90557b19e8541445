// Runs the shell commands on the pages, except installations, builds and measurements.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/docs/markdown.h"
#include "tests/examples/process.h"

using namespace tend::test;

namespace {

namespace fs = std::filesystem;

// True for commands that install something, build tend itself, or measure or train for a long time.
bool is_for_readers(const CodeBlock& block) {
  static const std::regex left_out("apt-get|cmake|ctest|mpirun|benchmarks/|examples/lab/");
  return std::regex_search(block.text, left_out);
}

// The file name of a block, or an empty string. A line such as "Save this as `start.cpp`:" before
// the block names the file.
std::string file_of(const std::string& page, const CodeBlock& block) {
  static const std::regex save("Save this\\s+as\\s+`([A-Za-z_.]+)`:\\s*```[a-z]*\\s*$");
  std::istringstream lines(page);
  std::string before, line;
  for (int i = 1; i < block.line && std::getline(lines, line); ++i) before += line + '\n';
  before = before.substr(before.size() - std::min<std::size_t>(before.size(), 400));
  std::smatch found;
  return std::regex_search(before, found, save) ? found[1].str() : "";
}

// Runs the page's commands in a folder that looks like tend's top folder after a build.
void run_page(const std::string& name, std::size_t& ran) {
  const std::string page = read_page(std::string(TEND_SOURCE) + "/" + name);
  const TemporaryFolder folder;
  fs::create_directories(folder.file("build"));
  fs::create_directory_symlink(TEND_BUILD_FOLDER, folder.file("build/release"));
  fs::copy(TEND_TEST_DATA "/docs", folder.path());
  const std::vector<CodeBlock> blocks = code_blocks(page);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const CodeBlock& block = blocks[i];
    INFO(name << ':' << block.line);
    const std::string file = file_of(page, block);
    if (!file.empty()) std::ofstream(folder.file(file)) << block.text;
    if (block.language != "sh" || is_for_readers(block)) continue;
    // The libraries are not installed, so the commands are given the paths of the build folder.
    const Ended ended =
        run_program("/usr/bin/env",
                    {"CPATH=" TEND_BUILD_FOLDER "/include", "LIBRARY_PATH=" TEND_BUILD_FOLDER,
                     "LD_LIBRARY_PATH=" TEND_BUILD_FOLDER, "sh", "-ec", block.text},
                    folder);
    INFO(ended.output);
    CHECK(ended.code == 0);
    if (i + 1 < blocks.size() && blocks[i + 1].language == "text")
      CHECK(ended.output == blocks[i + 1].text);
    ++ran;
  }
}

}  // namespace

TEST_CASE("the commands on the pages do what the pages say") {
  std::size_t ran = 0;
  run_page("README.md", ran);
  for (const auto& entry : fs::directory_iterator(TEND_SOURCE "/docs")) {
    if (entry.path().extension() == ".md")
      run_page("docs/" + entry.path().filename().string(), ran);
  }
  CHECK(ran >= 4);
}
