// Tests --help of all programs. Runs chapter3, gradcheck and the README's program as a user does.

#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/process.h"

using Catch::Matchers::ContainsSubstring;
using tend::test::content;
using tend::test::Ended;
using tend::test::Process;
using tend::test::run_program;
using tend::test::TemporaryFolder;

namespace {

Ended run(const std::string& program, const std::vector<std::string>& arguments,
          const TemporaryFolder& folder) {
  return run_program(TEND_EXAMPLES "/" + program, arguments, folder);
}

std::size_t count_failed(const nlohmann::json& rows) {
  std::size_t failed = 0;
  for (const auto& row : rows) failed += row["passed"].get<bool>() ? 0 : 1;
  return failed;
}

}  // namespace

TEST_CASE("chapter3 writes a value for each of the 270 known cases") {
  const TemporaryFolder folder;
  const Ended ended = run("chapter3", {"--json", "a.json"}, folder);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.output, ContainsSubstring("grad_fn=<SqueezeBackward4>)"));
  const auto values = nlohmann::json::parse(content(folder.file("a.json")));
  CHECK(values.size() == 270);
  CHECK(values["s000-inputs-shape"] == nlohmann::json({6, 3}));
  CHECK(values["s000-causal-attention-tril-dropout"][0][5][0] == "nan");
  CHECK(values["s004-causal-mask-inf"][0][1] == "-inf");
  CHECK(values["s000-weight-items-17-digits"][0].get<double>() == 0.13854756951332092);
}

TEST_CASE("examples exit with 2 for wrong usage and with 1 for a file that cannot be written") {
  const TemporaryFolder folder;
  for (const char* program : {"chapter3", "gradcheck"}) {
    CHECK(run(program, {"--help"}, folder).code == 0);
    CHECK(run(program, {"--unknown"}, folder).code == 2);
    CHECK(run(program, {"--threads", "0"}, folder).code == 2);
    const Ended ended = run(program, {"--json", "no/such/folder.json"}, folder);
    CHECK(ended.code == 1);
    CHECK_THAT(ended.output, ContainsSubstring("no/such/folder.json"));
  }
}

TEST_CASE("every program prints its help, except the README's, which has no options") {
  const TemporaryFolder folder;
  std::size_t asked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TEND_EXAMPLES)) {
    const std::string program = entry.path().filename().string();
    if (!entry.is_regular_file() || access(entry.path().c_str(), X_OK) != 0 || program == "first")
      continue;
    INFO(program);
    const Ended help = run(program, {"--help"}, folder);
    CHECK(help.code == 0);
    CHECK_THAT(help.output, ContainsSubstring("--help"));
    CHECK(run(program, {"--unknown"}, folder).code == 2);
    ++asked;
  }
  CHECK(asked > 8);
}

TEST_CASE("a program exits with 1 if standard output cannot be written") {
  const TemporaryFolder folder;
  Process process("/bin/sh", {"-c", TEND_EXAMPLES "/chapter3 --help > /dev/full"}, folder.path());
  CHECK(process.wait() == 1);
}

TEST_CASE("gradcheck passes for every module in both orders and lists all checks") {
  const TemporaryFolder folder;
  const Ended ended = run("gradcheck", {"--json", "b.json"}, folder);
  CHECK(ended.code == 0);
  const auto rows = nlohmann::json::parse(content(folder.file("b.json")));
  CHECK(rows.size() > 300);
  CHECK(count_failed(rows) == 0);
  std::set<std::string> modules;
  std::set<int> orders;
  for (const auto& row : rows) {
    modules.insert(
        row["name"].get<std::string>().substr(0, row["name"].get<std::string>().find(',')));
    orders.insert(row["order"].get<int>());
    CHECK(row["max_abs_error"].is_number());
    CHECK(row["max_rel_error"].is_number());
    CHECK(row["wrt"].is_string());
  }
  CHECK(orders == std::set<int>{1, 2});
  CHECK(modules == std::set<std::string>{"CausalAttention", "MultiHeadAttention",
                                         "MultiHeadAttentionWrapper", "SelfAttentionV1",
                                         "SelfAttentionV2", "TransformerBlock",
                                         "scaled_dot_product_attention", "simple_attention"});
}

TEST_CASE("gradcheck fails for a broken operation and refuses an unknown one") {
  const TemporaryFolder folder;
  const Ended ended = run("gradcheck", {"--break", "SoftmaxBackward0", "--json", "b.json"}, folder);
  CHECK(ended.code == 1);
  CHECK(count_failed(nlohmann::json::parse(content(folder.file("b.json")))) > 0);
  const Ended unknown = run("gradcheck", {"--break", "NoSuchBackward0"}, folder);
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.output, ContainsSubstring("SoftmaxBackward0"));
}

TEST_CASE("gradcheck --all passes and lists every operation with its worst errors and its nodes") {
  const TemporaryFolder folder;
  const Ended ended = run("gradcheck", {"--all", "--json", "c.json"}, folder);
  CHECK(ended.code == 0);
  const auto checks = nlohmann::json::parse(content(folder.file("c.json")));
  CHECK(count_failed(checks) == 0);
  std::map<std::string, std::set<int>> orders;
  for (const auto& check : checks) {
    INFO(check);
    if (!check["nodes"].empty()) CHECK(check["checks"].get<int>() > 0);
    CHECK(check["rows"].get<int>() > 0);
    CHECK(check["max_abs_error"].is_number());
    CHECK(check["max_rel_error"].is_number());
    orders[check["operation"]].insert(check["order"].get<int>());
    if (check["operation"] == "exp") CHECK(check["own_nodes"][0] == "ExpBackward0");
    if (check["operation"] == "softsign") CHECK(check["own_nodes"].empty());
  }
  CHECK(orders.size() > 100);
  for (const auto& [operation, both] : orders) CHECK(both == std::set<int>{1, 2});
}

// tests/autograd/op_gradients_test.cpp breaks each of the other operations in turn.
TEST_CASE("gradcheck --all refuses to break a composed or unknown operation") {
  const TemporaryFolder folder;
  const Ended composed = run("gradcheck", {"--all", "--break", "softsign"}, folder);
  CHECK(composed.code == 2);
  CHECK_THAT(composed.output, ContainsSubstring("it consists of:"));
  CHECK_THAT(composed.output, ContainsSubstring("AbsBackward0"));
  CHECK(run("gradcheck", {"--all", "--break", "no_such_operation"}, folder).code == 2);
}

TEST_CASE("the README's program is examples/first.cpp and runs") {
  const std::string program = content(TEND_SOURCE "/examples/first.cpp");
  CHECK(program.size() > 500);
  CHECK_THAT(content(TEND_SOURCE "/README.md"), ContainsSubstring("```cpp\n" + program + "```"));
  const TemporaryFolder folder;
  const Ended ended = run("first", {}, folder);
  CHECK(ended.code == 0);
  CHECK_THAT(ended.output, ContainsSubstring("[[0.3190, 0.4858],"));
  CHECK_THAT(ended.output, ContainsSubstring("gradients agree with differences"));
}
