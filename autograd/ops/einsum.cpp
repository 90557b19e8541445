#include <tend/autograd/ops/einsum.h>

#include <algorithm>
#include <string>

#include <tend/autograd/ops/helpers.h>

namespace tend {
namespace {

constexpr char kEllipsis = '.';  // stands for "..." among the names

template <class Kind = Error, class... Parts>
[[noreturn]] void refuse(std::string_view equation, const Parts&... parts) {
  fail<Kind>("einsum", '"', equation, "\": ", parts...);
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The names in equation[begin, end): letters, and kEllipsis for an ellipsis.
std::string read_names(std::string_view equation, std::size_t begin, std::size_t end) {
  std::string names;
  for (std::size_t at = begin; at < end; ++at) {
    const char c = equation[at];
    if (c == ' ') continue;
    if (is_name(c)) {
      names += c;
    } else if (equation.substr(at, end - at).starts_with("...")) {
      if (names.find(kEllipsis) != std::string::npos) {
        refuse(equation, "a second ellipsis at position ", at);
      }
      names += kEllipsis;
      at += 2;
    } else {
      refuse(equation, "'", c, "' at position ", at,
             R"( is neither a letter nor part of "...", "," or the first "->")");
    }
  }
  return names;
}

// A parsed equation: the names of every operand, and all names, beginning with the result's names.
struct Equation {
  std::string_view text;
  std::vector<std::string> operands;
  std::string names;
  std::size_t kept = 0;  // the number of names in the result
};

// The names of the result if the equation has no "->": the ellipsis, and the names that occur once,
// in alphabetical order.
std::string implicit_result(const std::vector<std::string>& operands) {
  std::string all;
  for (const std::string& names : operands) all += names;
  std::string result(1, kEllipsis);
  for (char c = 'A'; c <= 'z'; ++c) {
    if (is_name(c) && std::count(all.begin(), all.end(), c) == 1) result += c;
  }
  return result;
}

void check_result(const Equation& equation) {
  for (const char c : equation.names) {
    if (c == kEllipsis) continue;
    if (std::count(equation.names.begin(), equation.names.end(), c) > 1) {
      refuse(equation.text, "subscript ", c, " is twice in the result");
    }
    const auto has = [c](const std::string& names) { return names.find(c) != std::string::npos; };
    if (std::none_of(equation.operands.begin(), equation.operands.end(), has)) {
      refuse(equation.text, "subscript ", c, " of the result is in no operand");
    }
  }
}

Equation read_equation(std::string_view text) {
  Equation equation{text, {}, {}, 0};
  const std::size_t arrow = text.find("->");
  const std::size_t left = std::min(arrow, text.size());
  for (std::size_t begin = 0; begin <= left;) {
    const std::size_t end = std::min(text.find(',', begin), left);
    equation.operands.push_back(read_names(text, begin, end));
    begin = end + 1;
  }
  equation.names = arrow == std::string_view::npos ? implicit_result(equation.operands)
                                                   : read_names(text, arrow + 2, text.size());
  check_result(equation);
  equation.kept = equation.names.size();
  std::string all(1, kEllipsis);
  for (const std::string& names : equation.operands) all += names;
  for (const char c : all) {
    if (equation.names.find(c) == std::string::npos) equation.names += c;
  }
  return equation;
}

// The dimensions to which all operands are aligned: one for each name, and several for an ellipsis.
// The result's dimensions come first.
class Axes {
 public:
  Axes(const Equation& equation, const std::vector<Tensor>& operands) : equation_(equation) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      width_ = std::max(width_, ellipsis_width(i, operands[i]));
    }
    const std::size_t ellipsis = equation.names.find(kEllipsis);
    kept_ = static_cast<std::int64_t>(equation.kept) + (ellipsis < equation.kept ? width_ - 1 : 0);
    const std::size_t rank = equation.names.size() - 1 + static_cast<std::size_t>(width_);
    sizes_ = Shape::filled(rank, 1);
    first_ = Shape::filled(rank, 0);
  }

  std::int64_t rank() const noexcept { return sizes_.rank(); }
  /// The number of axes of the result.
  std::int64_t kept() const noexcept { return kept_; }
  std::int64_t size(std::int64_t axis) const noexcept { return sizes_[axis]; }

  /// The operand with its dimensions moved to their axes, and size 1 for the axes that it lacks.
  Tensor align(Tensor x, std::size_t operand) {
    const Shape axes = take_diagonals(x, operand);
    Shape order = Shape::filled(axes.size(), 0), shape = Shape::filled(sizes_.size(), 1);
    for (std::int64_t d = 0; d < axes.rank(); ++d) {
      meet(axes[d], x.size(d), operand);
      shape[axes[d]] = x.size(d);
      order[d] = d;
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return axes[a] < axes[b]; });
    x = permute(x, order);
    return x.shape() == shape ? x : view(x, shape);
  }

 private:
  // The number of dimensions for which an operand's ellipsis stands.
  std::int64_t ellipsis_width(std::size_t operand, const Tensor& x) const {
    const std::string& names = equation_.operands[operand];
    const bool has_ellipsis = names.find(kEllipsis) != std::string::npos;
    const std::int64_t rest = x.dim() - static_cast<std::int64_t>(names.size()) + has_ellipsis;
    if (rest < 0 || (rest > 0 && !has_ellipsis)) {
      refuse<ShapeError>(equation_.text, names.size() - has_ellipsis, " subscripts",
                         has_ellipsis ? " and an ellipsis" : "", " do not fit operand ", operand,
                         " of shape ", x.shape());
    }
    return rest;
  }

  // The axis of a name; for an ellipsis, the one after its last axis.
  std::int64_t axis_of(char name) const {
    const auto at = static_cast<std::int64_t>(equation_.names.find(name));
    const bool behind = equation_.names.find(kEllipsis) <= static_cast<std::size_t>(at);
    return name == kEllipsis ? at + width_ : behind ? at + width_ - 1 : at;
  }

  // Replaces dimensions of the same name by their diagonal, and returns the axis of each dimension
  // of x.
  Shape take_diagonals(Tensor& x, std::size_t operand) const {
    const std::int64_t width = ellipsis_width(operand, x);
    Shape axes;
    for (const char name : equation_.operands[operand]) {
      const std::int64_t axis = axis_of(name);
      if (name == kEllipsis) {
        for (std::int64_t i = width; i > 0; --i) axes.push_back(axis - i);
        continue;
      }
      const auto d = std::find(axes.begin(), axes.end(), axis) - axes.begin();
      if (d == axes.rank()) {
        axes.push_back(axis);
        continue;
      }
      const std::int64_t again = axes.rank();
      if (x.size(d) != x.size(again)) {
        refuse<ShapeError>(equation_.text, "subscript ", name, " is ", x.size(d), " and ",
                           x.size(again), " in operand ", operand);
      }
      x = movedim(diagonal(x, 0, d, again), -1, d);
    }
    return axes;
  }

  void meet(std::int64_t axis, std::int64_t size, std::size_t operand) {
    if (size == 1 || size == sizes_[axis]) return;
    if (sizes_[axis] != 1) {
      refuse<ShapeError>(equation_.text, describe(axis), " is ", sizes_[axis], " in operand ",
                         first_[axis], " and ", size, " in operand ", operand);
    }
    sizes_[axis] = size;
    first_[axis] = static_cast<std::int64_t>(operand);
  }

  std::string describe(std::int64_t axis) const {
    for (const char name : equation_.names) {
      if (name != kEllipsis && axis_of(name) == axis) return as_text("subscript ", name);
    }
    return as_text("dimension ", axis - axis_of(kEllipsis), " of the ellipsis");
  }

  const Equation& equation_;
  std::int64_t width_ = 0;  // the number of dimensions of the widest ellipsis
  std::int64_t kept_ = 0;
  Shape sizes_;
  Shape first_;  // for each axis, the operand from which its size comes
};

Shape joined(std::initializer_list<Shape> parts) {
  Shape all;
  for (const Shape& part : parts) {
    for (const std::int64_t each : part) all.push_back(each);
  }
  return all;
}

Shape sizes_of(const Tensor& x, const Shape& dims) {
  Shape sizes;
  for (const std::int64_t d : dims) sizes.push_back(x.size(d));
  return sizes;
}

// Returns x as a batch of matrices. The dimensions `rows` are merged into one, and so are the
// dimensions `columns`. The dimensions in `rest` have size 1 and are dropped.
Tensor as_matrices(const Tensor& x, const Shape& batch, const Shape& rows, const Shape& columns,
                   const Shape& rest) {
  const Shape matrix{element_count(sizes_of(x, rows)), element_count(sizes_of(x, columns))};
  return reshape(permute(x, joined({batch, rows, columns, rest})),
                 joined({sizes_of(x, batch), matrix}));
}

// The product of aligned operands, summed over the axes `summed`. Both operands have these axes,
// and the result has size 1 there.
Tensor contract(const Tensor& a, const Tensor& b, const Shape& summed) {
  Shape batch, left, right, neither;
  for (std::int64_t d = 0; d < a.dim(); ++d) {
    if (std::find(summed.begin(), summed.end(), d) != summed.end()) continue;
    const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1;
    (in_a && in_b ? batch : in_a ? left : in_b ? right : neither).push_back(d);
  }
  const Tensor product = matmul(as_matrices(a, batch, left, summed, joined({right, neither})),
                                as_matrices(b, batch, summed, right, joined({left, neither})));
  const Shape order = joined({batch, left, right, summed, neither});
  Shape sizes = joined({sizes_of(a, batch), sizes_of(a, left), sizes_of(b, right)});
  while (sizes.rank() < a.dim()) sizes.push_back(1);
  return permute(reshape(product, sizes), inverse_permutation(order));
}

// The product of aligned operands, summed over the axes `finished`. Neither the result nor a later
// operand has these axes.
Tensor combine(Tensor a, Tensor b, const Shape& finished) {
  Shape in_a, in_b, in_both;
  for (const std::int64_t d : finished) {
    const bool a_has = a.size(d) != 1, b_has = b.size(d) != 1;
    if (a_has || b_has) (a_has && b_has ? in_both : a_has ? in_a : in_b).push_back(d);
  }
  if (!in_a.empty()) a = sum(a, in_a, true);
  if (!in_b.empty()) b = sum(b, in_b, true);
  if (in_both.empty()) return a * b;
  check_one_dtype("einsum", a, b);
  if (a.dtype() == boolean) fail<DTypeError>("einsum", "does not sum products of bool");
  return contract(a, b, in_both);
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands) {
  const Equation read = read_equation(equation);
  if (read.operands.size() != operands.size()) {
    refuse(equation, "is for ", read.operands.size(), " operands, got ", operands.size());
  }
  Axes axes(read, operands);
  std::vector<Tensor> aligned;
  Shape last = Shape::filled(static_cast<std::size_t>(axes.rank()),
                             0);  // for each axis, the last operand that has it
  for (std::size_t i = 0; i < operands.size(); ++i) {
    aligned.push_back(axes.align(operands[i], i));
    for (std::int64_t d = 0; d < axes.rank(); ++d) {
      if (aligned[i].size(d) != 1) last[d] = static_cast<std::int64_t>(i);
    }
  }
  Tensor result = aligned[0];
  for (std::size_t i = 1; i < aligned.size(); ++i) {
    Shape finished;
    for (std::int64_t d = axes.kept(); d < axes.rank(); ++d) {
      if (last[d] <= static_cast<std::int64_t>(i)) finished.push_back(d);
    }
    result = combine(result, aligned[i], finished);
  }
  if (axes.kept() == axes.rank()) return result;
  Shape summed, shape;
  for (std::int64_t d = 0; d < axes.rank(); ++d) {
    if (d < axes.kept()) {
      shape.push_back(axes.size(d));
    } else {
      summed.push_back(d);
    }
  }
  return operands.size() == 1 ? sum(result, summed) : reshape(result, shape);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims) {
  if (dims < 0 || dims > std::min(a.dim(), b.dim())) {
    fail<ShapeError>("tensordot", "cannot sum over ", dims, " dimensions of ", a.shape(), " and ",
                     b.shape());
  }
  Shape last, first;
  for (std::int64_t d = 0; d < dims; ++d) {
    last.push_back(a.dim() - dims + d);
    first.push_back(d);
  }
  return tensordot(a, b, last, first);
}

namespace {

// Counts `dims` from the front.
//
// Throws:
//   IndexError - a dimension is out of range
//   ShapeError - a dimension appears twice
Shape contracted_dims(const Tensor& x, const Shape& dims) {
  if (dims.empty()) return {};
  Shape wrapped;
  for (const std::int64_t d : dims) wrapped.push_back(own_dim("tensordot", x, d));
  wrap_dims("tensordot", dims, x.dim());  // throws if a dimension appears twice
  return wrapped;
}

Shape other_dims(const Tensor& x, const Shape& dims) {
  Shape others;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) others.push_back(d);
  }
  return others;
}

}  // namespace

Tensor tensordot(const Tensor& a, const Tensor& b, const Shape& dims_a, const Shape& dims_b) {
  if (dims_a.size() != dims_b.size()) {
    fail<ShapeError>("tensordot", "dimensions ", dims_a, " and ", dims_b, " differ in number");
  }
  check_one_dtype("tensordot", a, b);
  const Shape columns = contracted_dims(a, dims_a), rows = contracted_dims(b, dims_b);
  Shape only_a, only_b;  // dimensions along which the other tensor has size 1
  for (std::int64_t i = 0; i < rows.rank(); ++i) {
    const std::int64_t size_a = a.size(columns[i]), size_b = b.size(rows[i]);
    if (size_a == size_b) continue;
    if (size_a != 1 && size_b != 1) {
      fail<ShapeError>("tensordot", a.shape(), " and ", b.shape(), ": dimension ", columns[i],
                       " of the first is ", size_a, ", dimension ", rows[i], " of the second is ",
                       size_b);
    }
    (size_a == 1 ? only_b : only_a).push_back(size_a == 1 ? rows[i] : columns[i]);
  }
  const Tensor x = only_a.empty() ? a : sum(a, only_a, true);
  const Tensor y = only_b.empty() ? b : sum(b, only_b, true);
  const Shape left = other_dims(a, columns), right = other_dims(b, rows);
  const Tensor product =
      mm(as_matrices(x, {}, left, columns, {}), as_matrices(y, {}, rows, right, {}));
  return reshape(product, joined({sizes_of(a, left), sizes_of(b, right)}));
}

}  // namespace tend
