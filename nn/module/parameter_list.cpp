#include <tend/nn/module/parameter_list.h>

namespace tend::nn {

ParameterList ParameterList::clone() const {
  ParameterList copy = *this;
  copy.own_tensors();
  return copy;
}

std::string ParameterList::extra_repr() const {
  std::string text;
  for (std::size_t i = 0; i < size(); ++i) {
    const Parameter& each = parameters_[i];
    text += as_text(i == 0 ? "" : "\n", "  (", i, "): Parameter containing: [");
    if (!each.defined()) {
      text += "None]";
      continue;
    }
    text += as_text("torch.", each.dtype(), " of size ");
    for (std::int64_t d = 0; d < each.dim(); ++d) text += as_text(d == 0 ? "" : "x", each.size(d));
    text += ']';
  }
  return text;
}

std::size_t ParameterList::checked(std::int64_t i) const {
  return checked_index("ParameterList", i, size());
}

void ParameterList::each_tensor(FunctionRef<void(const OwnTensor&)> f) {
  ModuleBase::each_tensor(f);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    f({std::to_string(i), MemberKind::parameter, true, parameters_[i]});
}

}  // namespace tend::nn
