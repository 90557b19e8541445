#include <tend/nn/module/generator_state.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include <tend/autograd/ops/creation.h>

namespace tend {

Tensor nn::tensor_of_generator(const Generator& generator) {
  const std::vector<std::uint8_t> bytes = generator.to_bytes();
  const Tensor words =
      empty({static_cast<std::int64_t>(bytes.size() / sizeof(std::int64_t))}, DType::int64);
  std::memcpy(words.data_ptr<std::int64_t>(), bytes.data(), bytes.size());
  return words;
}

Generator nn::generator_of_tensor(const Tensor& tensor) {
  const std::vector<std::int64_t> words = tensor.to_vector<std::int64_t>();
  std::vector<std::uint8_t> bytes(words.size() * sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return Generator::from_bytes(bytes);
}

}  // namespace tend
