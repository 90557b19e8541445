// The benchmark's rows in ONNX Runtime. Each row is a model with one node, whose inputs and output
// are allocated in advance.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>
#include <onnxruntime_cxx_api.h>

#include "../inputs.h"
#include "../worker.h"

namespace compare {
namespace {

using Shape = std::vector<std::int64_t>;

void set_type(onnx::ValueInfoProto& info, const std::string& name, const Shape& shape) {
  info.set_name(name);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  for (std::int64_t size : shape) type.mutable_shape()->add_dim()->set_dim_value(size);
}

/// A model whose graph has one node, with the inputs x0, x1, ... and the output y.
class Model {
 public:
  explicit Model(const std::string& operation) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(20);  // the first version with Gelu
    model_.mutable_graph()->set_name("row");
    node_ = model_.mutable_graph()->add_node();
    node_->set_op_type(operation);
    node_->add_output("y");
  }

  void add_input(const Shape& shape) {
    const std::string name = "x" + std::to_string(inputs.size());
    set_type(*model_.mutable_graph()->add_input(), name, shape);
    node_->add_input(name);
    inputs.push_back(shape);
  }

  /// Adds the input `axes` as a constant of the model.
  void add_axes(const Shape& axes) {
    onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
    tensor.set_name("axes");
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(axes.size()));
    for (std::int64_t axis : axes) tensor.add_int64_data(axis);
    node_->add_input("axes");
  }

  void set(const std::string& name, std::int64_t value) {
    onnx::AttributeProto& attribute = *node_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }

  void set_output(const Shape& shape) {
    set_type(*model_.mutable_graph()->add_output(), "y", shape);
    output = shape;
  }

  std::string bytes() const { return model_.SerializeAsString(); }

  std::vector<Shape> inputs;
  Shape output;

 private:
  onnx::ModelProto model_;
  onnx::NodeProto* node_;
};

Model two_inputs(const std::string& operation, const Shape& a, const Shape& b, const Shape& out) {
  Model model(operation);
  model.add_input(a);
  model.add_input(b);
  model.set_output(out);
  return model;
}

/// ONNX's MatMul has no strides, so all its matrices are dense, and the elements of K^T are stored
/// transposed. The products of a gemm row with a transposed input use Gemm, which
/// transposes it.
std::unique_ptr<Model> product_model(const Work& w) {
  if (w.operation == "gemm") {
    const std::int64_t m = w[2], n = w[3], k = w[4];
    if (w[0] == 0 && w[1] == 0) {
      return std::make_unique<Model>(two_inputs("MatMul", {m, k}, {k, n}, {m, n}));
    }
    Model model = two_inputs("Gemm", w[0] != 0 ? Shape{k, m} : Shape{m, k},
                             w[1] != 0 ? Shape{n, k} : Shape{k, n}, {m, n});
    model.set("transA", w[0]);
    model.set("transB", w[1]);
    return std::make_unique<Model>(std::move(model));
  }
  const std::int64_t b = w[0], h = w[1], t = w[2], d = w[3];
  return std::make_unique<Model>(
      w.operation == "scores" ? two_inputs("MatMul", {b, h, t, d}, {b, h, d, t}, {b, h, t, t})
                              : two_inputs("MatMul", {b, h, t, t}, {b, h, t, d}, {b, h, t, d}));
}

std::unique_ptr<Model> matrix_model(const Work& w) {
  const std::string& op = w.operation;
  const std::vector<std::pair<std::string, std::string>> names{{"exp", "Exp"},
                                                               {"gelu", "Gelu"},
                                                               {"softmax", "Softmax"},
                                                               {"add", "Add"},
                                                               {"sum", "ReduceSum"},
                                                               {"layer_norm", "LayerNormalization"},
                                                               {"transpose", "Transpose"}};
  for (const auto& [name, onnx_name] : names) {
    if (name != op) continue;
    auto model = std::make_unique<Model>(onnx_name);
    const Shape x{w[0], w[1]};
    model->add_input(x);
    if (op == "add") model->add_input(x);
    if (op == "sum") model->add_axes({1});
    if (op == "softmax") model->set("axis", w[2]);
    if (op == "layer_norm") {
      model->add_input({w[1]});
      model->add_input({w[1]});
    }
    model->set_output(op == "sum" ? Shape{w[0], 1} : op == "transpose" ? Shape{w[1], w[0]} : x);
    return model;
  }
  return nullptr;
}

/// A session with memory for its inputs and its output.
class Bound {
 public:
  Bound(Ort::Env& environment, const Model& model, const Setup& setup, const Work& w)
      : session_(make_session(environment, model, setup)), binding_(session_) {
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    const auto bind = [&](std::vector<float> numbers, const Shape& shape) {
      memory_.push_back(std::move(numbers));
      return Ort::Value::CreateTensor<float>(memory, memory_.back().data(), memory_.back().size(),
                                             shape.data(), shape.size());
    };
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      binding_.BindInput(name.c_str(), bind(input_numbers(w, i, setup.seed + i, model.inputs[i]),
                                            model.inputs[i]));
    }
    binding_.BindOutput("y", bind(std::vector<float>(count(model.output)), model.output));
  }

  void run() { session_.Run(Ort::RunOptions{nullptr}, binding_); }
  std::span<const float> output() const { return memory_.back(); }

 private:
  static Ort::Session make_session(Ort::Env& environment, const Model& model, const Setup& setup) {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(setup.threads);
    options.SetGraphOptimizationLevel(ORT_ENABLE_ALL);
    const std::string bytes = model.bytes();
    return {environment, bytes.data(), bytes.size(), options};
  }

  static std::size_t count(const Shape& shape) {
    std::size_t all = 1;
    for (std::int64_t size : shape) all *= static_cast<std::size_t>(size);
    return all;
  }

  /// The same numbers as in the other workers, whose heads are views of (B, T, H, D). Here the
  /// heads are dense.
  static std::vector<float> input_numbers(const Work& w, std::size_t input, std::uint64_t seed,
                                          const Shape& shape) {
    std::vector<float> numbers = random_values(seed, static_cast<std::int64_t>(count(shape)));
    const bool is_key = w.operation == "scores" && input == 1;
    if (w.operation != "scores" && !(w.operation == "context" && input == 1)) return numbers;
    const auto size = [&w](std::size_t i) { return static_cast<std::size_t>(w[i]); };
    const std::size_t heads = size(1), length = size(2), width = size(3);
    std::vector<float> moved(numbers.size());
    for (std::size_t b = 0; b < size(0); ++b) {
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t t = 0; t < length; ++t) {
          for (std::size_t d = 0; d < width; ++d) {
            const std::size_t head = (b * heads + h) * length * width;
            const std::size_t position = is_key ? d * length + t : t * width + d;
            moved[head + position] = numbers[((b * length + t) * heads + h) * width + d];
          }
        }
      }
    }
    return moved;
  }

  Ort::Session session_;
  Ort::IoBinding binding_;
  std::vector<std::vector<float>> memory_;
};

std::string about(const Setup& setup) {
  return "ONNX Runtime " + Ort::GetVersionString() + ", " + std::to_string(setup.threads) +
         " threads";
}

Task prepare(const Work& w, const Setup& setup) {
  static Ort::Env environment(ORT_LOGGING_LEVEL_ERROR, "compare");
  const std::string& op = w.operation;
  const bool is_product = op == "gemm" || op == "scores" || op == "context";
  const std::unique_ptr<Model> model = is_product ? product_model(w) : matrix_model(w);
  if (!model) return {};
  return make_task(std::make_shared<Bound>(environment, *model, setup, w));
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  // Debian's library registers every operator twice and prints a warning for each. These are not
  // shown. Errors are exceptions, so they are not lost.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) return 1;
  return compare::serve(argc, argv, {compare::about, compare::prepare});
}
