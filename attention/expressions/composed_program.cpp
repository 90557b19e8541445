#include <tend/attention/expressions/composed_program.h>

#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>

namespace tend::attention {
namespace {

using kernels::TileNode;
using kernels::TileOp;
using kernels::TileType;

/// Wraps indices around at the limits of int32.
Tensor wrapped(const Tensor& indices) {
  if (indices.numel() == 0) return indices;
  const bool fits = amin(indices).item<std::int64_t>() >= kernels::kLeastIndex &&
                    amax(indices).item<std::int64_t>() <= kernels::kGreatestIndex;
  if (fits) return indices;
  return remainder(indices - kernels::kLeastIndex,
                   kernels::kGreatestIndex - kernels::kLeastIndex + 1) +
         kernels::kLeastIndex;
}

/// Evaluates one node after the other, each as a tensor.
class Evaluation {
 public:
  Evaluation(const TracedFunction& function, const PlaceTensors& places, const Tensor& score,
             DType dtype, const Tensor& visible)
      : function_(function), places_(places), score_(score), dtype_(dtype), visible_(visible) {}

  ComposedResult run() {
    for (const TileNode& node : function_.nodes) values_.push_back(value(node));
    ComposedResult made{{}, faults_, fault_text_};
    for (const int result : function_.results) {
      made.results.push_back(shielded(values_[static_cast<std::size_t>(result)], visible_));
    }
    return made;
  }

 private:
  const Tensor& in(const TileNode& node, std::size_t i) const {
    return values_[static_cast<std::size_t>(node.inputs[i])];
  }

  /// describe() returns the text of the error. It is called only if `faults` has one element.
  template <class Describe>
  void note_faults(const Tensor& faults, Describe describe) {
    if (!any(faults).item<bool>()) return;
    faults_ = faults_.defined() ? logical_or(faults_, faults) : faults;
    if (faults.numel() == 1 && fault_text_.empty()) fault_text_ = describe();
  }

  Tensor constant(const TileNode& node) const {
    switch (node.type) {
      case TileType::real: return full({}, node.number, {.dtype = dtype_});
      case TileType::index:
        return full({}, static_cast<std::int64_t>(node.number), {.dtype = int64});
      case TileType::truth: break;
    }
    return full({}, node.number != 0, {.dtype = boolean});
  }

  Tensor look_up(const TileNode& node) {
    Tensor table = function_.tables[static_cast<std::size_t>(node.table)];
    const bool is_real = is_floating(table.dtype());
    if (node.inputs.empty()) return shielded(is_real ? table.to(dtype_) : table, visible_);
    // The gradient of the table is summed in float64, as on the fused path.
    const bool sums = is_real && grad_enabled() && table.requires_grad();
    if (is_real) table = table.to(sums ? float64 : dtype_);
    Tensor outside, offsets;  // offsets index the flattened table
    for (std::size_t d = 0; d < node.inputs.size(); ++d) {
      const Tensor& index = in(node, d);
      const std::int64_t size = table.size(static_cast<std::int64_t>(d));
      const Tensor misses = logical_or(index < 0, index >= size);
      outside = d == 0 ? misses : logical_or(outside, misses);
      offsets = d == 0 ? index : offsets * size + index;
    }
    const Tensor zero = zeros({}, {.dtype = table.dtype()});
    note_faults(outside, [&] { return miss_text(node, table); });
    if (table.numel() == 0) return zero.expand(outside.shape());
    const Tensor elements = table.reshape({-1});
    const Tensor read = tend::index(elements, {masked_fill(offsets, outside, 0)});
    const Tensor found = tend::where(outside, zero, read);
    return shielded(is_real ? found.to(dtype_) : found, visible_);
  }

  std::string miss_text(const TileNode& node, const Tensor& table) const {
    Shape indices;
    for (std::size_t d = 0; d < node.inputs.size(); ++d) {
      indices.push_back(in(node, d).item<std::int64_t>());
    }
    return as_text("a look-up at ", indices, " is outside of its table of shape ", table.shape(),
                   ",");
  }

  Tensor divide(const TileNode& node) {
    const Shape shape = broadcast_shapes("division", in(node, 0).shape(), in(node, 1).shape());
    const Tensor is_zero = (in(node, 1) == 0).expand(shape);
    note_faults(is_zero, [&] {
      return as_text("the index ", in(node, 0).item<std::int64_t>(), " is divided by 0,");
    });
    const Tensor divisor = masked_fill(in(node, 1).expand(shape), is_zero, 1);
    const Tensor result = node.op == TileOp::floor_div ? wrapped(floor_divide(in(node, 0), divisor))
                                                       : tend::remainder(in(node, 0), divisor);
    return masked_fill(result, is_zero, 0);
  }

  Tensor arithmetic(const TileNode& node) const {
    switch (node.op) {
      case TileOp::add: return in(node, 0) + in(node, 1);
      case TileOp::sub: return in(node, 0) - in(node, 1);
      case TileOp::mul: return in(node, 0) * in(node, 1);
      case TileOp::div: return in(node, 0) / in(node, 1);
      case TileOp::min: return minimum(in(node, 0), in(node, 1));
      case TileOp::max: return maximum(in(node, 0), in(node, 1));
      case TileOp::neg: return -in(node, 0);
      case TileOp::abs: return tend::abs(in(node, 0));
      case TileOp::exp: return tend::exp(in(node, 0));
      case TileOp::log: return tend::log(in(node, 0));
      case TileOp::tanh: return tend::tanh(in(node, 0));
      default: fail(kExpression, "an operation without a meaning");
    }
  }

  Tensor value(const TileNode& node) {
    switch (node.op) {
      case TileOp::constant: return constant(node);
      case TileOp::batch: return places_.batch;
      case TileOp::head: return places_.head;
      case TileOp::query: return places_.query;
      case TileOp::key: return places_.key;
      case TileOp::score: return score_;
      case TileOp::lookup: return look_up(node);
      case TileOp::floor_div:
      case TileOp::remainder: return divide(node);
      case TileOp::to_real: return in(node, 0).to(dtype_);
      case TileOp::eq: return in(node, 0) == in(node, 1);
      case TileOp::ne: return in(node, 0) != in(node, 1);
      case TileOp::lt: return in(node, 0) < in(node, 1);
      case TileOp::le: return in(node, 0) <= in(node, 1);
      case TileOp::logical_and: return logical_and(in(node, 0), in(node, 1));
      case TileOp::logical_or: return logical_or(in(node, 0), in(node, 1));
      case TileOp::logical_not: return logical_not(in(node, 0));
      case TileOp::where: return tend::where(in(node, 0), in(node, 1), in(node, 2));
      default: break;
    }
    return node.type == TileType::index ? wrapped(arithmetic(node)) : arithmetic(node);
  }

  const TracedFunction& function_;
  const PlaceTensors& places_;
  const Tensor& score_;
  DType dtype_;
  const Tensor& visible_;
  std::vector<Tensor> values_;
  Tensor faults_;
  std::string fault_text_;
};

}  // namespace

PlaceTensors place_tensors(const Shape& scores) {
  const std::int64_t rank = scores.rank();
  const auto count = [](std::int64_t n) { return arange(0, n, 1, {.dtype = int64}); };
  Shape leading = scores;
  leading[rank - 2] = leading[rank - 1] = 1;
  const Tensor all = count(element_count(leading)).view(leading);
  const std::int64_t heads = std::max<std::int64_t>(1, rank > 2 ? scores[rank - 3] : 1);
  return {floor_divide(all, heads), tend::remainder(all, heads),
          count(scores[rank - 2]).view({-1, 1}), count(scores[rank - 1])};
}

Tensor shielded(const Tensor& x, const Tensor& visible) {
  if (!visible.defined() || !grad_enabled() || !x.requires_grad()) return x;
  return tend::where(visible, x, x.detach());
}

ComposedResult evaluate(const TracedFunction& function, const PlaceTensors& places,
                        const Tensor& score, DType dtype, const Tensor& visible) {
  return Evaluation(function, places, shielded(score, visible), dtype, visible).run();
}

}  // namespace tend::attention
