#include <tend/nn/data/workers.h>

#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/threads/inherited.h>

namespace tend::data::detail {
namespace {

template <class Kind>
void rethrow_as(const std::exception& error, const std::string& text) {
  if (dynamic_cast<const Kind*>(&error) != nullptr) std::throw_with_nested(Kind(text));
}

}  // namespace

struct Workers::Threads {
  std::vector<std::thread> all;
};

Workers::Workers(std::int64_t count, std::function<void(std::uint64_t)> run)
    : run_(std::move(run)), threads_(std::make_unique<Threads>()) {
  std::vector<std::thread>& threads = threads_->all;
  threads.reserve(static_cast<std::size_t>(count));
  const tend::detail::Inherited settings = tend::detail::inherited;
  try {
    while (static_cast<std::int64_t>(threads.size()) < count) {
      threads.emplace_back([this, settings] {
        tend::detail::inherited = settings;
        serve();
      });
    }
  } catch (const std::system_error&) {
    // The system has no more threads: those that started do the work, or the caller alone.
  }
}

Workers::~Workers() {
  stopping_ = true;
  calls_.fetch_add(1);
  calls_.notify_all();
  for (std::thread& thread : threads_->all) thread.join();
}

void Workers::publish() noexcept {
  published_.fetch_add(1);
  calls_.fetch_add(1);
  calls_.notify_one();
}

bool Workers::are_here() const noexcept {
  return !threads_->all.empty();
}

void Workers::serve() {
  for (;;) {
    // Read before looking for work: a call that comes after the look ends the wait.
    const std::uint32_t calls = calls_.load();
    if (stopping_) return;
    std::uint64_t job = taken_.load();
    if (job == published_.load()) {
      calls_.wait(calls);
    } else if (taken_.compare_exchange_strong(job, job + 1)) {
      run_(job);
    }
  }
}

void fail_at(std::int64_t batch, std::optional<std::int64_t> index, const std::exception& error) {
  if (dynamic_cast<const OutOfMemoryError*>(&error) != nullptr) throw;
  const std::string text =
      index ? as_text("[DataLoader] batch ", batch, ", index ", *index, ": ", error.what())
            : as_text("[DataLoader] batch ", batch, ": ", error.what());
  rethrow_as<ShapeError>(error, text);
  rethrow_as<DTypeError>(error, text);
  rethrow_as<IndexError>(error, text);
  rethrow_as<AutogradError>(error, text);
  rethrow_as<IoError>(error, text);
  std::throw_with_nested(Error(text));
}

}  // namespace tend::data::detail
