#include <tend/nn/optim/state_reader.h>

#include <tend/core/base/error.h>

namespace tend::optim::detail {

StateReader::StateReader(const char* operation, const nn::StateDict& state)
    : operation_(operation) {
  for (const auto& [key, value] : state) {
    if (!entries_.emplace(key, &value).second) fail(operation, key, " is there twice");
  }
}

std::int64_t StateReader::size_of(const std::string& key) const {
  const auto entry = entries_.find(key);
  return entry == entries_.end() || !entry->second->defined() ? 0 : entry->second->numel();
}

Array StateReader::take(const std::string& key, const Shape& shape, DType dtype) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) fail(operation_, key, " is missing");
  const Tensor& value = *entry->second;
  if (!value.defined()) fail(operation_, key, " is undefined");
  if (value.shape() != shape || value.dtype() != dtype)
    fail(operation_, key, " is ", value.shape(), ' ', value.dtype(), ", not ", shape, ' ', dtype);
  entries_.erase(entry);
  return value.array();
}

std::int64_t StateReader::take_count(const std::string& key, std::int64_t least) {
  const auto count = take(key, {}, int64).item<std::int64_t>();
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (count < least || count > kMost)
    fail(operation_, key, " is ", count, ", not a count from ", least, " to 2^53");
  return count;
}

std::optional<std::string_view> StateReader::left() const {
  return entries_.empty() ? std::nullopt : std::optional(entries_.begin()->first);
}

void StateReader::check_all_taken() const {
  if (const auto key = left()) fail(operation_, *key, " is unknown");
}

}  // namespace tend::optim::detail
