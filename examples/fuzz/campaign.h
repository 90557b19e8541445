// Many programs of one kind, run here and in PyTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fuzz {

/// How PyTorch is called.
struct Torch {
  std::string python = "python3";  // the command, of one word or several
  std::string script;              // torch_run.py
};

/// A program that differs.
struct Finding {
  std::uint64_t seed;
  std::string text;
};

/// Runs batches of programs and adds up what it found.
class Campaign {
 public:
  virtual ~Campaign() = default;
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Runs the programs of `count` seeds, of which `first` is the first.
  virtual void run(std::uint64_t first, std::uint64_t count, const Torch& torch) = 0;
  /// Counts of its own.
  virtual nlohmann::json counts() const = 0;
  /// The text of a program.
  virtual std::string show(std::uint64_t seed) const = 0;

  std::uint64_t programs() const noexcept { return programs_; }
  const std::vector<Finding>& findings() const noexcept { return findings_; }
  /// What PyTorch gave, for the tests.
  const nlohmann::json& stored() const noexcept { return stored_; }

 protected:
  Campaign() = default;

  std::uint64_t programs_ = 0;
  std::vector<Finding> findings_;
  nlohmann::json stored_ = nlohmann::json::array();
};

/// Programs of tensor operations (program.h).
std::unique_ptr<Campaign> tensor_campaign();
/// Programs over leaves that persist (leaf_program.h).
std::unique_ptr<Campaign> leaf_campaign();

}  // namespace fuzz
