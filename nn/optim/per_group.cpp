#include <tend/nn/optim/per_group.h>

#include <tend/core/base/error.h>

namespace tend::optim {

double PerGroup::of(std::size_t group) const {
  if (!numbers_) return number_;
  if (group >= numbers_->size())
    fail<IndexError>("PerGroup", "group ", group, " is not one of ", numbers_->size());
  return (*numbers_)[group];
}

void PerGroup::check(const char* operation, const char* setting, std::size_t groups) const {
  if (numbers_ && numbers_->size() != groups)
    fail(operation, numbers_->size(), " values of ", setting, " for ", groups, " groups");
}

}  // namespace tend::optim
