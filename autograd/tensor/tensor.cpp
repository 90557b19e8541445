#include <tend/autograd/tensor/tensor.h>

#include <ostream>
#include <unordered_set>
#include <utility>

#include <tend/autograd/graph/engine.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/parsed_index.h>
#include <tend/core/array/print.h>

namespace tend {

Tensor::Tensor(Array&& array) : impl_(Ref<TensorImpl>::first(new TensorImpl(std::move(array)))) {}

void Tensor::fail_undefined() {
  fail<AutogradError>("tensor", "the tensor is undefined: it was given no value, or moved from");
}

bool Tensor::requires_grad() const {
  if (!impl_) return false;
  renew_view_history(*impl_);
  return impl_->grad_fn || impl_->requires_grad;
}

Tensor& Tensor::requires_grad_(Flag value) {
  if (value && !is_floating(dtype())) {
    fail<DTypeError>("requires_grad_", "only floating tensors have gradients, this one is ",
                     dtype());
  }
  array();  // throws if the tensor is undefined
  if (!value && !is_leaf()) {
    fail<AutogradError>("requires_grad_",
                        "cannot be turned off for a tensor with history; use detach()");
  }
  if (value) impl_->gradient_slot();
  impl_->requires_grad = value;
  return *this;
}

bool Tensor::is_leaf() const {
  if (!impl_) return true;
  renew_view_history(*impl_);
  return !impl_->grad_fn;
}

Tensor Tensor::grad() const {
  return impl_ && impl_->grad ? Tensor(impl_->grad) : Tensor();
}

namespace {

// True if `tensor` is `other`, or keeps it alive as its gradient, as the base of a view, or through
// a chain of these.
bool keeps_alive(const TensorImpl& tensor, const TensorImpl& other) {
  if (&tensor == &other) return true;
  // A tensor with a single handle is not kept alive by another tensor.
  if (other.use_count() == 1 || (!tensor.grad && !tensor.base)) return false;
  std::vector<const TensorImpl*> reached{&tensor};
  std::unordered_set<const TensorImpl*> seen{&tensor};
  for (std::size_t i = 0; i < reached.size(); ++i) {  // NOLINT(modernize-loop-convert): it grows
    for (const Ref<TensorImpl>& next : {reached[i]->grad, reached[i]->base}) {
      if (next && seen.insert(next.get()).second) reached.push_back(next.get());
    }
  }
  return seen.count(&other) == 1;
}

}  // namespace

void Tensor::set_grad(const Tensor& gradient) {
  array();  // throws if the tensor is undefined
  if (gradient.defined()) {
    check_grad_fits("set_grad", *impl_, gradient.array());
    if (keeps_alive(*gradient.impl(), *impl_)) {
      fail<AutogradError>("set_grad", "the gradient of a tensor ", shape(),
                          " cannot be the tensor itself, a view of it, or a tensor that has "
                          "it as gradient: they would keep each other alive for good; use a clone");
    }
  }
  impl_->grad = gradient.impl();
}

void check_grad_fits(const char* operation, const TensorImpl& tensor, const Array& gradient) {
  const Array& own = tensor.array;
  if (gradient.shape() != own.shape()) {
    fail<ShapeError>(operation, "the gradient of a tensor must have its shape ", own.shape(),
                     ", but has shape ", gradient.shape());
  }
  if (gradient.dtype() != own.dtype()) {
    fail<DTypeError>(operation, "the gradient of a tensor must have its dtype ", own.dtype(),
                     ", but is ", gradient.dtype());
  }
}

const char* Tensor::grad_fn() const {
  const Edge edge = gradient_edge(*this);
  return edge.node ? edge.node->grad_fn() : nullptr;
}

void Tensor::retain_grad() {
  const Edge edge = gradient_edge(*this);
  if (!edge) fail<AutogradError>("retain_grad", "the tensor does not require grad");
  if (!edge.node) return;  // leaves save their gradient anyway
  edge.node->retainer = impl_->gradient_slot();
  impl_->retains_grad = true;
}

HookHandle Tensor::register_hook(TensorHook hook) const {
  const Edge edge = gradient_edge(*this);
  if (!edge) fail<AutogradError>("register_hook", "the tensor does not require grad");
  TensorHooks& hooks = edge.node ? edge.node->make_notes().hooks : edge.leaf->hooks;
  return hooks.add("register_hook", std::move(hook));
}

void Tensor::backward(const Tensor& gradient, Flag retain_graph, Flag create_graph) const {
  autograd::backward({this, 1}, {&gradient, 1}, retain_graph, create_graph);
}

void Tensor::backward(const Tensor& gradient, Flag retain_graph, Flag create_graph,
                      const std::vector<Tensor>& inputs) const {
  autograd::backward({this, 1}, {&gradient, 1}, retain_graph, create_graph, &inputs);
}

Tensor Tensor::detach() const {
  return Tensor(array());
}

const Tensor& Tensor::detach_() const {
  array();  // throws if the tensor is undefined
  if (live_base(*impl_))
    fail<AutogradError>("detach_",
                        "cannot detach a view in place, because it shares the history of its base; "
                        "use detach()");
  impl_->set_grad_fn({});
  impl_->requires_grad = false;
  return *this;
}

void Tensor::set_data(const Tensor& value) {
  array();  // throws if the tensor is undefined
  if (!is_leaf())
    fail<AutogradError>("set_data", "cannot replace the elements of a tensor with history");
  const bool fits = value.shape() == shape() && value.dtype() == dtype();
  if (impl_->grad && !fits) {
    fail<AutogradError>("set_data", "the tensor ", shape(), ' ', dtype(), " has a gradient; call ",
                        "zero_grad() before it becomes ", value.shape(), ' ', value.dtype());
  }
  if (impl_->requires_grad && !is_floating(value.dtype())) {
    fail<DTypeError>("set_data", "the tensor ", shape(),
                     " requires grad, so the new elements must be floating, not ", value.dtype());
  }
  impl_->set_elements(Array(value.array()));
}

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "None";
  std::vector<std::string> suffixes;
  if (const char* name = tensor.grad_fn()) {
    suffixes.push_back(as_text("grad_fn=<", name, '>'));
  } else if (tensor.requires_grad()) {
    suffixes.emplace_back("requires_grad=True");
  }
  const std::string text = format_tensor(tensor.array(), suffixes);
  return tensor.impl()->is_parameter ? "Parameter containing:\n" + text : text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

Index::Index(const Tensor& tensor) : kind_(Kind::tensor), tensor_(tensor.impl()) {
  tensor.array();  // throws if the tensor is undefined
}

Indexed::Indexed(Tensor elements, std::unique_ptr<ParsedIndex> arrays) noexcept
    : Tensor(std::move(elements)), parsed_(std::move(arrays)) {}
Indexed::Indexed(Indexed&&) noexcept = default;
Indexed::~Indexed() = default;

namespace {

Indexed read(const Tensor& self, std::span<const Index> indices) {
  ParsedIndex found = parse_index("index", self, indices);
  if (found.is_view()) return Indexed(std::move(found.view), nullptr);
  Tensor elements = take_indexed("IndexBackward0", found.view, found.arrays, "index");
  return Indexed(std::move(elements), std::make_unique<ParsedIndex>(std::move(found)));
}

}  // namespace

Indexed Tensor::operator[](const Index& index) const {
  return read(*this, {&index, 1});
}
Indexed Tensor::operator[](Indices indices) const {
  return read(*this, {indices.begin(), indices.size()});
}

Indexed Tensor::at(std::span<const Index> indices) const {
  return read(*this, indices);
}

void Indexed::operator=(const Tensor& value) && {
  const Tensor fitting = without_leading_ones(value, dim());
  if (!parsed_) {
    copy_(fitting);
  } else {
    write_back(fitting);
  }
}

void Indexed::operator=(const Scalar& value) && {
  if (!parsed_) {
    fill_(value);
  } else {
    write_back(number_for("index_put_", *this, value));
  }
}

void Indexed::write_back(const Tensor& value) const {
  if (!parsed_) return;  // writing to a view has changed the elements already
  write_parsed("index_put_", *parsed_, value, false);
}

}  // namespace tend
