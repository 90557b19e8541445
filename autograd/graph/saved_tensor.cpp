#include <tend/autograd/graph/saved_tensor.h>

#include <utility>

#include <tend/autograd/graph/node.h>

namespace tend {
namespace {

thread_local Recomputation* latest = nullptr;

}  // namespace

Recomputation::Scope::Scope(Recomputation* recomputation) noexcept
    : before_(std::exchange(latest, recomputation)) {}

Recomputation::Scope::~Scope() {
  latest = before_;
}

SavedTensor::SavedTensor(const Tensor& tensor, bool is_output, const Edge* input_edge)
    : array_(tensor.array()),
      input_edge_(input_edge),
      own_edge_(is_output || input_edge != nullptr ? Edge{} : gradient_edge(tensor)),
      version_(array_.storage()->version()),
      is_output_(is_output) {
  if (latest == nullptr) return;
  index_ = latest->note(array_);
  // Leaves stay in memory anyway. So they are saved, and their version is checked as usual.
  if (edge().leaf) return;
  recomputation_ = Ref<Recomputation>(latest);
  array_ = Array();
}

void SavedTensor::check_version(const char* saver) const {
  if (recomputation_) recomputation_->check(saver);
  if (!array_.defined()) return;
  const Storage& storage = *array_.storage();
  if (storage.version() == version_) return;
  const char* writer = storage.last_writer();
  fail<AutogradError>(saver, "a tensor of shape ", array_.shape(),
                      " that was saved for backward was changed later by [", writer ? writer : "?",
                      "]: its version was ", version_, " and is now ", storage.version());
}

Tensor SavedTensor::unpack(Node* node) const {
  // Checked again, because hooks may have written to the elements meanwhile.
  check_version(node ? node->operation() : "checkpoint");
  Array array = recomputation_ ? recomputation_->recompute(index_) : array_;
  if (!array.defined()) return {};
  Tensor tensor(std::move(array));
  tensor.impl()->grad_fn = is_output_ ? Ref<Node>(node) : edge().node;
  tensor.impl()->slot = edge().leaf;
  tensor.impl()->requires_grad = static_cast<bool>(edge().leaf);
  return tensor;
}

}  // namespace tend
