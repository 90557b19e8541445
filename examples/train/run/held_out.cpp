#include "examples/train/run/held_out.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>

namespace train {

namespace {

constexpr std::size_t kExamined = 1000;  // sequences; the task text uses all its held-out ones
constexpr std::size_t kChecked = 2000;

/// The seeds differ from the seed of the sequences that training validates with.
constexpr std::uint64_t kExaminationSeed = 2018;
constexpr std::uint64_t kCheckSeed = 2019;

}  // namespace

std::vector<Tokens> examination_sequences(const Task& task) {
  Random random(kExaminationSeed, 0);
  return task.held_out(random,
                       task.name == "text" ? std::numeric_limits<std::size_t>::max() : kExamined);
}

std::vector<Tokens> check_sequences(const Task& task) {
  const std::vector<Tokens> examination = examination_sequences(task);
  const std::set<Tokens> examined(examination.begin(), examination.end());
  Random random(kCheckSeed, 0);
  // Some of these sequences are also examination sequences and are removed below, so this asks for
  // more.
  std::vector<Tokens> sequences = task.held_out(random, kChecked + kExamined);
  std::erase_if(sequences, [&](const Tokens& s) { return examined.contains(s); });
  sequences.resize(std::min(sequences.size(), kChecked));
  return sequences;
}

}  // namespace train
