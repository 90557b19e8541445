// Which sanitizer the tests are built with.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define TEND_TEST_TSAN true
#elif defined(__SANITIZE_ADDRESS__)
#define TEND_TEST_ASAN true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEND_TEST_TSAN true
#elif __has_feature(address_sanitizer)
#define TEND_TEST_ASAN true
#endif
#endif

#ifndef TEND_TEST_TSAN
#define TEND_TEST_TSAN false
#endif
#ifndef TEND_TEST_ASAN
#define TEND_TEST_ASAN false
#endif

namespace tend::test {

/// How deeply tests nest calls. The thread sanitizer needs gigabytes for thousands of nested calls.
inline constexpr int kDepth = TEND_TEST_TSAN ? 500 : 10'000;

}  // namespace tend::test
