#include <tend/nn/optim/averaged_model.h>

#include <tend/autograd/graph/inplace.h>
#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/base/error.h>
#include <tend/core/kernels/elementwise/arithmetic.h>
#include <tend/nn/optim/state_reader.h>

namespace tend::optim {
namespace {

constexpr const char* kUpdate = "AveragedModel::update_parameters";
constexpr const char* kSwap = "AveragedWeightsGuard";
constexpr const char* kNumber = "n_averaged";

// set_data() or to() may have changed a parameter since its average was made.
void check_same(const char* operation, const std::string& key, const Tensor& parameter,
                const Array& average) {
  if (parameter.shape() != average.shape()) {
    fail<ShapeError>(operation, key, " must have the shape of its average, ", average.shape(),
                     ", but has ", parameter.shape());
  }
  if (parameter.dtype() != average.dtype()) {
    fail<DTypeError>(operation, key, " must have the dtype of its average, ", average.dtype(),
                     ", but has ", parameter.dtype());
  }
}

void write_to(const Tensor& parameter, const Array& values) {
  parameter.array().copy_from(values);
  parameter.array().storage()->bump_version(kSwap);
}

}  // namespace

AveragedModel::AveragedModel(const nn::ModuleBase& model, const AveragedModelOptions& options)
    : decay_(options.decay) {
  constexpr const char* kName = "AveragedModel";
  if (decay_ && !(*decay_ >= 0 && *decay_ <= 1))
    fail(kName, "decay ", *decay_, " must lie in [0, 1]");
  for (const auto& [name, parameter] : model.named_parameters()) {
    if (!is_floating(parameter.dtype()))
      fail<DTypeError>(kName, "parameters must be floating, but ", name, " is ", parameter.dtype());
    weights_.push_back({"module." + name, parameter, parameter.array().clone()});
  }
  if (weights_.empty()) fail(kName, "the model has no parameters");
}

void AveragedModel::update_parameters() {
  for (const Weight& each : weights_) check_same(kUpdate, each.key, each.parameter, each.average);
  const double number = static_cast<double>(n_averaged_ + 1);
  const Array share = Array::scalar(decay_ ? 1 - *decay_ : 1 / number, float64);
  for (const auto& [key, parameter, average] : weights_) {
    if (n_averaged_ == 0) {
      average.copy_from(parameter.array());  // lerp would compute 0 * average: NaN for infinity
    } else {
      kernels::lerp(average, average, parameter.array().contiguous(), share);
    }
    average.storage()->bump_version(kUpdate);
  }
  ++n_averaged_;
}

nn::StateDict AveragedModel::state_dict() const {
  nn::StateDict state{{kNumber, tensor(n_averaged_)}};
  for (const Weight& each : weights_) state.emplace_back(each.key, Tensor(each.average));
  return state;
}

void AveragedModel::load_state_dict(const nn::StateDict& state) {
  for (const bool applies : {false, true}) {  // checks, then changes
    detail::StateReader reader("AveragedModel::load_state_dict", state);
    const std::int64_t number = reader.take_count(kNumber);
    for (Weight& each : weights_) {
      const Array read = reader.take(each.key, each.average.shape(), each.average.dtype());
      if (applies) each.average = read.clone();
    }
    reader.check_all_taken();
    if (applies) n_averaged_ = number;
  }
}

AveragedWeightsGuard::AveragedWeightsGuard(AveragedModel& averaged) : averaged_(&averaged) {
  const NoGradGuard no_grad;
  for (const auto& [key, parameter, average] : averaged.weights_) {
    check_same(kSwap, key, parameter, average);
    check_writable(kSwap, parameter);
    own_.push_back(parameter.array().clone());
  }
  for (const auto& [key, parameter, average] : averaged.weights_) write_to(parameter, average);
}

AveragedWeightsGuard::~AveragedWeightsGuard() {
  for (std::size_t i = 0; i < own_.size(); ++i) write_to(averaged_->weights_[i].parameter, own_[i]);
}

}  // namespace tend::optim
