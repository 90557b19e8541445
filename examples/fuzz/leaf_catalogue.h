// The statements that programs over leaves are made of.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "leaf_program.h"

namespace fuzz {

/// Adds one statement or several to a program, or gives up (false) where nothing fits.
struct LeafEntry {
  std::string name;
  std::function<bool(LeafProgram&)> add;
  int weight = 1;  // how often it is tried
};

/// What a hook of a program throws.
struct HookError : std::runtime_error {
  HookError() : std::runtime_error("a hook of the program throws") {}
};

std::vector<LeafEntry> forward_entries();
std::vector<LeafEntry> backward_entries();
std::vector<LeafEntry> leaf_entries();
std::vector<LeafEntry> hook_entries();
std::vector<LeafEntry> optimizer_entries();
std::vector<LeafEntry> write_entries();
std::vector<LeafEntry> mistake_entries();

/// All of them.
const std::vector<LeafEntry>& leaf_catalogue();

}  // namespace fuzz
