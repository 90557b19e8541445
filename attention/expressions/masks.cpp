#include <tend/attention/expressions/masks.h>

#include <algorithm>

#include <tend/attention/expressions/trace.h>
#include <tend/autograd/ops/ops.h>
#include <tend/autograd/tensor/grad_mode.h>
#include <tend/core/kernels/attention/tile_program.h>

// Converting a lambda to a MaskFunction calls it at once, and never again. So the lambdas below may
// capture by reference.
namespace tend::attention::masks {
namespace {

void check_int64(const char* name, const char* argument, const Tensor& table) {
  if (table.dtype() == int64) return;
  fail<DTypeError>(name, argument, " must be int64, got ", table.dtype());
}

void check_lengths(const char* name, const Tensor& lengths) {
  check_int64(name, "lengths", lengths);
  if (lengths.dim() == 1) return;
  fail<ShapeError>(name, "lengths must be (batches), got ", lengths.shape());
}

void check_at_least_one(const char* name, const char* argument, std::int64_t number) {
  if (number < 1) fail(name, argument, " must be 1 or more, got ", number);
}

}  // namespace

MaskFunction causal() {
  return [](const Position& at) { return at.key <= at.query; };
}

MaskFunction causal_bottom_right(std::int64_t queries, std::int64_t keys) {
  if (queries < 0 || keys < 0) {
    fail<ShapeError>("causal_bottom_right", "sizes must not be negative, got ", queries,
                     " queries and ", keys, " keys");
  }
  const std::int64_t before = keys - queries;
  return [before](const Position& at) { return at.key <= at.query + before; };
}

MaskFunction sliding_window(std::int64_t size) {
  check_at_least_one("sliding_window", "size", size);
  size = std::min(size, kernels::kGreatestIndex);  // the limit includes all earlier keys
  return [size](const Position& at) { return at.key <= at.query && at.query - at.key < size; };
}

MaskFunction prefix(std::int64_t length) {
  length = std::clamp(length, kernels::kLeastIndex, kernels::kGreatestIndex);
  return [length](const Position& at) { return at.key < length || at.key <= at.query; };
}

MaskFunction prefix(const Tensor& lengths) {
  check_lengths("prefix", lengths);
  const Lookup length = lookup(lengths);
  return [&](const Position& at) {
    Trace::current().need({"prefix", kernels::TileOp::batch, lengths, 0});
    return at.key < length(at.batch) || at.key <= at.query;
  };
}

MaskFunction documents(const Tensor& documents) {
  check_int64("documents", "documents", documents);
  if (documents.dim() != 1 && documents.dim() != 2) {
    fail<ShapeError>("documents", "documents must be (tokens) or (batches, tokens), got ",
                     documents.shape());
  }
  const Lookup document = lookup(documents);
  const bool has_batch = documents.dim() == 2;
  return [&](const Position& at) {
    // Without these checks, positions beyond the table could be hidden without an error. A look-up
    // reads 0 there, and its error is reported only at visible positions.
    for (const kernels::TileOp each : {kernels::TileOp::query, kernels::TileOp::key})
      Trace::current().need({"documents", each, documents, has_batch ? 1 : 0});
    if (!has_batch) return document(at.query) == document(at.key);
    Trace::current().need({"documents", kernels::TileOp::batch, documents, 0});
    return document(at.batch, at.query) == document(at.batch, at.key);
  };
}

MaskFunction padding(const Tensor& lengths) {
  check_lengths("padding", lengths);
  const Lookup length = lookup(lengths);
  return [&](const Position& at) {
    Trace::current().need({"padding", kernels::TileOp::batch, lengths, 0});
    return at.key < length(at.batch);
  };
}

MaskFunction blocks(std::int64_t size) {
  check_at_least_one("blocks", "size", size);
  size = std::min(size, kernels::kGreatestIndex);  // the limit means one block
  return [size](const Position& at) { return at.query / size == at.key / size; };
}

MaskFunction dilated(std::int64_t step) {
  check_at_least_one("dilated", "step", step);
  return [step](const Position& at) { return (at.query - at.key) % step == 0; };
}

Tensor document_positions(const Tensor& documents) {
  constexpr const char* kName = "document_positions";
  check_int64(kName, "documents", documents);
  if (documents.dim() == 0) fail<ShapeError>(kName, "documents must be (..., tokens), got ()");
  const NoGradGuard no_graph;
  const std::int64_t tokens = documents.size(-1);
  const Tensor place = arange(0, tokens, 1, {.dtype = int64}).expand(documents.shape());
  if (documents.numel() == 0) return place.clone();
  // A document begins where its number differs from the number before.
  const Tensor begins =
      cat({ones_like(documents.narrow(-1, 0, 1)).to(boolean),
           documents.narrow(-1, 1, tokens - 1) != documents.narrow(-1, 0, tokens - 1)},
          -1);
  return place - cummax(place * begins.to(int64), -1).values;
}

}  // namespace tend::attention::masks
