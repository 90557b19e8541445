#include <tend/attention/functions/attend.h>

#include <utility>

#include <tend/attention/functions/composed.h>
#include <tend/attention/functions/fused.h>
#include <tend/core/base/thread_number.h>

namespace tend::attention {
namespace {

thread_local AttentionPath preferred_path = AttentionPath::automatic;

// Whether to take the fused path; Error where it was asked for and cannot be taken.
bool takes_fused(const AttentionCall& call, AttentionPath path, const Tensor& query,
                 const Tensor& key, const Tensor& value) {
  if (path == AttentionPath::automatic) path = preferred_path;
  if (path == AttentionPath::composed) return false;
  if (path == AttentionPath::automatic && !fused_pays(call, query, key, value)) return false;
  const std::string obstacle = fused_obstacle(call, query, key, value);
  if (obstacle.empty()) return true;
  if (path == AttentionPath::fused) {
    fail(call.operation, "the fused path does not do this: ", obstacle);
  }
  return false;
}

}  // namespace

AttentionPathGuard::AttentionPathGuard(AttentionPath path) noexcept
    : before_(std::exchange(preferred_path, path)), thread_(thread_number()) {}

AttentionPathGuard::~AttentionPathGuard() {
  if (thread_ == thread_number()) preferred_path = before_;
}

Tensor attend(const AttentionCall& call, AttentionPath path, const Tensor& query, const Tensor& key,
              const Tensor& value, const Tensor& kept) {
  if (takes_fused(call, path, query, key, value)) {
    return fused_attention(call, query, key, value, kept);
  }
  return composed_attention(call, query, key, value, kept.defined() ? kept.array() : Array())
      .context;
}

}  // namespace tend::attention
