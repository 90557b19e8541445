#include <tend/nn/distributed/context.h>

#include <numeric>
#include <span>
#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {
namespace {

/// The shape and dtype of a tensor, which must be the same on all processes.
std::string form_of(const Tensor& tensor) {
  if (!tensor.defined()) return "an undefined tensor";
  return as_text(tensor.shape(), ' ', tensor.dtype());
}

std::span<std::byte> bytes_of(const Tensor& dense) {
  const std::int64_t size = dense.numel() * item_size(dense.dtype());
  return {static_cast<std::byte*>(dense.array().raw()), static_cast<std::size_t>(size)};
}

}  // namespace

Context::Context(int& argc, char**& argv)
    : communicator_(std::make_unique<Communicator>(&argc, &argv)) {}

Context::Context() : communicator_(std::make_unique<Communicator>(nullptr, nullptr)) {}

Context::~Context() = default;

int Context::rank() const noexcept {
  return communicator_->rank();
}

int Context::size() const noexcept {
  return communicator_->size();
}

void Context::barrier() const {
  Communicator::Operation(*communicator_, "Context::barrier").barrier();
}

std::vector<double> Context::gather(double number) const {
  return gather(number, "Context::gather");
}

std::vector<double> Context::gather(double number, const char* call) const {
  Communicator::Operation operation(*communicator_, call);
  std::vector<double> all(static_cast<std::size_t>(size()));
  operation.all_gather(std::as_bytes(std::span(&number, 1)),
                       std::as_writable_bytes(std::span(all)));
  return all;
}

double Context::sum(double number) const {
  return sum(number, "Context::sum");
}

double Context::mean(double number) const {
  return sum(number, "Context::mean") / size();
}

double Context::sum(double number, const char* call) const {
  const std::vector<double> all = gather(number, call);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

Tensor Context::gather(const Tensor& tensor) const {
  Communicator::Operation operation(*communicator_, "Context::gather");
  const NoGradGuard no_grad;
  operation.check_agreement({form_of(tensor)});
  if (!tensor.defined()) fail(operation.name(), "the tensor is undefined");
  if (tensor.numel() > static_cast<std::int64_t>(kLargestMessage) / item_size(tensor.dtype()))
    fail(operation.name(), form_of(tensor), " has more than ", kLargestMessage, " bytes");
  operation.expect_local_errors();  // memory may run out on only this process
  const Tensor own = tensor.detach().contiguous();
  Shape shape = own.shape();
  shape.insert(0, size());
  const Tensor all = empty(shape, own.dtype());
  operation.all_gather(bytes_of(own), bytes_of(all));
  operation.barrier();  // see broadcast
  return all;
}

void Context::broadcast(const std::vector<Tensor>& tensors) const {
  Communicator::Operation operation(*communicator_, "Context::broadcast");
  const NoGradGuard no_grad;
  std::vector<std::string> forms;
  for (const Tensor& each : tensors) forms.push_back(form_of(each));
  operation.check_agreement(forms);
  operation.expect_local_errors();  // memory may run out on only this process
  for (const Tensor& each : tensors) {
    if (!each.defined() || each.numel() == 0) continue;
    Tensor dense = rank() == 0 ? each.detach().contiguous() : empty(each.shape(), each.dtype());
    operation.broadcast(bytes_of(dense));
    Tensor target = each;
    if (rank() != 0) target.copy_(dense);
  }
  // Processes may pass on the bytes of process 0. Without the barrier, process 0 could end while
  // other processes still wait for these bytes.
  operation.barrier();
}

}  // namespace tend::distributed
