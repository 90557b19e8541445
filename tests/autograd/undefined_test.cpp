// Methods of an undefined tensor throw an AutogradError or return what their documentation says.
#include "tests/autograd/support.h"

using namespace tend;
using namespace tend::test;

TEST_CASE("an undefined tensor answers basic questions and refuses everything else") {
  Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK_FALSE(none.retains_grad());
  CHECK(none.is_leaf());
  CHECK_FALSE(none.grad().defined());
  CHECK(none.grad_fn() == nullptr);
  CHECK(to_string(none) == "None");
  const auto refuses = [](auto&& call) { CHECK_THROWS_AS(call(), AutogradError); };
  refuses([&] { none.array(); });
  refuses([&] { none.dtype(); });
  refuses([&] { none.shape(); });
  refuses([&] { none.strides(); });
  refuses([&] { none.dim(); });
  refuses([&] { none.size(0); });
  refuses([&] { none.numel(); });
  refuses([&] { none.is_contiguous(); });
  refuses([&] { none.data_ptr<float>(); });
  refuses([&] { none.span<float>(); });
  refuses([&] { none.to_vector<float>(); });
  refuses([&] { none.item(); });
  refuses([&] { none.requires_grad_(false); });
  refuses([&] { none.requires_grad_(true); });
  refuses([&] { none.set_grad(Tensor()); });
  refuses([&] { none.set_grad(ones({2})); });
  refuses([&] { none.zero_grad(); });
  refuses([&] { none.retain_grad(); });
  refuses([&] { none.register_hook([](const Tensor&) {}); });
  refuses([&] { none.backward(); });
  refuses([&] { none.detach(); });
  refuses([&] { none.detach_(); });
  refuses([&] { none.set_data(ones({2})); });
  refuses([&] { none.version(); });
  refuses([&] { none[0]; });
  refuses([&] { none[{0, ellipsis}]; });
  refuses([&] {
    for (const Tensor& row : none) static_cast<void>(row);
  });
  Tensor x = leaf({1, 2});
  refuses([&] { x.set_data(none); });
  refuses([&] { x[none]; });
  refuses([&] { x[0] = none; });
  CHECK(values(x) == std::vector<double>{1, 2});
}
