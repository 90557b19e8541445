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
using PtDict = std::vector<PtItem>;  ///< Keys are unique, and in the order of the file.

/// A tuple or a torch.Size.
struct PtTuple {
  PtList items;
};

/// A value of a .pt file: None, a bool, a number, a text, a tensor, or a list, tuple or dict of
/// values. Dtypes and devices are texts, such as "torch.float32" and "cpu".
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
  /// An integer of any type.
  ///
  /// Throws: IndexError - int64 cannot hold the integer
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

  /// Returns a pointer to the T in `data`, or nullptr if `data` has another type. T must be one of
  /// Data's types.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&data);
  }
  bool is_none() const noexcept { return as<std::monostate>() != nullptr; }
  /// Returns the value of a key in a dict.
  ///
  /// Throws: IndexError - the value is not a dict, or the dict does not have the key
  const PtValue& at(std::string_view key) const;
  /// Converts a dict of tensors with text keys to a StateDict, which load_state_dict accepts.
  ///
  /// Throws: Error - the value is not a dict, or an entry is not a tensor with a text key; the
  ///                 message names the key
  StateDict state_dict() const;
};

struct PtItem {
  std::variant<std::int64_t, std::string> key;
  PtValue value;
};

/// The value of a file, and a list of the parts that were not read.
struct PtFile : PtValue {
  std::vector<LeftOut> left_out;
};

/// Reads a file that torch.save wrote, in the zip format (since PyTorch 1.6) or in the older format
/// (since 0.1.10).
///
/// Tensors of bool, float32, float64 and int64 keep their dtype. float16 and bfloat16 become
/// float32; int8, int16, int32 and uint8 become int64. Strides, requires_grad and shared storages
/// are as they were saved. A collections.Counter becomes a dict.
///
/// The file cannot execute anything: its pickle can only make the values of PtValue. Sets, bytes
/// and objects of other classes are not read, and the result's `left_out` lists them. A dict of the
/// result lacks the key of such an object. A list has None in place of such an object.
///
/// Needs the library tend::archives.
///
/// Throws:
///   IoError - nothing in the file can be read
///   IoError - the pickle has an unknown opcode or nests deeper than 64
///   IoError - the pickle repeats its parts so often that they would take far more memory than the
///             pickle
///   IoError - the data other than elements of tensors has more than 64 MiB
///   IoError - a compressed archive needs more memory than 64 MiB plus 64 times its size
///   IoError - a storage is outside the file, or a tensor outside its storage
PtFile load_pt(const std::filesystem::path& path);

/// Writes a file that torch.load reads, also with weights_only=True.
///
/// As with write_file, the file appears whole or not at all. Memory that tensors share is written
/// once, so these tensors share memory after loading, too. If the tensors use only a part of a
/// storage, only the part from their first to their last element is written.
///
/// Throws:
///   IoError - a tensor is undefined or has more than 64 dimensions
///   IoError - a text is not UTF-8, or a key is used twice
///   IoError - values nest deeper than 64, or take more than 64 MiB without the elements
///   IoError - the file cannot be written, or the path is not a regular file
void save_pt(const std::filesystem::path& path, const PtValue& value);
/// Writes a dict of tensors. See the other overload.
void save_pt(const std::filesystem::path& path, const StateDict& tensors);

}  // namespace tend::nn
