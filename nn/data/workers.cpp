#include <tend/nn/data/workers.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/threads/inherited.h>

namespace tend::data::detail {
namespace {

template <class... Kinds>
void rethrow_as(const std::exception& error, const std::string& text) {
  ((dynamic_cast<const Kinds*>(&error) != nullptr ? std::throw_with_nested(Kinds(text)) : void()),
   ...);
}

}  // namespace

struct Workers::Threads {
  std::mutex mutex;  // protects the jobs and the flag
  std::condition_variable added_or_stopping;
  std::deque<std::function<void()>> jobs;
  bool is_stopping = false;
  std::vector<std::thread> all;

  ~Threads() {
    {
      const std::lock_guard lock(mutex);
      is_stopping = true;
    }
    added_or_stopping.notify_all();
    for (std::thread& thread : all) thread.join();
  }

  void run_jobs() {
    for (;;) {
      std::unique_lock lock(mutex);
      added_or_stopping.wait(lock, [&] { return is_stopping || !jobs.empty(); });
      if (is_stopping) return;
      const std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
    }
  }
};

Workers::Workers(std::int64_t count) : threads_(std::make_unique<Threads>()) {
  const tend::detail::Inherited settings = tend::detail::inherited;
  while (std::ssize(threads_->all) < count) {
    threads_->all.emplace_back([threads = threads_.get(), settings] {
      tend::detail::inherited = settings;
      threads->run_jobs();
    });
  }
}

Workers::~Workers() = default;

void Workers::add(std::function<void()> job) {
  {
    const std::lock_guard lock(threads_->mutex);
    threads_->jobs.push_back(std::move(job));
  }
  threads_->added_or_stopping.notify_one();
}

void fail_at(std::int64_t batch, std::optional<std::int64_t> index, const std::exception& error) {
  const std::string at_index = index ? as_text(", index ", *index) : "";
  const std::string text = as_text("[DataLoader] batch ", batch, at_index, ": ", error.what());
  rethrow_as<ShapeError, DTypeError, IndexError, AutogradError, IoError, OutOfMemoryError>(error,
                                                                                           text);
  std::throw_with_nested(Error(text));
}

}  // namespace tend::data::detail
