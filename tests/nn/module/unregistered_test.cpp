// Members that were declared without a macro such as TEND_MODULE.
#include <array>
#include <memory>
#include <optional>

#include "tests/nn/fixtures.h"
#include "tests/threads.h"

using namespace tend;

namespace {

// Has a layer without TEND_MODULE.
class Forgetful : public nn::Module<Forgetful> {
 public:
  Forgetful() : first(2, 2) {}
  Tensor forward(const Tensor& x) const { return second(first(x)); }

  TEND_MODULE(nn::Linear, first);
  nn::Linear second{2, 2};
};

class Outer : public nn::Module<Outer> {
 public:
  Outer() { blocks.emplace_back(); }
  Tensor forward(const Tensor& x) const {
    ++calls;
    return blocks[0](x);
  }

  mutable int calls = 0;
  TEND_MODULE(nn::ModuleList<Forgetful>, blocks);
};

class Scale : public nn::Module<Scale> {
 public:
  Tensor forward(const Tensor& x) const { return x * factor; }

  nn::Parameter factor{ones({3})};
};

// Has members that need no macro.
class Free : public nn::Module<Free> {
 public:
  Free() : inner(2, 2), tied(inner.weight), pointer(std::make_shared<nn::Linear>(2, 2)) {
    many.emplace_back(2, 2);
    frozen.requires_grad_(false);
  }
  Tensor forward(const Tensor& x) const { return matmul(inner(x), tied); }

  TEND_MODULE(nn::Linear, inner);
  nn::Parameter tied;  // a second handle on a registered parameter
  nn::Parameter frozen{ones({2})};
  nn::Parameter absent;
  std::vector<nn::Linear> many;
  std::optional<nn::Linear> none;
  std::shared_ptr<nn::Linear> pointer;
};

const Tensor kRow = ones({1, 2});

}  // namespace

TEST_CASE("the first call of a module with an unregistered member module is an error") {
  const Forgetful net;
  const char* message =
      "[Forgetful] its member of class Linear is not registered, so nothing trains or saves it. "
      "Declare it as TEND_MODULE(Linear, name)";
  CHECK_THROWS_WITH(net(kRow), message);
  CHECK_THROWS_WITH(net(kRow), message);  // every later call fails, too
}

TEST_CASE("the error of a forgotten member names the module's path and comes before forward") {
  const Outer outer;
  CHECK_THROWS_WITH(outer(kRow),
                    Catch::Matchers::StartsWith("[Outer.blocks.0] its member of class Linear is"));
  CHECK(outer.calls == 0);
}

TEST_CASE("forgotten members are found in copied and moved modules") {
  Forgetful net;
  const Forgetful copy = net;
  const Forgetful moved = std::move(net);
  CHECK_THROWS_AS(copy(kRow), Error);
  CHECK_THROWS_AS(moved(kRow), Error);
  std::vector<Forgetful> many(5);
  many.emplace_back();
  for (const Forgetful& each : many) CHECK_THROWS_AS(each(kRow), Error);
  const nn::Sequential sequential{nn::ReLU(), Forgetful()};
  CHECK_THROWS_WITH(sequential(kRow), Catch::Matchers::StartsWith("[Sequential.1] its member"));
}

TEST_CASE("modules in a list, an array or an optional without a macro are found") {
  struct List : nn::Module<List> {
    List() { layers.emplace_back(2, 2); }
    Tensor forward(const Tensor& x) const { return layers[0](x); }
    nn::ModuleList<nn::Linear> layers;
  };
  struct Several : nn::Module<Several> {
    Tensor forward(const Tensor& x) const { return layers[1](x); }
    std::array<nn::Linear, 2> layers{nn::Linear(2, 2), nn::Linear(2, 2)};
  };
  struct Maybe : nn::Module<Maybe> {
    Tensor forward(const Tensor& x) const { return layer ? (*layer)(x) : x; }
    std::optional<nn::Linear> layer;
  };
  CHECK_THROWS_WITH(List()(kRow), Catch::Matchers::ContainsSubstring("member of class ModuleList"));
  CHECK_THROWS_AS(Several()(kRow), Error);
  Maybe maybe;
  maybe.layer.emplace(2, 2);
  CHECK_THROWS_AS(maybe(kRow), Error);
  maybe.layer.reset();
  CHECK_NOTHROW(maybe(kRow));
}

TEST_CASE("a call of a module in a std::vector is an error unless its parameters were listed") {
  struct Net : nn::Module<Net> {
    Tensor forward(const Tensor& x) const {
      Tensor y = x;
      for (const nn::Linear& layer : layers) y = layer(y);
      return y;
    }
    std::vector<nn::Linear> layers;
  };
  const auto make = [] {
    Net net;
    for (int i = 0; i < 3; ++i) net.layers.emplace_back(2, 2);
    return net;
  };
  const Net net = make();
  for (int call = 0; call < 2; ++call) {
    CHECK_THROWS_WITH(
        net(kRow),
        Catch::Matchers::StartsWith("[Net > Linear] the module that calls this Linear") &&
            Catch::Matchers::ContainsSubstring("TEND_MODULE(ModuleList<Linear>, name)"));
  }
  {
    const NoGradGuard no_grad;
    CHECK_NOTHROW(net(kRow));
  }
  CHECK_THROWS_AS(net(kRow), Error);
  const Net listed = make();
  for (const nn::Linear& layer : listed.layers) CHECK(layer.parameters().size() == 2);
  CHECK_NOTHROW(listed(kRow));
  const Net frozen = make();
  for (Tensor parameter : {frozen.layers[0].weight, frozen.layers[0].bias})
    parameter.requires_grad_(false);
  // The first layer has nothing to train; the error is about the second one.
  CHECK_THROWS_WITH(frozen(kRow), Catch::Matchers::StartsWith("[Net > Linear]"));
}

TEST_CASE("the first call of a module with an unregistered parameter is an error") {
  CHECK_THROWS_WITH(Scale()(ones({3})),
                    "[Scale] its member Parameter of shape (3,) is not registered, so nothing "
                    "trains or saves it. Declare it as TEND_PARAMETER(name)");
}

TEST_CASE("modules behind pointers and second handles on parameters need no macro", "[products]") {
  const Free net;
  CHECK_NOTHROW(net(kRow));
  const Free copy = net;  // NOLINT(performance-unnecessary-copy-initialization): copies are tested
  CHECK_NOTHROW(copy(kRow));
  CHECK_NOTHROW(Free()(kRow));
}

TEST_CASE("threads that make, call and destroy modules find forgotten members", "[products]") {
  const Forgetful forgetful;
  const Free shared;
  std::atomic<int> found = 0;
  test::together(4, [&](int) {
    for (int i = 0; i < 20; ++i) {
      const Forgetful own = forgetful;
      for (const Forgetful* each : {&own, &forgetful}) {
        try {
          (*each)(kRow);
        } catch (const Error&) {
          ++found;
        }
      }
      const Free copy = shared;  // NOLINT(performance-unnecessary-copy-initialization): as above
      copy(kRow);
      shared(kRow);
    }
  });
  CHECK(found == 4 * 20 * 2);
}

namespace {

class Scaled : public nn::Linear {
 public:
  Scaled() : Linear(2, 2) { scale = nn::Parameter(full({2}, 3.0)); }
  Tensor forward(const Tensor& x) const { return Linear::forward(x) * scale; }
  TEND_PARAMETER(scale);
};

class Layer : public nn::Module<Layer> {
 public:
  virtual Tensor forward(const Tensor& x) const = 0;
};
class Twice : public Layer {
 public:
  Tensor forward(const Tensor& x) const override { return x * 2; }
};

}  // namespace

TEST_CASE("a class that is derived from a module class is an error unless that class is abstract") {
  const std::string message =
      "[Scaled] must not be derived from another module class, whose forward and clone it would "
      "inherit. Derive it from nn::Module<Scaled> and make the other module a member";
  CHECK_THROWS_WITH(Scaled()(kRow), message);
  CHECK_THROWS_WITH(nn::Sequential{Scaled()}(kRow), Catch::Matchers::StartsWith(message));
  CHECK_THROWS_WITH(Scaled().clone(), message);
  class Two : public nn::ModuleList<nn::Linear> {
   public:
    TEND_MODULE(nn::ReLU, more);
  };
  CHECK_THROWS_AS(Two().clone(), Error);
  CHECK(Twice()(kRow).equal(kRow * 2));
}
