#include "comparison.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "examples/program.h"

using namespace tend;
using nlohmann::json;

namespace fuzz {
namespace {

Digest digest_from(const json& object) {
  const auto number = [&](const char* key) {
    return object[key].is_number() ? object[key].get<double>()
                                   : std::numeric_limits<double>::quiet_NaN();
  };
  const auto shape = object["shape"].get<std::vector<std::int64_t>>();
  return {Shape(std::span(shape)), object["dtype"].get<std::string>(), number("sum"),
          number("magnitude")};
}

std::vector<Digest> digests_from(const json& list) {
  std::vector<Digest> digests;
  for (const json& each : list) digests.push_back(digest_from(each));
  return digests;
}

json digests_to_json(const std::vector<Digest>& digests) {
  json list = json::array();
  for (const Digest& each : digests) {
    list.push_back({{"shape", std::vector<std::int64_t>(each.shape.begin(), each.shape.end())},
                    {"dtype", each.dtype},
                    {"sum", each.sum},
                    {"magnitude", each.magnitude}});
  }
  return list;
}

bool is_nothing(const Digest& digest) {
  return digest.dtype == "none" || digest.magnitude == 0;
}

std::optional<std::string> difference(const char* what, std::size_t number, const Digest& found,
                                      const Digest& expected, double tolerance) {
  // A gradient that is zero need not be there.
  if (found.dtype == "none" || expected.dtype == "none") {
    if (is_nothing(found) && is_nothing(expected)) return std::nullopt;
  }
  if (found.shape != expected.shape || found.dtype != expected.dtype) {
    return as_text(what, ' ', number, " is ", found.dtype, ' ', found.shape, ", in PyTorch ",
                   expected.dtype, ' ', expected.shape);
  }
  const double allowed = tolerance * std::max(1.0, expected.magnitude);
  const bool close = std::fabs(found.sum - expected.sum) <= allowed &&
                     std::fabs(found.magnitude - expected.magnitude) <= allowed;
  if (close) return std::nullopt;
  return as_text(what, ' ', number, " sums to ", found.sum, " (absolute values ", found.magnitude,
                 "), in PyTorch ", expected.sum, " (", expected.magnitude, ')');
}

std::optional<std::string> difference(const char* what, std::vector<Digest> found,
                                      std::vector<Digest> expected, double tolerance) {
  const std::size_t count = std::max(found.size(), expected.size());
  found.resize(count);
  expected.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (auto text = difference(what, i, found[i], expected[i], tolerance)) return text;
  }
  return std::nullopt;
}

// A folder of its own that goes with this object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tend-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw IoError("cannot make a folder " + pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

json to_json(const Outcome& outcome) {
  return {{"values", digests_to_json(outcome.values)},
          {"gradients", digests_to_json(outcome.gradients)},
          {"second", digests_to_json(outcome.second)}};
}

Reference reference_from(const json& line) {
  if (line.contains("error")) return {line["error"].get<std::string>(), {}};
  return {{},
          {Outcome::Kind::compared, digests_from(line["values"]), digests_from(line["gradients"]),
           digests_from(line["second"])}};
}

std::optional<std::string> difference(const Program& program, const Outcome& found,
                                      const Outcome& expected) {
  const double allowed = tolerance(program.single_precision());
  if (auto text = difference("value", found.values, expected.values, allowed)) return text;
  if (auto text = difference("gradient", found.gradients, expected.gradients, allowed)) return text;
  return difference("second derivative", found.second, expected.second, allowed);
}

double largest_magnitude(const Outcome& outcome) {
  double largest = 0;
  for (const auto* digests : {&outcome.values, &outcome.gradients, &outcome.second}) {
    for (const Digest& each : *digests) {
      if (!std::isfinite(each.magnitude)) return std::numeric_limits<double>::quiet_NaN();
      largest = std::max(largest, each.magnitude);
    }
  }
  return largest;
}

std::uint32_t fingerprint(const std::string& python) {
  // FNV-1a.
  std::uint32_t hash = 2166136261u;
  for (const char c : python) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::vector<json> run_in_torch(const std::vector<json>& programs, const std::string& python,
                               const std::string& script) {
  const TemporaryFolder folder;
  {
    std::ofstream file(folder.file("programs"));
    for (const json& program : programs) file << program << '\n';
  }
  // `python` may be a command of several words.
  const std::string command = python + " " + program::shell_quoted(script) + " < " +
                              program::shell_quoted(folder.file("programs")) + " > " +
                              program::shell_quoted(folder.file("outcomes"));
  if (std::system(command.c_str()) != 0) throw Error("failed to run " + command);
  std::ifstream file(folder.file("outcomes"));
  std::vector<json> outcomes;
  for (std::string line; std::getline(file, line);) outcomes.push_back(json::parse(line));
  if (outcomes.size() != programs.size()) {
    throw Error(
        as_text("PyTorch answered ", outcomes.size(), " of ", programs.size(), " programs"));
  }
  return outcomes;
}

}  // namespace fuzz
