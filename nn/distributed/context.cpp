#include <tend/nn/distributed/context.h>

#include <span>
#include <string>

#include <tend/autograd/ops/creation.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/nn/distributed/agreement.h>
#include <tend/nn/distributed/communicator.h>

namespace tend::distributed {

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

void Context::broadcast(const std::vector<Tensor>& tensors) const {
  constexpr const char* kBroadcast = "Context::broadcast";
  communicator_->check_thread(kBroadcast);
  with_memory([&] {
    const NoGradGuard no_grad;
    std::vector<std::string> forms;
    for (const Tensor& each : tensors)
      forms.push_back(each.defined() ? as_text(each.shape(), ' ', each.dtype())
                                     : "an undefined tensor");
    check_agreement(*communicator_, kBroadcast, forms);
    for (const Tensor& each : tensors) {
      if (!each.defined() || each.numel() == 0) continue;
      Tensor dense = rank() == 0 ? each.detach().contiguous() : empty(each.shape(), each.dtype());
      const auto size = static_cast<std::size_t>(dense.numel() * item_size(dense.dtype()));
      communicator_->broadcast({static_cast<std::byte*>(dense.array().raw()), size});
      Tensor target = each;
      if (rank() != 0) target.copy_(dense);
    }
  });
}

}  // namespace tend::distributed
