#include <tend/core/base/type_name.h>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include <tend/core/base/error.h>

namespace tend {

namespace {

std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : type.name();
  name = name.substr(0, name.find('<'));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

std::string type_name(const std::type_info& type) {
  return readable_name(type);
}

}  // namespace tend
