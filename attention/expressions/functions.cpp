#include <tend/attention/expressions/functions.h>

#include <tend/attention/expressions/trace.h>

namespace tend::attention {
namespace {

using kernels::TileOp;
using kernels::TileType;

void check_result(const char* function, const Expr& result, bool is_mask) {
  if ((Trace::current().type_of(result) == TileType::truth) == is_mask) return;
  fail<DTypeError>(function, "gives a ", is_mask ? "number" : "truth value", " instead of a ",
                   is_mask ? "truth value" : "number");
}

}  // namespace

void ScoreFunction::trace(const void* function,
                          Expr (*call)(const void*, const Expr&, const Position&)) {
  with_memory([&] {
    Trace trace;
    const Position at = traced_position(trace);
    const Expr result = call(function, trace.add(TileOp::score, TileType::real), at);
    check_result("score function", result, false);
    traced_ = std::make_shared<const TracedFunction>(trace.finish({trace.to_real(result)}));
  });
}

Expr ScoreFunction::operator()(const Expr& score, const Position& at) const {
  if (!traced_) return score;
  return with_memory([&] { return Trace::current().call(*traced_, &score, at); });
}

void MaskFunction::trace(const void* function, Expr (*call)(const void*, const Position&)) {
  with_memory([&] {
    Trace trace;
    const Expr result = call(function, traced_position(trace));
    check_result("mask function", result, true);
    traced_ = std::make_shared<const TracedFunction>(trace.finish({result}));
  });
}

Expr MaskFunction::operator()(const Position& at) const {
  if (!traced_) return true;
  return with_memory([&] { return Trace::current().call(*traced_, nullptr, at); });
}

ScoreFunction operator+(const ScoreFunction& first, const ScoreFunction& second) {
  return [&](const Expr& score, const Position& at) { return second(first(score, at), at); };
}

MaskFunction operator&&(const MaskFunction& a, const MaskFunction& b) {
  return [&](const Position& at) { return a(at) && b(at); };
}
MaskFunction operator||(const MaskFunction& a, const MaskFunction& b) {
  return [&](const Position& at) { return a(at) || b(at); };
}
MaskFunction operator!(const MaskFunction& a) {
  return [&](const Position& at) { return !a(at); };
}

}  // namespace tend::attention
