// benchmarks/compare as a user runs it. What it measures is not tested here.

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/examples/process.h"

using tend::test::Ended;
using tend::test::Process;
using tend::test::run_program;
using tend::test::TemporaryFolder;

namespace {

Ended compare(const std::vector<std::string>& arguments) {
  return run_program(TEND_COMPARE, arguments, TemporaryFolder());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("compare explains itself and lists its rows") {
  CHECK(compare({"--help"}).code == 0);
  const auto [code, output] = compare({"--list"});
  CHECK(code == 0);
  for (const char* row : {"matmul 2048\n", "Q K^T B4 H12 T1024 D64\n", "softmax 4096x1024, dim 0\n",
                          "add of two 6x3\n", "causal MHA B2 T1024 C768 H12, both\n",
                          "GPT step V65 T256 C384 L6 H6 B4\n", "sgemm up weight gradient\n"}) {
    CHECK(has(output, row));
  }
}

TEST_CASE("compare --operations lists every row of the operation table") {
  const auto [code, output] = compare({"--operations", "--list"});
  CHECK(code == 0);
  for (const char* row : {"torch.exp(a) 512x512 float32 contiguous forward\n",
                          "torch.exp(a) 4096x1024 float64 transposed both\n",
                          "torch.sort(a) 4096x1024 float32 contiguous forward\n",
                          "torch.gather(a, 1, b) 512x512 float64 contiguous both\n"}) {
    CHECK(has(output, row));
  }
  CHECK_FALSE(has(output, "torch.argmax(a) 512x512 float32 contiguous both"));  // no gradient
  CHECK(compare({"--operations", "--rows", "no such row"}).code == 2);
  CHECK(compare({"--operations", "--peers", "Eigen"}).code == 2);
}

TEST_CASE("compare --sample draws rows by the seed") {
  const auto drawn = [](const std::string& seed) {
    const auto [code, output] = compare({"--list", "--sample", "5", "--seed", seed});
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
                                                    {"--break", "abacus"},
                                                    {"--break", "machine"},
                                                    {"--fault", "die"},
                                                    {"--threads", "100000"},
                                                    {"--threads", "-1"},
                                                    {"--sample", "0"},
                                                    {"--seed", "-1"},
                                                    {"--seed", "18446744073709551616"},
                                                    {"--patience", "1.5"},
                                                    {"--json", ""}}) {
    CHECK(compare(arguments).code == 2);
  }
}

TEST_CASE("compare ends with 1 when standard output or its file cannot be written") {
  const TemporaryFolder folder;
  for (const std::string arguments :
       {"--help", "--list", "--rows 'add of two' --peers OpenBLAS --repetitions 1"}) {
    Process process("/bin/sh", {"-c", TEND_COMPARE " " + arguments + " > /dev/full"},
                    folder.path());
    INFO(arguments);
    CHECK(process.wait() == 1);
  }
  const auto [code, output] = compare({"--json", "no/such/folder.json"});
  CHECK(code == 1);
  CHECK(has(output, "cannot write no/such/folder.json"));
}

TEST_CASE("compare writes a row for each that was chosen") {
  const TemporaryFolder folder;
  const std::string file = folder.file("results.json");
  const auto [code, output] = compare({"--rows", "^(add of two|matmul 256)", "--peers", "OpenBLAS",
                                       "--repetitions", "1", "--json", file});
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
  REQUIRE(compare({"--rows", "sgemm projection forward", "--peers", "OpenBLAS", "--repetitions",
                   "1", "--threads", "1", "--json", file})
              .code == 0);
  const nlohmann::json row = nlohmann::json::parse(std::ifstream(file))[0];
  CHECK(row["of_limit"].get<double>() ==
        Approx(row["limit_s"].get<double>() / row["tend_s"].get<double>()));
}

TEST_CASE("compare notices a library that computes wrongly") {
  for (const char* name : {"OpenBLAS", "tend"}) {
    const auto [code, output] = compare(
        {"--rows", "matmul 256", "--peers", "OpenBLAS", "--repetitions", "1", "--break", name});
    CHECK(code == 1);
    CHECK(has(output, "compare: matmul 256: OpenBLAS differs from tend: in tensor 0 by"));
  }
}

TEST_CASE("compare goes on without a worker that dies or falls silent") {
  for (const char* fault : {"die", "hang"}) {
    const auto [code, output] =
        compare({"--rows", "matmul 256", "--peers", "OpenBLAS", "--repetitions", "1", "--break",
                 "OpenBLAS", "--fault", fault, "--patience", "2"});
    CHECK(code == 1);
    CHECK(has(output, "OpenBLAS (as installed) di"));  // died, did not answer in time
    CHECK(has(output, "| matmul 256 | "));
  }
}
