#include "tests/hostile/memory.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <sstream>

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

std::string refused_by() {
  std::ostringstream text;
  for (int i = 2; i < trace_length; ++i) {
    Dl_info info;
    if (dladdr(trace[i], &info) == 0) continue;
    const auto offset = static_cast<char*>(trace[i]) - static_cast<char*>(info.dli_fbase);
    text << std::hex << "0x" << offset << ' ';
  }
  return text.str();
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
