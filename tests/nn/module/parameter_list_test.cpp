// Lists of parameters.
#include <utility>

#include "tests/nn/fixtures.h"

using namespace tend;

namespace {

class Polynomial : public nn::Module<Polynomial> {
 public:
  Polynomial() {
    for (int i = 0; i < 3; ++i) factors.push_back(nn::Parameter(ones({2}) * i));
  }
  Tensor forward(const Tensor& x) const {
    Tensor y = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) y = y * x + factors[i];
    return y;
  }

  TEND_MODULE(nn::ParameterList, factors);
};

}  // namespace

TEST_CASE("a list of parameters can be made in braces and accepts tensors") {
  nn::ParameterList list{nn::Parameter(ones({2})), nn::Parameter(zeros({3}))};
  CHECK(list.emplace_back(ones({4})).requires_grad());
  CHECK(list.size() == 3);
  CHECK(list.at(2).shape() == Shape{4});
  CHECK(std::as_const(list).at(0).shape() == Shape{2});
  CHECK_THROWS_AS(list.at(3), IndexError);
  CHECK(list.num_parameters() == 9);
}

TEST_CASE("the parameters of a list are named, saved and trained") {
  Polynomial net;
  const nn::StateDict state = net.state_dict();
  CHECK(state.size() == 3);
  CHECK(state.contains("factors.2"));
  net(ones({2})).sum().backward();
  CHECK(net.factors[1].grad().to_vector<float>() == std::vector<float>{1, 1});
  const Polynomial copy = net;
  CHECK(copy.factors[0].impl() == net.factors[0].impl());
  const Polynomial clone = net.clone();
  CHECK(clone.factors[0].impl() != net.factors[0].impl());
  CHECK(clone.parameters()[2].impl() == clone.factors[2].impl());
  CHECK(net.factors.clone()[1].impl() != net.factors[1].impl());
  CHECK_THROWS_WITH(net.factors[3], "[ParameterList] index 3 is out of range for a list of 3");
  CHECK_THROWS_WITH(net.factors[-4], "[ParameterList] index -4 is out of range for a list of 3");
  CHECK(net.factors[-1].impl() == net.factors[2].impl());
  CHECK_THROWS_AS(net.factors.register_buffer("1", ones({1})), Error);
  net.load_state_dict(
      {{"factors.0", ones({2})}, {"factors.1", ones({2})}, {"factors.2", ones({2})}});
  for (const nn::Parameter& each : net.factors) CHECK(each[0].item() == 1);
}

TEST_CASE("a list of parameters prints as in torch") {
  nn::ParameterList list({nn::Parameter(ones({2, 3}))});
  CHECK(list.repr() == "ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])");
  list.push_back(nn::Parameter(ones({}, float64)));
  list.push_back(nn::Parameter());
  CHECK(list.repr() ==
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Parameter containing: [torch.float64 of size ]\n"
        "    (2): Parameter containing: [None]\n"
        ")");
}
