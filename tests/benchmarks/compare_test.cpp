// Runs benchmarks/compare as a user does. The measured times are not tested.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "benchmarks/compare/attention_work.h"
#include "tests/catch.h"
#include "tests/examples/process.h"

using tend::test::Ended;
using tend::test::Process;
using tend::test::run_program;
using tend::test::TemporaryFolder;

namespace {

Ended run_compare(const std::vector<std::string>& arguments) {
  return run_program(TEND_COMPARE, arguments, TemporaryFolder());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("compare prints its help and lists its rows") {
  CHECK(run_compare({"--help"}).code == 0);
  const auto [code, output] = run_compare({"--list"});
  CHECK(code == 0);
  for (const char* row :
       {"matmul 2048\n", "Q K^T B4 H12 T1024 D64\n", "softmax 4096x1024, dim 0\n",
        "add of two 6x3\n", "causal MHA B2 T1024 C768 H12, both\n",
        "GPT step V65 T256 C384 L6 H6 B4\n", "sgemm up weight gradient\n",
        "attention grouped H32/8 T1024 D64, both\n", "attention one query of 8192 keys H8 D64\n",
        "generate GPT-2 124M: decode\n"}) {
    CHECK(has(output, row));
  }
}

TEST_CASE("compare --operations lists every row of the operation table") {
  const auto [code, output] = run_compare({"--operations", "--list"});
  CHECK(code == 0);
  for (const char* row : {"torch.exp(a) 512x512 float32 contiguous forward\n",
                          "torch.exp(a) 4096x1024 float64 transposed both\n",
                          "torch.exp(a) 512x512 float32 contiguous in place\n",
                          "torch.sort(a) 4096x1024 float32 contiguous forward\n",
                          "torch.gather(a, 1, b) 512x512 float64 contiguous both\n"}) {
    CHECK(has(output, row));
  }
  CHECK_FALSE(has(output, "torch.argmax(a) 512x512 float32 contiguous both"));  // no gradient
  CHECK(run_compare({"--operations", "--rows", "no such row"}).code == 2);
  CHECK(run_compare({"--operations", "--peers", "Eigen"}).code == 2);
}

TEST_CASE("compare --sample selects rows at random by the seed") {
  const auto drawn = [](const std::string& seed) {
    const auto [code, output] = run_compare({"--list", "--sample", "5", "--seed", seed});
    CHECK(code == 0);
    CHECK(std::count(output.begin(), output.end(), '\n') == 5);
    return output;
  };
  CHECK(drawn("1") == drawn("1"));
  CHECK(drawn("1") != drawn("2"));
}

TEST_CASE("compare refuses what it does not understand") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--sideways"},
                                                    {"--repetitions", "0"},
                                                    {"--rows", "("},
                                                    {"--rows", "no such row"},
                                                    {"--peers", "abacus"},
                                                    {"--threads", "100000"},
                                                    {"--threads", "-1"},
                                                    {"--sample", "0"},
                                                    {"--seed", "-1"},
                                                    {"--seed", "18446744073709551616"},
                                                    {"--json", ""}}) {
    CHECK(run_compare(arguments).code == 2);
  }
}

TEST_CASE("compare exits with 1 if standard output or its file cannot be written") {
  const TemporaryFolder folder;
  for (const std::string arguments :
       {"--help", "--list", "--rows 'add of two' --peers OpenBLAS --repetitions 1"}) {
    Process process("/bin/sh", {"-c", TEND_COMPARE " " + arguments + " > /dev/full"},
                    folder.path());
    INFO(arguments);
    CHECK(process.wait() == 1);
  }
  const auto [code, output] = run_compare({"--json", "no/such/folder.json"});
  CHECK(code == 1);
  CHECK(has(output, "cannot write no/such/folder.json"));
}

TEST_CASE("compare writes one result for each row of the benchmark that --rows selects") {
  const TemporaryFolder folder;
  const std::string file = folder.file("results.json");
  const auto [code, output] = run_compare({"--rows", "^(add of two|matmul 256)", "--peers",
                                           "OpenBLAS", "--repetitions", "1", "--json", file});
  INFO(output);
  REQUIRE(code == 0);
  CHECK(has(output, "| matmul 256 |"));

  const nlohmann::json rows = nlohmann::json::parse(std::ifstream(file));
  REQUIRE(rows.is_array());
  REQUIRE(rows.size() == 2);
  const nlohmann::json& sum = rows[1];
  CHECK(sum["row"] == "add of two 6x3");
  CHECK(sum["tend_s"] > 0);
  CHECK(sum["peers"].empty());  // OpenBLAS has products only
  for (const char* key : {"best_peer", "ratio", "as_installed_ratio", "limit_s", "of_limit"}) {
    REQUIRE(sum.contains(key));
    CHECK(sum[key].is_null());
  }
  const nlohmann::json& product = rows[0];
  const nlohmann::json& peer = product["peers"]["OpenBLAS"];
  CHECK(product["best_peer"] == "OpenBLAS");
  CHECK(peer["settings"] == "as installed");
  CHECK(product["ratio"].get<double>() ==
        Approx(peer["seconds"].get<double>() / product["tend_s"].get<double>()));
  CHECK(has(product["about"]["OpenBLAS"], "threads"));
}

TEST_CASE("compare reports the limit of a row") {
  const TemporaryFolder folder;
  const std::string file = folder.file("results.json");
  REQUIRE(run_compare({"--rows", "sgemm projection forward", "--peers", "OpenBLAS", "--repetitions",
                       "1", "--threads", "1", "--json", file})
              .code == 0);
  const nlohmann::json row = nlohmann::json::parse(std::ifstream(file))[0];
  CHECK(row["of_limit"].get<double>() ==
        Approx(row["limit_s"].get<double>() / row["tend_s"].get<double>()));
}

TEST_CASE("compare reports the limit and the memory of memory-bound rows") {
  const TemporaryFolder folder;
  const std::string file = folder.file("results.json");
  const auto [code, output] = run_compare({"--rows", "one query of 8192|10M: decode", "--peers",
                                           "OpenBLAS", "--repetitions", "1", "--json", file});
  INFO(output);
  REQUIRE(code == 0);
  const nlohmann::json rows = nlohmann::json::parse(std::ifstream(file));
  REQUIRE(rows.size() == 2);
  for (const nlohmann::json& row : rows) {
    CHECK(row["limit_s"] > 0);
    CHECK(row["memory"]["tend"]["resident_bytes"] > 0);
  }
  // Keys and values of 8 heads; the query and the result are much smaller.
  const double keys_and_values = 2.0 * 8 * 8192 * 64 * sizeof(float);
  const auto held = rows[0]["memory"]["tend"]["tensor_bytes"].get<double>();
  CHECK(held >= keys_and_values);
  CHECK(held < 1.05 * keys_and_values);
}

TEST_CASE("the limit of masked attention counts only the visible pairs") {
  using compare::AttentionWork;
  using compare::visible_pairs;
  // 4 queries see 1 to 4 keys.
  CHECK(visible_pairs({"attend_grouped", false, 2, 3, 1, 4, 4, 8}) == 2 * 3 * 10);
  // A window of 2 keys: the queries see 1, 2, 2, 2 and 2 keys.
  CHECK(visible_pairs({"attend_window", false, 1, 1, 1, 5, 5, 8, 2}) == 1 + 2 + 2 + 2 + 2);
  // Documents of 2, 4 and 6 tokens.
  CHECK(compare::document_bounds({"attend_documents", false, 1, 1, 1, 12, 12, 8, 3}) ==
        std::vector<std::int64_t>{0, 2, 6, 12});
  CHECK(visible_pairs({"attend_documents", false, 1, 1, 1, 12, 12, 8, 3}) == 3 + 10 + 21);
  // Sequences of 8 and 2 tokens.
  CHECK(visible_pairs({"attend_padded", false, 2, 1, 1, 8, 8, 8}) == 8 * 8 + 8 * 2);
  CHECK(visible_pairs({"attend_padded_causal", false, 2, 1, 1, 8, 8, 8}) == 36 + 1 + 7 * 2);
  CHECK(visible_pairs({"attend_query", false, 1, 2, 2, 1, 9, 8}) == 18);
}

TEST_CASE("compare notices a wrong result and continues without a worker that died") {
  const auto [answer_time, expected] = GENERATE(table<std::string, std::string>({
      {"echo seconds 1", "OpenBLAS differs from tend: in tensor 0 65536 numbers instead of 1"},
      {"exit", "tend (as installed) died at \"time 25\""},
  }));
  // A fake worker, for which each result is a single number, zero.
  const TemporaryFolder folder;
  const std::string worker = folder.file("worker");
  std::ofstream(worker)
      << "#!/bin/sh\n"
         "while read command file; do case $command in\n"
         "  about) echo about nothing;;\n"
         "  prepare) echo ready;;\n"
         "  result) printf '\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' > $file; echo done 1;;\n"
         "  time) " +
             answer_time +
             ";;\n"
             "  *) echo done 0;;\n"
             "esac; done\n";
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  const auto [code, output] = run_compare(
      {"--rows", "matmul 256", "--peers", "OpenBLAS", "--repetitions", "1", "--tend", worker});
  CAPTURE(output);
  CHECK(code == 1);
  CHECK(has(output, "compare: matmul 256: " + expected));
  CHECK(has(output, "| matmul 256 | "));
}
