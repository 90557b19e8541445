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

void check_position(const char* function, const Trace& trace, const Position& at) {
  for (const Expr* each : {&at.batch, &at.head, &at.query, &at.key}) {
    if (trace.type_of(*each) == TileType::index) continue;
    fail<DTypeError>(function, "is given a position that is not an index");
  }
}

}  // namespace

void ScoreFunction::trace(const void* function,
                          Expr (*call)(const void*, const Expr&, const Position&)) {
  Trace trace;
  const Position at = traced_position(trace);
  const Expr result = call(function, trace.add(TileOp::score, TileType::real), at);
  check_result("score function", result, false);
  traced_ = std::make_shared<const TracedFunction>(trace.finish_pruned({trace.to_real(result)}));
}

Expr ScoreFunction::operator()(const Expr& score, const Position& at) const {
  Trace& trace = Trace::current();
  check_position("score function", trace, at);
  if (trace.type_of(score) == TileType::truth) {
    fail<DTypeError>("score function", "is given a truth value instead of a score");
  }
  const Expr real = trace.to_real(score);
  return traced_ ? trace.call(*traced_, &real, at) : real;
}

void MaskFunction::trace(const void* function, Expr (*call)(const void*, const Position&)) {
  Trace trace;
  const Expr result = call(function, traced_position(trace));
  check_result("mask function", result, true);
  traced_ = std::make_shared<const TracedFunction>(trace.finish_pruned({result}));
}

Expr MaskFunction::operator()(const Position& at) const {
  Trace& trace = Trace::current();
  check_position("mask function", trace, at);
  return traced_ ? trace.call(*traced_, nullptr, at) : Expr(true);
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

ScoreFunction with_offset(const ScoreFunction& function, std::int64_t offset) {
  return [&](const Expr& score, const Position& at) {
    return function(score, {at.batch, at.head, at.query + offset, at.key});
  };
}
MaskFunction with_offset(const MaskFunction& function, std::int64_t offset) {
  return [&](const Position& at) {
    return function({at.batch, at.head, at.query + offset, at.key});
  };
}

}  // namespace tend::attention
