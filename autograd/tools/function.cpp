#include <tend/autograd/tools/function.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <tend/autograd/graph/anomaly.h>
#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/graph/node.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/type_name.h>

namespace tend::autograd {

const char* function_name(const std::type_info& type) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;  // graphs may outlive static objects
  const std::lock_guard lock(mutex);
  return names.insert(type_name(type) + "Backward").first->c_str();
}

void FunctionHook::call(const char* name, const Call& again, const Tensors& inputs) {
  struct Unhooked {
    const FunctionHook* before = std::exchange(current_, nullptr);
    ~Unhooked() { current_ = before; }
  } unhooked;
  unhooked.before->hook_(name, again, inputs);
}

Tensor FunctionContext::saved(std::size_t i) const {
  if (i < saved_.size()) return saved_[i];
  fail<IndexError>("saved", "there is no saved tensor ", i, ": forward saved ", saved_.size());
}

void FunctionContext::mark_dirty(std::vector<Tensor> inputs) {
  const GradModeGuard mode(grad_mode_);
  for (const Tensor& input : inputs) check_writable("mark_dirty", input);
  dirty_ = std::move(inputs);
}

bool FunctionContext::needs_input_grad(std::size_t i) const {
  if (i < needed_.size()) return needed_[i];
  fail<IndexError>("needs_input_grad", "there is no input ", i, ": the function has ",
                   needed_.size());
}

// One call of a custom function, with the data that its nodes share.
class CustomCall {
 public:
  using Tensors = std::vector<Tensor>;

  CustomCall(CustomFunction function, const Tensors& inputs) : function_(std::move(function)) {
    for (const Tensor& input : inputs) {
      input_shapes_.push_back(input.defined() ? input.shape() : Shape());
    }
  }

  const char* name() const { return function_.name; }

  // Runs forward without recording. The outputs own their elements, except for dirty inputs.
  // `sources` gets tensors with the inputs' present histories, because dirty inputs will lose
  // theirs.
  Tensors forward(const Tensors& inputs, Tensors& sources) {
    FunctionContext context;
    context.grad_mode_ = grad_enabled();
    std::vector<std::uint32_t> versions;
    for (const Tensor& input : inputs) {
      context.needed_.push_back(grad_enabled() && input.requires_grad());
      versions.push_back(input.defined() ? input.version() : 0);
      sources.push_back(grad_enabled() ? as_of_now(input) : input);
    }
    const NoGradGuard no_graph;
    Tensors outputs = function_.forward(context, inputs);
    if (outputs.empty()) fail<AutogradError>(name(), "forward gave no output");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined()) continue;
      if (is_in(inputs[i], context.dirty_)) {
        if (!is_in(inputs[i], outputs))
          fail<AutogradError>(name(), "forward marked its input ", i,
                              " as dirty, but did not return it");
      } else if (inputs[i].version() != versions[i]) {
        fail<AutogradError>(name(), "forward changed its input ", i, " in place");
      }
    }
    for (const Tensor& saved : context.to_save_) {
      const bool is_dirty = is_in(saved, context.dirty_) && is_in(saved, inputs);
      // The history of a dirty input will change later, so it is not saved.
      saved_.push_back({is_dirty ? saved.detach() : saved,
                        index_among(saved, outputs, is_dirty ? Tensors() : inputs)});
    }
    for (Tensor& output : outputs) finish(output, inputs, context);
    return outputs;
  }
  // Returns true for each output that has a gradient.
  const std::vector<bool>& differentiable() const { return differentiable_; }

  // Gives the dirty inputs among the outputs the histories of their results, and replaces these
  // results by the inputs.
  void take_history(const Tensors& outputs, Tensors& results) {
    const Tensors dirty = std::exchange(dirty_, {});  // their history will own this call
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!is_in(outputs[i], dirty)) continue;
      PendingWrite(name(), outputs[i], results[i]).take_history();
      results[i] = outputs[i];
    }
  }

  // Returns another tensor with the elements and the present history of this one.
  static Tensor as_of_now(const Tensor& input) {
    Ref<Node> node = gradient_edge(input).node;
    if (!node) return input;  // it is a leaf, or has no history
    Tensor copy = input.detach();
    copy.impl()->set_grad_fn(std::move(node));
    return copy;
  }

  static bool is_in(const Tensor& tensor, const Tensors& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Tensor& each) { return each.impl() == tensor.impl(); });
  }

  // Prepares an output of forward as a result of this call.
  void finish(Tensor& output, const Tensors& inputs, const FunctionContext& context) {
    if (!output.defined()) fail<AutogradError>(name(), "forward gave an undefined output");
    const bool is_constant = is_in(output, context.constant_);
    const bool is_dirty = is_in(output, context.dirty_) && is_in(output, inputs);
    differentiable_.push_back(is_floating(output.dtype()) && !is_constant);
    if (is_dirty && !is_in(output, dirty_)) {
      output.array().storage()->bump_version(name());
      dirty_.push_back(output);
      if (is_constant) output = output.detach();
    } else if (!is_own(output, inputs)) {
      output = output.clone();
    }
  }

  struct Saved {
    Tensor tensor;
    std::ptrdiff_t output;  // the index among the outputs, or -1
  };
  const std::vector<Saved>& saved() const { return saved_; }

  // Returns the index of the output that is the saved tensor; -1 for inputs and other tensors.
  static std::ptrdiff_t index_among(const Tensor& saved, const Tensors& outputs,
                                    const Tensors& inputs) {
    const auto is_same = [&](const Tensor& each) { return each.impl() == saved.impl(); };
    if (std::any_of(inputs.begin(), inputs.end(), is_same)) return -1;
    const auto output = std::find_if(outputs.begin(), outputs.end(), is_same);
    return output == outputs.end() ? -1 : output - outputs.begin();
  }

  // True if the output shares its elements with nothing outside of this call: no input, no other
  // output, and no tensor that forward got from elsewhere.
  bool is_own(const Tensor& output, const Tensors& inputs) const {
    const auto shares = [&](const Tensor& input) {
      return input.defined() && input.array().storage() == output.array().storage();
    };
    if (std::any_of(inputs.begin(), inputs.end(), shares)) return false;
    const auto times_saved = std::count_if(saved_.begin(), saved_.end(), [&](const Saved& each) {
      return each.tensor.impl() == output.impl();
    });
    // A saved output has one more handle here, and one in the context.
    return output.impl()->use_count() == 1 + 2 * static_cast<std::uint32_t>(times_saved) &&
           output.array().storage()->use_count() == 1;
  }

  // Releases the saved tensors. Call it after the nodes have saved them.
  void forget_saved() {
    for (Saved& each : saved_) each.tensor = Tensor();
  }

  // Computes the gradients from `grads` by backward, and sets them in d.
  void differentiate(Derivative& d, const Tensors& grads, Tensors saved) const {
    FunctionContext context;
    context.saved_ = std::move(saved);
    for (std::size_t i = 0; i < input_shapes_.size(); ++i) context.needed_.push_back(d.needs(i));
    const Tensors gradients = function_.backward(context, grads);
    if (gradients.size() != input_shapes_.size()) {
      fail<AutogradError>(name(), "backward must return a gradient for each of the ",
                          input_shapes_.size(), " inputs, but returned ", gradients.size());
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!d.needs(i) || !gradients[i].defined()) continue;
      if (!broadcasts_to(input_shapes_[i], gradients[i].shape())) {
        fail<ShapeError>(name(), "the gradient of input ", i, " has shape ", gradients[i].shape(),
                         ", which cannot be summed to the input's shape ", input_shapes_[i]);
      }
      d.set(i, gradients[i]);
    }
  }

 private:
  CustomFunction function_;
  std::vector<Shape> input_shapes_;
  std::vector<Saved> saved_;
  std::vector<bool> differentiable_;
  Tensors dirty_;  // the dirty inputs among the outputs
};

namespace {

using Tensors = std::vector<Tensor>;

Tensor record_single(const std::shared_ptr<CustomCall>& call, const Tensors& inputs,
                     const Tensor& output) {
  std::vector<TensorRef> saved;
  for (const CustomCall::Saved& each : call->saved()) {
    saved.push_back(each.output == 0 ? kOutput : TensorRef(each.tensor));
  }
  const std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  return record(
      call->name(), Array(output.array()), refs, saved,
      [call](Derivative& d) {
        Tensors kept;
        for (std::size_t i = 0; i < call->saved().size(); ++i) kept.push_back(d.saved(i));
        call->differentiate(d, {d.grad()}, std::move(kept));
      },
      call->name());
}

// A node has only one result. For a function with several outputs, the node's result is a vector,
// `whole`, and the outputs are pieces of this vector. Users never see `whole`, so its elements need
// no memory: it is a single zero, expanded to the number of all elements.
class Pieces {
 public:
  Pieces(const Tensors& outputs, const std::vector<bool>& differentiable) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tensor& output = outputs[i];
      const std::int64_t length = differentiable[i] ? output.numel() : 0;
      pieces_.push_back({output.shape(), output.dtype(), total_, length, differentiable[i]});
      total_ += length;
      if (output.dtype() == float64) dtype_ = float64;
    }
  }

  std::size_t size() const { return pieces_.size(); }
  Array whole() const { return Array::zeros({1}, dtype_).expand({total_}); }

  // Returns the elements that `whole` represents.
  Tensor join(const Tensors& outputs) const {
    Tensors flat;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (pieces_[i].differentiable) flat.push_back(reshape(outputs[i].detach(), {-1}));
    }
    return cat(flat);
  }

  // Returns the cotangent of output i, from the cotangent of the whole.
  Tensor take(std::size_t i, const Tensor& whole) const {
    const Piece& piece = pieces_[i];
    if (!piece.differentiable) return zeros(piece.shape, piece.dtype);
    return view(narrow(whole, 0, piece.start, piece.length), piece.shape).to(piece.dtype);
  }

  // Returns output i with `whole` as its history.
  Tensor attach(const char* name, std::size_t i, const Tensor& output, const Tensor& whole) const {
    const Piece& piece = pieces_[i];
    if (!piece.differentiable) return output;
    return record(
        name, output.array(), {whole}, {},
        [piece, total = total_](Derivative& d) {
          const auto gap = [&](std::int64_t n) { return zeros({n}, d.grad().dtype()); };
          d.set(0, cat({gap(piece.start), reshape(d.grad(), {piece.length}),
                        gap(total - piece.start - piece.length)}));
        },
        name);
  }

 private:
  struct Piece {
    Shape shape;
    DType dtype;
    std::int64_t start, length;
    bool differentiable;
  };
  std::vector<Piece> pieces_;
  std::int64_t total_ = 0;
  DType dtype_ = float32;
};

Tensors record_several(const std::shared_ptr<CustomCall>& call, const Tensors& inputs,
                       const Tensors& outputs) {
  const Pieces pieces(outputs, call->differentiable());
  // Outputs are saved as constants. The derivative attaches their history.
  std::vector<TensorRef> saved{kOutput};
  for (const CustomCall::Saved& each : call->saved()) saved.emplace_back(each.tensor);
  const std::vector<TensorRef> refs(inputs.begin(), inputs.end());
  const Tensor whole = record(
      call->name(), pieces.whole(), refs, saved,
      [call, pieces](Derivative& d) {
        Tensors grads, kept;
        for (std::size_t i = 0; i < pieces.size(); ++i) grads.push_back(pieces.take(i, d.grad()));
        for (const CustomCall::Saved& each : call->saved()) {
          const Tensor tensor = d.saved(1 + kept.size());
          const bool is_output = each.output >= 0;
          kept.push_back(is_output
                             ? pieces.attach(call->name(), static_cast<std::size_t>(each.output),
                                             tensor, d.saved(0))
                             : tensor);
        }
        call->differentiate(d, grads, std::move(kept));
      },
      call->name());
  // `whole` has no real values, so the outputs are searched for NaN.
  if (DetectAnomaly::is_on() && whole.impl()->grad_fn) {
    note_anomaly(*whole.impl()->grad_fn, pieces.join(outputs), refs);
  }
  Tensors results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(pieces.attach(call->name(), i, outputs[i], whole));
  }
  return results;
}

Tensors call_function(const CustomFunction& function, const Tensors& inputs) {
  const auto call = std::make_shared<CustomCall>(function, inputs);
  Tensors sources;
  Tensors outputs = call->forward(inputs, sources);
  const std::vector<bool>& differentiable = call->differentiable();
  if (std::find(differentiable.begin(), differentiable.end(), true) == differentiable.end())
    return outputs;
  Tensors results = outputs.size() == 1 ? Tensors{record_single(call, sources, outputs[0])}
                                        : record_several(call, sources, outputs);
  call->forget_saved();
  call->take_history(outputs, results);
  return results;
}

}  // namespace

Tensors CustomFunction::operator()(const Tensors& inputs) const {
  if (!forward || !backward) fail<AutogradError>(name, "forward or backward is empty");
  return call_function(*this, inputs);
}

}  // namespace tend::autograd
