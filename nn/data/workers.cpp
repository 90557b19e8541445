#include <tend/nn/data/workers.h>

#include <condition_variable>
#include <mutex>
#include <set>
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
  std::mutex mutex;  // of what follows
  std::condition_variable published_or_stopping, finished;
  std::uint64_t published = 0, taken = 0;  // jobs
  std::set<std::uint64_t> done;            // and not waited for yet
  bool is_stopping = false;

  std::vector<std::thread> all;

  void serve(const std::function<void(std::uint64_t)>& run) {
    std::unique_lock lock(mutex);
    for (;;) {
      published_or_stopping.wait(lock, [&] { return is_stopping || taken < published; });
      if (is_stopping) return;
      const std::uint64_t job = taken++;
      lock.unlock();
      run(job);
      lock.lock();
      done.insert(job);
      finished.notify_one();
    }
  }
};

Workers::Workers(std::int64_t count, std::function<void(std::uint64_t)> run)
    : run_(std::move(run)), threads_(std::make_unique<Threads>()) {
  const tend::detail::Inherited settings = tend::detail::inherited;
  try {
    while (std::ssize(threads_->all) < count) {
      threads_->all.emplace_back([this, settings] {
        tend::detail::inherited = settings;
        threads_->serve(run_);
      });
    }
  } catch (const std::system_error&) {
    // The system has no more threads: those that started do the work, or the caller.
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(threads_->mutex);
    threads_->is_stopping = true;
  }
  threads_->published_or_stopping.notify_all();
  for (std::thread& thread : threads_->all) thread.join();
}

bool Workers::has_threads() const noexcept {
  return !threads_->all.empty();
}

void Workers::publish() {
  {
    const std::lock_guard lock(threads_->mutex);
    ++threads_->published;
  }
  threads_->published_or_stopping.notify_one();
}

void Workers::wait_for(std::uint64_t job) {
  if (!has_threads()) return run_(job);
  std::unique_lock lock(threads_->mutex);
  threads_->finished.wait(lock, [&] { return threads_->done.erase(job) == 1; });
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
