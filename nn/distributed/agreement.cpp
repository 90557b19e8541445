#include <tend/nn/distributed/agreement.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include <tend/core/base/error.h>

namespace tend::distributed {
namespace {

std::vector<std::string> lines_of_first(Communicator::Operation& operation,
                                        const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  std::uint64_t size = text.size();
  operation.broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  operation.broadcast(std::as_writable_bytes(std::span(text)));
  std::vector<std::string> first;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    first.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return first;
}

/// The message where the two lists part; empty where they do not.
std::string difference(int rank, const std::vector<std::string>& own,
                       const std::vector<std::string>& first) {
  const auto line = [](const std::vector<std::string>& lines, std::size_t i) {
    return i < lines.size() ? lines[i] : std::string("nothing more");
  };
  for (std::size_t i = 0; i < std::max(own.size(), first.size()); ++i) {
    if (line(own, i) != line(first, i))
      return as_text("process ", rank, " has ", line(own, i), ", process 0 ", line(first, i));
  }
  return "";
}

}  // namespace

void check_agreement(Communicator::Operation& operation, const std::vector<std::string>& lines) {
  constexpr std::size_t kSize = 1024;  // of the message that each process gives
  const Communicator& communicator = operation.communicator();
  std::string own = difference(communicator.rank(), lines, lines_of_first(operation, lines));
  own.resize(kSize);
  std::string all(kSize * static_cast<std::size_t>(communicator.size()), '\0');
  operation.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  operation.settle();
  for (std::size_t at = 0; at < all.size(); at += kSize) {
    if (all[at] != '\0') fail(operation.name(), all.substr(at, kSize).c_str());
  }
}

}  // namespace tend::distributed
