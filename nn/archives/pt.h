// Files that torch.save writes.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tend/autograd/tensor/tensor.h>
#include <tend/core/base/strict.h>
#include <tend/nn/files/load_options.h>
#include <tend/nn/module/state_dict.h>

namespace tend::nn {

struct PtValue;
struct PtItem;
using PtList = std::vector<PtValue>;
using PtDict = std::vector<PtItem>;  ///< in the order of the file, each key once

/// A tuple or a torch.Size.
struct PtTuple {
  PtList items;
};

/// One value: None, a number, a text (also a dtype or device, as "torch.float32" and "cpu"), a
/// tensor, or values in a list, tuple or dict.
struct PtValue {
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, PtList,
                            PtTuple, PtDict>;
  Data data;

  PtValue();
  PtValue(const PtValue& other);
  PtValue(PtValue&& other) noexcept;
  PtValue& operator=(const PtValue& other);
  PtValue& operator=(PtValue&& other) noexcept;
  ~PtValue();
  PtValue(bool value);
  PtValue(std::int64_t value);
  /// IndexError for an integer that int64 cannot hold.
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) PtValue(Number value)
      : PtValue(static_cast<std::int64_t>(Integer(value))) {}
  PtValue(double value);
  PtValue(const char* text);
  PtValue(std::nullptr_t) = delete;
  PtValue(std::string text);
  PtValue(Tensor tensor);
  PtValue(PtList list);
  PtValue(PtTuple tuple);
  PtValue(PtDict dict);
  PtValue(const StateDict& tensors);

  /// The value as a T, one of Data's types; nullptr when it is of another.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
  bool is_none() const noexcept { return as<std::monostate>() != nullptr; }
  /// The value of that key; IndexError where there is none, and for what is no dict.
  const PtValue& at(std::string_view key) const;
  /// A dict of texts and tensors, as load_state_dict takes it; Error, which names the key, for any
  /// other value or key.
  StateDict state_dict() const;
};

struct PtItem {
  std::variant<std::int64_t, std::string> key;
  PtValue value;
};

/// The value of a file, and what of it was not read.
struct PtFile : PtValue {
  std::vector<LeftOut> left_out;
};

/// Reads what torch.save wrote, in the zip format of PyTorch 1.6 or the one before it (0.1.10):
/// tensors of bool, float32, float64 and int64 as they are, float16 and bfloat16 as float32, int8,
/// int16, int32 and uint8 as int64. Strides, requires_grad and shared storages are as they were
/// saved. Nothing is executed: data of Python's pickle makes the values above and nothing else. A
/// collections.Counter is a dict. Objects of other classes, sets and bytes are not read: the result
/// lists them, dicts lack their keys, and lists have None in their place.
/// IoError names the path and what is wrong: a file of which nothing is read, an opcode that is not
/// known, nesting beyond 64, more than 64 MiB beside the elements of tensors, a packed archive that
/// would take more than 64 times its size, parts that are repeated more than a million times,
/// storages outside the file and tensors outside their storage. Needs the library tend::archives.
PtFile load_pt(const std::filesystem::path& path);

/// Writes a file that torch.load reads, with weights_only=True, too, whole or not at all as
/// write_file does. Tensors that share memory share it after loading, and it is written once: the
/// part of each storage between the first and the last element of its tensors.
/// Throws: IoError  - a tensor is undefined or has more than 64 dimensions
///                  - a text is not UTF-8, or a key is used twice
///                  - values nest deeper than 64, or take more than 64 MiB beside the elements
///                  - the file cannot be written, or the path is not a regular file
void save_pt(const std::filesystem::path& path, const PtValue& value);
/// The same for a dict of tensors.
void save_pt(const std::filesystem::path& path, const StateDict& tensors);

}  // namespace tend::nn
