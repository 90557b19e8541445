#include <tend/nn/distributed/context.h>

#include <numeric>
#include <span>
#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/distributed/agreement.h>
#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {
namespace {

/// What must be alike of a tensor that processes exchange.
std::string form_of(const Tensor& tensor) {
  return tensor.defined() ? as_text(tensor.shape(), ' ', tensor.dtype()) : "an undefined tensor";
}

std::span<std::byte> bytes_of(const Tensor& dense) {
  const std::int64_t size = dense.numel() * item_size(dense.dtype());
  return {static_cast<std::byte*>(dense.array().raw()), static_cast<std::size_t>(size)};
}

}  // namespace

Context::Context(int& argc, char**& argv)
    : communicator_(with_memory([&] { return std::make_unique<Communicator>(&argc, &argv); })) {}

Context::Context()
    : communicator_(with_memory([&] { return std::make_unique<Communicator>(nullptr, nullptr); })) {
}

Context::~Context() = default;

int Context::rank() const noexcept {
  return communicator_->rank();
}

int Context::size() const noexcept {
  return communicator_->size();
}

void Context::barrier() const {
  communicator_->check_thread("Context::barrier");
  communicator_->barrier();
}

std::vector<double> Context::gather(double number) const {
  communicator_->check_thread("Context::gather");
  return with_memory([&] {
    std::vector<double> all(static_cast<std::size_t>(size()));
    communicator_->all_gather(std::as_bytes(std::span(&number, 1)),
                              std::as_writable_bytes(std::span(all)));
    return all;
  });
}

double Context::sum(double number) const {
  const std::vector<double> all = gather(number);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

Tensor Context::gather(const Tensor& tensor) const {
  constexpr const char* kGather = "Context::gather";
  communicator_->check_thread(kGather);
  return with_memory([&] {
    const NoGradGuard no_grad;
    check_agreement(*communicator_, kGather, {form_of(tensor)});
    if (!tensor.defined()) fail(kGather, "the tensor is undefined");
    const Tensor own = tensor.detach().contiguous();
    Shape shape = own.shape();
    shape.insert(0, size());
    const Tensor all = empty(shape, own.dtype());
    communicator_->all_gather(bytes_of(own), bytes_of(all));
    return all;
  });
}

void Context::broadcast(const std::vector<Tensor>& tensors) const {
  constexpr const char* kBroadcast = "Context::broadcast";
  communicator_->check_thread(kBroadcast);
  with_memory([&] {
    const NoGradGuard no_grad;
    std::vector<std::string> forms;
    for (const Tensor& each : tensors) forms.push_back(form_of(each));
    check_agreement(*communicator_, kBroadcast, forms);
    for (const Tensor& each : tensors) {
      if (!each.defined() || each.numel() == 0) continue;
      Tensor dense = rank() == 0 ? each.detach().contiguous() : empty(each.shape(), each.dtype());
      communicator_->broadcast(bytes_of(dense));
      Tensor target = each;
      if (rank() != 0) target.copy_(dense);
    }
    // Process 0 could go on, and end, while others still wait for what one of them passes on.
    communicator_->barrier();
  });
}

}  // namespace tend::distributed
