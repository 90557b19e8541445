// The memory of the test program: every request passes here, and can be refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tend::test {

/// Requests of more bytes than this are refused from now on; 0 takes the limit away.
void limit_requests(std::size_t bytes) noexcept;

/// While it lives, the n-th request (1 is the next) of this thread fails. `once`: that one alone,
/// and its repetition, which tend's pool makes after it has emptied its cache. Otherwise all that
/// follow fail, too.
class RefusedRequest {
 public:
  RefusedRequest(std::int64_t n, bool once) noexcept;
  ~RefusedRequest();
  RefusedRequest(const RefusedRequest&) = delete;
  RefusedRequest& operator=(const RefusedRequest&) = delete;

  /// Takes the refusal back before the end of its life; true when the request came.
  bool stop() noexcept;
  /// How many requests came.
  std::int64_t requests() const noexcept { return requests_; }

 private:
  std::int64_t requests_ = 0;
  bool refused_ = false;
};

/// The functions of the library that led to the latest refused request, the innermost first.
std::string refused_by();
/// Whether it was the library that asked, and not the test.
bool refused_in_library();

}  // namespace tend::test
