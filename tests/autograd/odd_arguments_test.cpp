// Calls every row of the operation table with odd arguments: undefined, empty and very large
// tensors, other shapes and dtypes, overlapping views, the same tensor twice. Each call must return
// a result, or throw an Error and leave the arguments as they were.
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

#include "tests/autograd/support.h"
#include "tests/op_table/op_table.h"
#include "tests/snapshot.h"

using namespace tend;
using namespace tend::test;

namespace {

using Tensors = std::vector<Tensor>;

constexpr int kCallsPerRow = 8;
constexpr std::int64_t kMany = 1 << 18;  // a call is fast with this number of elements
constexpr std::int64_t kTooMany = std::int64_t{1} << 60;  // more bytes than any memory has

// The random choices of a run. TEND_SEED=N chooses another run.
class Choices {
 public:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return static_cast<double>(engine_()) < probability * 0x1p64; }
  template <class List>
  auto of(const List& list) {
    return *(std::begin(list) + between(0, std::ssize(list) - 1));
  }

 private:
  static std::uint64_t seed() {
    const char* text = std::getenv("TEND_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  }
  std::mt19937_64 engine_{seed()};
};

Tensor small(Choices& choose, const Shape& shape, DType dtype) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    numbers.push_back(is_floating(dtype) ? static_cast<double>(choose.between(-200, 200)) / 100
                                         : static_cast<double>(choose.between(0, 2)));
  return Tensor(Array::from<double>(numbers, shape).to(dtype));
}

// x with `size` copies of its first slice along `dim`. The copies need no memory.
Tensor repeated(const Tensor& x, std::int64_t dim, std::int64_t size) {
  if (x.dim() == 0) return x.expand({size});
  if (x.size(dim) == 0) return x;
  Shape shape = x.shape();
  shape[dim] = size;
  return x.narrow(dim, 0, 1).expand(shape);
}

// x with one element replaced by a number that its dtype holds but few operations expect.
Tensor with_extreme(Choices& choose, const Tensor& x) {
  const Tensor copy = x.clone();
  if (copy.numel() == 0) return copy;
  const double reals[] = {kNaN, kInf, -kInf, 1e308, 1e-8, 5e-324, -0.0};
  const std::int64_t integers[] = {std::numeric_limits<std::int64_t>::min(), -5, 5,
                                   std::int64_t{1} << 32, std::numeric_limits<std::int64_t>::max()};
  const Array place = copy.array().view({-1}).select(0, choose.between(0, copy.numel() - 1));
  if (is_floating(x.dtype())) place.fill(choose.of(reals));
  if (x.dtype() == int64) place.fill(choose.of(integers));
  return copy;
}

Tensor with_size_changed(Choices& choose, const Tensor& x, std::int64_t dim) {
  if (x.dim() == 0) return small(choose, {2}, x.dtype());
  Shape shape = x.shape();
  shape[dim] += choose.between(shape[dim] > 0 ? -1 : 1, 2);
  return small(choose, shape, x.dtype());
}

// A tensor without elements. Sometimes its first dimension is huge.
Tensor empty_one(Choices& choose, const Tensor& x, std::int64_t dim) {
  Shape shape = x.dim() > 0 ? x.shape() : Shape{3};
  if (choose.chance(0.3)) shape.insert(0, std::int64_t{1} << choose.between(31, 62));
  shape[choose.chance(0.5) ? dim : shape.rank() - 1] = 0;
  return Tensor(Array::empty(shape, x.dtype()));
}

Tensor with_more_dims(const Tensor& x, std::size_t count) {
  Shape shape = Shape::filled(count, 1);
  for (const std::int64_t size : x.shape()) shape.push_back(size);
  return x.reshape(shape);
}

// An odd replacement for the argument `usual`. `others` are the arguments before `usual`. Throws an
// Error if the shape of `usual` does not allow the replacement.
Tensor odd_in_place_of(Choices& choose, const Tensor& usual, const Tensors& others) {
  const DType dtypes[] = {boolean, int64, float32, float64};
  const Tensor x = usual.detach();
  const std::int64_t dim = x.dim() > 0 ? choose.between(0, x.dim() - 1) : 0;
  switch (choose.between(0, 15)) {
    case 0: return {};
    case 1: return small(choose, {}, x.dtype());
    case 2: return small(choose, {1}, x.dtype());
    case 3: return small(choose, x.shape(), choose.of(dtypes));
    case 4: return with_size_changed(choose, x, dim);
    case 5: return empty_one(choose, x, dim);
    case 6: return repeated(x, dim, kMany);
    case 7: return with_extreme(choose, x);
    case 8: return with_more_dims(x, choose.chance(0.5) ? 7 : 65);
    case 9: return x.transpose(0, -1);
    case 10: return stack({x, x}, -1).flatten(-2)[{ellipsis, Slice{1, std::nullopt, 2}}];  // gaps
    case 11: return repeated(x, dim, x.dim() > 0 ? x.size(dim) : 3);  // elements that overlap
    case 12: return x.unfold(dim, 2, 1);                              // windows that overlap
    case 13: return others.empty() ? x : choose.of(others);
    case 14: return others.empty() ? x : choose.of(others).flip({0});
    default: {  // a leaf that has a gradient already
      const Tensor leaf = x.clone().requires_grad_();
      Tensor(leaf).set_grad(ones_like(leaf));
      return leaf;
    }
  }
}

struct OddCall {
  Tensors inputs;
  bool in_place = false;
};

// A sample of the row in which at least one argument is replaced by an odd one.
OddCall odd_call(Choices& choose, const Op& op) {
  const DType real = choose.chance(0.5) ? float32 : float64;
  OddCall call{make_case(op, choose.of(op.samples), Layout::contiguous, real).arguments(),
               !op.in_place_forms.empty() && choose.chance(0.4)};
  const bool constant = choose.chance(0.4);
  for (Tensor& each : call.inputs) {
    if (constant) each = each.detach();
  }
  // The in-place form refuses to write to a leaf that requires grad.
  if (call.in_place && !constant) call.inputs[0] = call.inputs[0].clone();
  if (call.inputs.empty()) return call;
  const std::int64_t victim = choose.between(0, std::ssize(call.inputs) - 1);
  Tensors before;
  for (std::int64_t i = 0; i < std::ssize(call.inputs); ++i) {
    Tensor& each = call.inputs[static_cast<std::size_t>(i)];
    if (i == victim || choose.chance(0.25)) {
      try {
        const Tensor odd = odd_in_place_of(choose, each, before);
        const bool tracks = odd.defined() && is_floating(odd.dtype()) && choose.chance(0.4);
        each = tracks && odd.is_leaf() ? odd.detach().requires_grad_() : odd;
      } catch (const Error&) {  // x has no such dimension, so it is not replaced
      }
    }
    before.push_back(each);
  }
  return call;
}

std::string text_of(const Tensors& inputs) {
  std::ostringstream text;
  for (const Tensor& x : inputs) {
    if (!x.defined()) {
      text << "undefined; ";
      continue;
    }
    text << x.dtype() << ' ' << x.shape() << " strides " << x.strides()
         << (x.requires_grad() ? " requires grad" : "");
    if (x.numel() <= 6) text << ' ' << to_string(x.detach());
    text << "; ";
  }
  return text.str();
}

bool names_an_operation(const std::string& message) {
  return message.size() > 2 && message[0] == '[' && message[1] != ']';
}

// The indices of the inputs that share memory with an input that the call writes to.
std::vector<std::size_t> written(const Op& op, const OddCall& call) {
  std::vector<std::size_t> targets;
  if (call.in_place) targets = {0};
  if (op.name == "batch_norm") targets = {1, 2};  // the running statistics
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    for (const std::size_t target : targets) {
      if (target >= call.inputs.size()) continue;
      const Tensor &x = call.inputs[i], &y = call.inputs[target];
      const bool shares = x.defined() && y.defined() && x.array().storage() == y.array().storage();
      if (i == target || shares) numbers.push_back(i);
    }
  }
  return numbers;
}

// Reads every element, so that a sanitizer can check the accesses.
void read(const Tensor& x) {
  if (x.defined() && x.numel() <= kMany) static_cast<void>(values(x));
}

void check_backward(const Tensors& results, const Tensors& inputs) {
  Tensors outputs, cotangents;
  for (const Tensor& result : results) {
    if (!result.defined() || !result.requires_grad() || result.numel() > kMany) continue;
    outputs.push_back(result);
    cotangents.push_back(ones_like(result));
  }
  if (outputs.empty()) return;
  try {
    backward(outputs, cotangents);
  } catch (const Error& error) {
    CHECK(names_an_operation(error.what()));
    return;
  }
  for (const Tensor& x : inputs) {
    if (!x.defined() || !x.grad().defined()) continue;
    CHECK(x.grad().shape() == x.shape());
    CHECK(x.grad().dtype() == x.dtype());
    read(x.grad());
  }
}

// Checks one call. Returns true if the call gave a result and false if it threw an Error.
bool check_call(const Op& op, const OddCall& call) {
  const Snapshot before(call.inputs);
  Tensors results;
  try {
    results = call.in_place ? op.in_place_forms[0](call.inputs) : op.call(call.inputs);
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(names_an_operation(error.what()));
    CHECK(before.difference() == "");
    return false;
  }
  CHECK(before.difference(written(op, call)) == "");
  try {
    for (const Tensor& result : results) read(result);
  } catch (const ShapeError& error) {  // a result may have too many dimensions for a copy
    CHECK(names_an_operation(error.what()));
  }
  check_backward(results, call.inputs);
  return true;
}

}  // namespace

TEST_CASE("odd arguments give a result or an error that leaves the arguments unchanged",
          "[table]") {
  Choices choose;
  int results = 0, errors = 0;
  for (const Op& op : op_table()) {
    for (int i = 0; i < kCallsPerRow; ++i) {
      const OddCall call = odd_call(choose, op);
      INFO(op.torch << (call.in_place ? ", in place, " : ", ") << "call " << i << ": "
                    << text_of(call.inputs));
      ++(check_call(op, call) ? results : errors);
    }
  }
  CHECK(results > 1000);
  CHECK(errors > 1000);
}

// Tests only elementwise functions: other functions may read all elements before they allocate
// memory.
TEST_CASE("results that do not fit in memory are an error", "[table]") {
  int refused = 0;
  for (const Op& op : op_table()) {
    if (op.family != "math" && op.family != "activation" && op.family != "arithmetic") continue;
    Tensors inputs = make_case(op, op.samples.at(0), Layout::contiguous).inputs;
    if (inputs.size() != 1 || inputs[0].dim() == 0) continue;
    if (op.call(inputs)[0].shape() != inputs[0].shape()) continue;
    inputs[0] = repeated(inputs[0].detach(), 0, kTooMany);
    INFO(op.torch);
    try {
      const Tensor result = op.call(inputs)[0];
      // A function that changes nothing may return its argument.
      CHECK(result.array().storage() == inputs[0].array().storage());
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(names_an_operation(error.what()));
      ++refused;
    }
  }
  CHECK(refused > 50);
}
