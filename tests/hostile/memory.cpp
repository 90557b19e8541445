#include "tests/hostile/memory.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <vector>

namespace tend::test {
namespace {

struct Limits {
  bool armed = false;
  bool once = false;
  bool refusing = false;
  std::int64_t left = 0;  // requests until one fails
  std::int64_t made = 0;
  std::size_t refused_bytes = 0;  // of a block whose request may be repeated
};
constinit thread_local Limits limits;
constinit std::size_t most_bytes = 0;

constinit void* trace[48] = {};
constinit int trace_length = 0;
constinit int refusals = 0;  // so far

bool refuses(std::size_t bytes, bool block) noexcept {
  if (most_bytes != 0 && bytes > most_bytes) return true;
  if (!limits.armed) return false;
  if (limits.refusing && !limits.once) return true;
  if (block && limits.refused_bytes == bytes) {  // the repetition
    limits.refused_bytes = 0;
    return true;
  }
  ++limits.made;
  if (limits.refusing || --limits.left > 0) return false;
  limits.refusing = true;
  if (block) limits.refused_bytes = bytes;
  limits.armed = false;
  ++refusals;
  trace_length = backtrace(trace, static_cast<int>(std::size(trace)));
  limits.armed = true;
  return true;
}

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (refuses(bytes, false)) return nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  return alignment <= alignof(std::max_align_t) ? std::malloc(bytes) : memalign(alignment, bytes);
}

void* take_or_throw(std::size_t bytes, std::size_t alignment = 1) {
  void* block = take(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

// The program's functions by address, from its own file: local ones too.
struct Symbol {
  std::uintptr_t begin, end;
  std::string name;
};

std::vector<Symbol> read_symbols() {
  // Mapped rather than read: with sanitizers the file is larger than a request may be here.
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return {};
  void* const mapped =
      mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return {};
  const char* const bytes = static_cast<const char*>(mapped);  // for as long as the program runs
  const auto at = [&]<class T>(T, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes + offset, sizeof(T));
    return value;
  };
  const auto header = at(Elf64_Ehdr(), 0);
  std::vector<Symbol> symbols;
  for (std::size_t s = 0; s < header.e_shnum; ++s) {
    const auto section = at(Elf64_Shdr(), header.e_shoff + s * std::uint64_t{header.e_shentsize});
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto names =
        at(Elf64_Shdr(), header.e_shoff + section.sh_link * std::uint64_t{header.e_shentsize});
    for (std::size_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at(Elf64_Sym(), section.sh_offset + i * sizeof(Elf64_Sym));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0) continue;
      symbols.push_back({symbol.st_value, symbol.st_value + symbol.st_size,
                         bytes + names.sh_offset + symbol.st_name});
    }
  }
  std::sort(symbols.begin(), symbols.end(),
            [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return symbols;
}

std::string function_at(void* address) {
  static const std::vector<Symbol> symbols = read_symbols();
  Dl_info info;
  if (dladdr(address, &info) == 0) return {};
  auto place = reinterpret_cast<std::uintptr_t>(address) - 1;
  if (symbols.empty()) return {};
  if (symbols.front().begin < reinterpret_cast<std::uintptr_t>(info.dli_fbase))
    place -= reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  auto next = std::upper_bound(symbols.begin(), symbols.end(), place,
                               [](std::uintptr_t p, const Symbol& s) { return p < s.begin; });
  if (next == symbols.begin() || (--next)->end <= place) return {};
  int status = 0;
  char* text = abi::__cxa_demangle(next->name.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : next->name;
  std::free(text);
  return name;
}

// The functions behind the latest refused request, the innermost first, without those that only
// pass it on.
const std::vector<std::string>& callers() {
  static std::vector<std::string> names;
  static int named = -1;
  if (named == refusals) return names;
  named = refusals;
  names.clear();
  for (int i = 0; i < trace_length; ++i) {
    const std::string name = function_at(trace[i]);
    const std::string start = name.substr(0, name.find('<'));
    if (name.empty() || start.find("std::") != std::string::npos ||
        start.find("__gnu_cxx") != std::string::npos || start.starts_with("operator new") ||
        start.find("tend::test::(anonymous namespace)::take") != std::string::npos ||
        start.find("tend::test::(anonymous namespace)::refuses") != std::string::npos ||
        start.starts_with("posix_memalign"))
      continue;
    names.push_back(name.substr(0, 120));
  }
  return names;
}

}  // namespace

void limit_requests(std::size_t bytes) noexcept {
  most_bytes = bytes;
}

RefusedRequest::RefusedRequest(std::int64_t n, bool once) noexcept {
  static const int loaded = backtrace(trace, 1);  // its first call takes memory
  static_cast<void>(loaded);
  limits = {.armed = true, .once = once, .left = n};
}

RefusedRequest::~RefusedRequest() {
  stop();
}

bool RefusedRequest::stop() noexcept {
  if (limits.armed) {
    requests_ = limits.made;
    refused_ = limits.refusing;
    limits = {};
  }
  return refused_;
}

bool refused_in_library() {
  for (const std::string& name : callers()) {
    if (name.starts_with("tend::NestedNumbers")) continue;  // the caller makes them of braces
    // A TensorFunction puts what the test's function gives into a list.
    if (name.find("tend::test") != std::string::npos || name.starts_with("tend::TensorFunction"))
      return false;
    if (name.find("tend::") != std::string::npos) return true;
  }
  return false;
}

std::string refused_by() {
  std::string text;
  int taken = 0;
  for (const std::string& name : callers()) {
    if (taken == 4 || name.find("tend::test") != std::string::npos) break;
    text += (taken++ > 0 ? " < " : "") + name;
  }
  return text.empty() ? "the test" : text;
}

}  // namespace tend::test

using tend::test::take;
using tend::test::take_or_throw;

// The pool's request for blocks. Defined here it stands before the C library's and the sanitizers'.
extern "C" int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (tend::test::refuses(bytes, true)) return ENOMEM;
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

void* operator new(std::size_t bytes) {
  return take_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return take_or_throw(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return take_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes, 1);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes, 1);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  std::free(block);
}
