#include <tend/core/base/stack.h>

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <tend/core/base/error.h>

#if defined(__SANITIZE_ADDRESS__)
#define TEND_ASAN_FIBERS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEND_ASAN_FIBERS
#endif
#if __has_feature(thread_sanitizer)
#define TEND_TSAN_FIBERS
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TEND_TSAN_FIBERS
#endif

#if defined(TEND_ASAN_FIBERS)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TEND_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif

namespace tend {
namespace {

// Bytes that must be left on the current stack for a call to run there.
constexpr std::size_t kReserve = std::size_t{512} << 10;
// Size of an added stack segment, and the maximum number of segments for one thread.
constexpr std::size_t kSegment = std::size_t{16} << 20;
constexpr int kMaxSegments = 64;
constexpr std::size_t kGuard = std::size_t{64} << 10;  // a multiple of every page size

struct Stack {
  std::uintptr_t lowest = 0;  // lowest address of the stack; 0: not known yet
  int segments = 0;           // added so far
};
constinit thread_local Stack stack;

std::uintptr_t address_of_frame() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// The lowest address of the stack that the thread was started with; 0 if the system does not say.
std::uintptr_t end_of_thread_stack() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
}

// Memory for a stack, with guard pages below it.
class Segment {
 public:
  explicit Segment(const char* operation) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    memory_ = mmap(nullptr, kSegment, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory_ == MAP_FAILED || mprotect(memory_, kGuard, PROT_NONE) != 0) {
      if (memory_ != MAP_FAILED) munmap(memory_, kSegment);
      fail<OutOfMemoryError>(operation, "the system did not give ", kSegment,
                             " bytes more for nested calls");
    }
  }
  ~Segment() { munmap(memory_, kSegment); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(memory_) + kGuard; }
  static constexpr std::size_t kBytes = kSegment - kGuard;

 private:
  void* memory_;
};

// Tells the sanitizers which stack the thread is on.
class Sanitizers {
 public:
#if defined(TEND_TSAN_FIBERS)
  Sanitizers() : own_(__tsan_get_current_fiber()), added_(__tsan_create_fiber(0)) {}
  ~Sanitizers() {
    __tsan_destroy_fiber(added_);
  }
#endif

  void before_leaving([[maybe_unused]] const Segment& segment) {
#if defined(TEND_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(&frames_, segment.data(), Segment::kBytes);
#endif
#if defined(TEND_TSAN_FIBERS)
    __tsan_switch_to_fiber(added_, 0);
#endif
  }
  void after_arriving() {
#if defined(TEND_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(nullptr, &lowest_, &bytes_);
#endif
  }
  void before_returning() {
#if defined(TEND_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(nullptr, lowest_, bytes_);
#endif
#if defined(TEND_TSAN_FIBERS)
    __tsan_switch_to_fiber(own_, 0);
#endif
  }
  void after_returning() {
#if defined(TEND_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(frames_, nullptr, nullptr);
#endif
  }

 private:
#if defined(TEND_ASAN_FIBERS)
  void* frames_ = nullptr;
  const void* lowest_ = nullptr;
  std::size_t bytes_ = 0;
#endif
#if defined(TEND_TSAN_FIBERS)
  void* own_;
  void* added_;
#endif
};

// A call that runs on a segment, and the context to return to.
struct Call {
  void (*f)(void*);
  void* context;
  std::exception_ptr error;
  ucontext_t caller, callee;
  Sanitizers sanitizers;
};
constinit thread_local Call* starting = nullptr;

// The first function on a segment. Exceptions cannot cross from one stack to another, so they are
// stored in the Call and rethrown by the caller.
void run_starting_call() {
  Call& call = *starting;
  call.sanitizers.after_arriving();
  try {
    call.f(call.context);
  } catch (...) {
    call.error = std::current_exception();
  }
  call.sanitizers.before_returning();
  setcontext(&call.caller);
}

}  // namespace

bool detail::has_stack() noexcept {
  if (stack.lowest == 0) stack.lowest = end_of_thread_stack();
  if (stack.lowest == 0) return true;  // unknown; the next call asks the system again
  return address_of_frame() - stack.lowest > kReserve;
}

void detail::call_on_new_stack(const char* operation, void (*f)(void*), void* context) {
  if (stack.segments == kMaxSegments) {
    fail(operation, "calls are nested too deep: they need more than ",
         (kMaxSegments * kSegment) >> 20, " MiB of stack");
  }
  const Segment segment(operation);
  Call call{f, context, {}, {}, {}, {}};
  getcontext(&call.callee);
  call.callee.uc_stack.ss_sp = segment.data();
  call.callee.uc_stack.ss_size = Segment::kBytes;
  call.callee.uc_link = nullptr;
  makecontext(&call.callee, run_starting_call, 0);
  const Stack before =
      std::exchange(stack, {reinterpret_cast<std::uintptr_t>(segment.data()), stack.segments + 1});
  starting = &call;
  call.sanitizers.before_leaving(segment);
  swapcontext(&call.caller, &call.callee);
  starting = nullptr;
  call.sanitizers.after_returning();
  stack = before;
  if (call.error) std::rethrow_exception(std::move(call.error));
}

}  // namespace tend
