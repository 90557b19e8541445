// The worker of `compare --operations` for tend. With the argument `list`, it prints the rows of
// the operation table.
//
// It also writes the inputs for PyTorch's worker, into the file that the environment variable
// COMPARE_INPUTS names: a line of JSON, then the elements of each input in row-major order.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string_view>

#include <tend/core/build_info.h>

#include "../worker.h"
#include "operation_cases.h"

#include <nlohmann/json.hpp>

namespace {

using compare::OperationCase;
using compare::PreparedCase;
using nlohmann::json;
using tend::Tensor;

std::int64_t byte_count(const std::vector<Tensor>& tensors) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) bytes += tensor.numel() * tend::item_size(tensor.dtype());
  }
  return bytes;
}

json describe_input(const Tensor& input) {
  return {{"dtype", std::string(tend::dtype_name(input.dtype()))},
          {"shape", std::vector<std::int64_t>(input.shape().begin(), input.shape().end())},
          {"gradient", input.requires_grad()}};
}

void write_inputs(const OperationCase& wanted, const PreparedCase& prepared) {
  const char* path = std::getenv("COMPARE_INPUTS");
  if (path == nullptr) return;
  const tend::test::Op& op = tend::test::op_table()[static_cast<std::size_t>(wanted.row)];
  json inputs = json::array();
  for (const Tensor& input : prepared.made.inputs) inputs.push_back(describe_input(input));
  // A pass must at least read or write its inputs and results once, and with the backward also its
  // cotangents and gradients.
  const std::int64_t bytes = byte_count(prepared.made.inputs) + byte_count(prepared.outputs) +
                             byte_count(prepared.cotangents) + byte_count(prepared.gradients);
  const json head{{"python", op.torch},
                  {"inputs", inputs},
                  {"transposed", wanted.is_transposed},
                  {"backward", wanted.pass == compare::Pass::both},
                  {"in_place", wanted.pass == compare::Pass::in_place ? op.name + "_" : ""},
                  {"bytes", bytes}};
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << head.dump() << '\n';
  std::vector<Tensor> elements = prepared.made.inputs;
  if (prepared.in_place_form) elements[0] = prepared.original;
  for (const Tensor& input : elements) {
    const tend::Array dense = input.array().contiguous();
    file.write(static_cast<const char*>(dense.raw()),
               dense.numel() * tend::item_size(input.dtype()));
  }
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + path);
}

void add_result(compare::Result& result, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    result.add(tensor.detach().to(tend::float32).to_vector<float>());
  }
}

compare::Task prepare(const compare::Work& work, const compare::Setup&) {
  const OperationCase wanted{work[0],      work[1],      work[2],
                             work[3] != 0, work[4] != 0, static_cast<compare::Pass>(work[5])};
  std::optional<PreparedCase> made = compare::prepare_case(wanted);
  if (!made) return {};
  write_inputs(wanted, *made);
  auto prepared = std::make_shared<PreparedCase>(std::move(*made));
  const compare::Pass pass = wanted.pass;
  return {[prepared, pass](std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) compare::run_case(*prepared, pass);
          },
          [prepared, pass](compare::Result& result) {
            prepared->calls = 0;  // so that run_case() resets the tensor first
            compare::run_case(*prepared, pass);
            add_result(result, prepared->outputs);
            for (std::size_t i = 0; i < prepared->gradients.size(); ++i) {
              const Tensor& gradient = prepared->gradients[i];
              add_result(result, {gradient.defined() ? gradient : zeros_like(prepared->wanted[i])});
            }
          }};
}

std::string about(const compare::Setup&) {
  const tend::BuildInfo info = tend::build_info();
  return "tend " + info.version + ", own kernels " + info.simd_target + ", " + info.blas + " " +
         info.blas_core + ", " + std::to_string(info.threads) + " threads";
}

void list_rows() {
  json rows = json::array();
  for (const tend::test::Op& op : tend::test::op_table()) {
    const bool has_sample = !op.samples.empty() && !op.samples[0].empty();
    const auto has = [&](auto is_so) {
      return has_sample && std::any_of(op.samples[0].begin(), op.samples[0].end(), is_so);
    };
    rows.push_back(
        {{"python", op.torch},
         {"scales", op.scales},
         {"any_layout", op.any_layout},
         {"has_sample", has_sample},
         {"is_real", has([](const auto& input) { return input.dtype == tend::float64; })},
         {"has_in_place", has_sample && !op.in_place_forms.empty() && !op.in_place_reshapes},
         {"has_gradient", has([](const auto& input) { return input.has_gradient(); })}});
  }
  std::cout << rows.dump() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "list") {
    list_rows();
    return std::cout.flush() ? 0 : 1;
  }
  return compare::serve(argc, argv, {about, prepare});
}
