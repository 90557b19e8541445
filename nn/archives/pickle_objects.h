// What the stack of a pickle holds. Its lists may be filled after others refer to them, so objects
// refer to each other by number; they become values when all are there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tend/core/array/array.h>
#include <tend/nn/archives/byte_reader.h>
#include <tend/nn/archives/pickle_reader.h>
#include <tend/nn/archives/pt.h>

namespace tend::nn::pickle {

using Number = std::uint32_t;
using Numbers = std::vector<Number>;

struct Sequence {
  Numbers items;
  bool is_tuple = false;
};
struct Mapping {
  std::vector<std::pair<Number, Number>> items;
};
/// A class or function: "torch.FloatStorage".
struct Global {
  std::string name;
};
/// What is left out: "an object of 'posix.system'".
struct Unread {
  std::string what;
};
struct Storage {
  Tensor elements;
};

using Object = std::variant<std::monostate, bool, std::int64_t, double, std::string, Sequence,
                            Mapping, Global, Unread, Storage, Tensor>;
using Objects = std::deque<Object>;  // whose members stay where they are

/// Dimensions that a tensor in a .pt file may have.
inline constexpr std::size_t kMaxPtDims = 64;

/// How many parts, or bytes of texts, may be copied for a pickle of `bytes` bytes; a tensor counts
/// as a hundred.
constexpr std::uint64_t most_copies(std::uint64_t bytes) {
  return 1'000'000 + 8 * bytes;
}

/// The object with all that it holds but what is left out. IoError if that is all, for nesting
/// beyond kMaxDepth (as of a list that holds itself), for keys that are used twice, and for what
/// repeats so often that it would take far more memory than its pickle of `bytes` bytes.
PtFile value_of(const ByteReader& reader, const Objects& objects, Number number,
                std::uint64_t bytes);

/// Calls a function or class of torch.save's with a tuple of arguments. The result may be a copy of
/// one of them; that of another function is an Unread.
Object call(const ByteReader& reader, const Objects& objects, const std::string& function,
            const Numbers& arguments);

/// The kind of a storage class ("torch.FloatStorage"); nullptr for other names.
const NumberKind* storage_kind(const std::string& name);
/// Whether the name is a dtype's ("torch.float32"), which becomes a text.
bool is_dtype(const std::string& name);

}  // namespace tend::nn::pickle
