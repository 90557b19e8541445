// The objects that the opcodes of a pickle make. A pickle may still add items to a list to which
// other objects already refer. So an object refers to another one by its index in Objects, and
// objects are converted to PtValues only at the end.
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

using Number = std::uint32_t;  // the index of an object in Objects
using Numbers = std::vector<Number>;

struct Sequence {
  Numbers items;
  bool is_tuple = false;
};
struct Mapping {
  std::vector<std::pair<Number, Number>> items;
};
/// A class or function, such as "torch.FloatStorage".
struct Global {
  std::string name;
};
/// An object that is not read, with its description, such as "an object of 'posix.system'".
struct Unread {
  std::string what;
};
struct Storage {
  Tensor elements;
};

using Object = std::variant<std::monostate, bool, std::int64_t, double, std::string, Sequence,
                            Mapping, Global, Unread, Storage, Tensor>;
using Objects = std::deque<Object>;  // push_back leaves references to elements valid

/// The most dimensions of a tensor in a .pt file.
inline constexpr std::size_t kMaxPtDims = 64;

/// The limit on copies while a pickle of `bytes` bytes is read: the number of copied items of lists
/// and dicts plus the number of copied bytes of text. A new tensor counts as about a hundred items.
constexpr std::uint64_t most_copies(std::uint64_t bytes) {
  return 1'000'000 + 8 * bytes;
}

/// Converts an object, and everything in it, to a value. `bytes` is the size of the pickle.
///
/// The result lists the objects that are left out.
///
/// Throws:
///   IoError - everything is left out
///   IoError - objects nest deeper than kMaxDepth, as in a list that contains itself
///   IoError - a dict has a key twice
///   IoError - parts repeat so often that they would take far more memory than the pickle
PtFile value_of(const ByteReader& reader, const Objects& objects, Number number,
                std::uint64_t bytes);

/// Returns the result of one of the functions and classes that torch.save uses. For any other
/// function, returns an Unread.
///
/// The result may be a copy of an argument.
///
/// Throws:
///   IoError - an argument is missing or has the wrong type
///   IoError - a tensor is too large, or outside its storage
Object call(const ByteReader& reader, const Objects& objects, const std::string& function,
            const Numbers& arguments);

/// The kind of number in a storage class ("torch.FloatStorage"); nullptr for other names.
const NumberKind* storage_kind(const std::string& name);
/// True for the name of a dtype ("torch.float32"). The reader turns a dtype into a text, its name.
bool is_dtype(const std::string& name);

}  // namespace tend::nn::pickle
