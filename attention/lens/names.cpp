#include <tend/attention/lens/names.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace tend::lens {
namespace {

using Renamed = std::pair<std::string_view, std::string_view>;

// Parts of a block and of a model: tend's names, and TransformerLens's names.
constexpr Renamed kBlockParts[] = {
    {"attention.", "attn."}, {"feed_forward.", "mlp."}, {"norm1.", "ln1."}, {"norm2.", "ln2."}};
constexpr Renamed kModelParts[] = {{"norm.", "ln_final."}};

// Activations that TransformerLens 3 renamed: the new name and the earlier one. The first table has
// the activations of a block, the second those outside of blocks.
constexpr Renamed kNewInBlock[] = {
    {"hook_in", "hook_resid_pre"},       {"hook_out", "hook_resid_post"},
    {"ln2.hook_in", "hook_resid_mid"},   {"attn.hook_out", "hook_attn_out"},
    {"attn.q.hook_out", "attn.hook_q"},  {"attn.k.hook_out", "attn.hook_k"},
    {"attn.v.hook_out", "attn.hook_v"},  {"attn.o.hook_in", "attn.hook_z"},
    {"mlp.in.hook_out", "mlp.hook_pre"}, {"mlp.out.hook_in", "mlp.hook_post"},
    {"mlp.hook_out", "hook_mlp_out"}};
constexpr Renamed kNewInModel[] = {{"embed.hook_out", "hook_embed"},
                                   {"pos_embed.hook_out", "hook_pos_embed"}};

// The length of "blocks.12." at the beginning, or 0.
std::size_t block_length(std::string_view name) {
  constexpr std::string_view kBlocks = "blocks.";
  if (!name.starts_with(kBlocks)) return 0;
  std::size_t end = kBlocks.size();
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return end > kBlocks.size() && end < name.size() && name[end] == '.' ? end + 1 : 0;
}

std::string renamed(std::string name, std::span<const Renamed> parts,
                    std::span<const Renamed> wholes) {
  for (const auto& [from, to] : parts) {
    if (name.starts_with(from)) name.replace(0, from.size(), to);
  }
  for (const auto& [from, to] : wholes) {
    if (name == from) return std::string(to);
  }
  return name;
}

// The number of characters to insert, remove or replace to turn a into b (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string activation_name(const std::string& name) {
  const std::size_t block = block_length(name);
  if (block == 0) return renamed(name, kModelParts, kNewInModel);
  return name.substr(0, block) + renamed(name.substr(block), kBlockParts, kNewInBlock);
}

std::vector<std::string> nearest_names(const std::string& name,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> nearest = names;
  // Names that contain the text come first.
  const auto rank = [&](const std::string& each) {
    return std::pair(each.find(name) == std::string::npos, distance(name, each));
  };
  std::stable_sort(nearest.begin(), nearest.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  nearest.resize(std::min(nearest.size(), kMost));
  return nearest;
}

}  // namespace tend::lens
