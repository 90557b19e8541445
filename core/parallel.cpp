#include <tend/core/parallel.h>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <tend/core/error.h>

namespace tend {
namespace {

thread_local bool inside_parallel = false;

struct Job {
  std::int64_t begin, end, grain;
  detail::RangeFunction f;
  void* context;
  std::atomic<std::int64_t> next{0};
  std::mutex error_mutex;
  std::exception_ptr error;

  Job(std::int64_t from, std::int64_t to, std::int64_t chunk, detail::RangeFunction function,
      void* data)
      : begin(from), end(to), grain(chunk), f(function), context(data) {}

  void work() noexcept {
    const std::int64_t chunks = (end - begin - 1) / grain + 1;
    for (std::int64_t i = next.fetch_add(1); i < chunks; i = next.fetch_add(1)) {
      const std::int64_t from = begin + i * grain;
      try {
        f(context, from, std::min(from + grain, end));
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
};

int default_threads() noexcept {
  if (const char* text = std::getenv("TEND_NUM_THREADS")) {
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, status] = std::from_chars(text, end, count);
    if (status == std::errc() && stop == end && count >= 1) return std::min(count, 1024);
  }
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Workers sleep until a job is posted; the posting thread works too and waits for those that
// joined.
class Pool {
 public:
  static Pool& instance() {
    // Never destroyed: a static destructor of the user's may still compute.
    static Pool* pool = new Pool(default_threads());
    return *pool;
  }

  int size() const noexcept { return size_.load(std::memory_order_relaxed); }

  void resize(int count) {
    const std::lock_guard turn(turn_);
    stop();
    start(count);
  }

  void run(Job& job) {
    // A second thread that finds the pool taken does its own work: no waiting, the same chunks, the
    // same bits.
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock() || workers_.empty()) {
      job.work();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++posted_;
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    idle_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  explicit Pool(int count) { start(count); }

  void start(int count) {
    stopping_ = false;
    try {
      for (int i = 1; i < count; ++i) workers_.emplace_back([this] { serve(); });
    } catch (
        const std::system_error&) {  // the system gives no more threads: work with those there are
    }
    size_ = static_cast<int>(workers_.size()) + 1;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void serve() {
    inside_parallel = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && posted_ != seen); });
      if (stopping_) return;
      seen = posted_;
      Job* job = job_;
      ++busy_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  std::mutex turn_;   // one job, or one resize, at a time
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* job_ = nullptr;
  std::uint64_t posted_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::atomic<int> size_{1};
  std::vector<std::thread> workers_;
};

}  // namespace

int num_threads() noexcept {
  return Pool::instance().size();
}

void set_num_threads(int count) {
  if (count < 1) fail("set_num_threads", "needs at least 1, got ", count);
  Pool::instance().resize(count);
}

void detail::run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction f,
                        void* context) {
  Job job(begin, end, std::max<std::int64_t>(grain, 1), f, context);
  if (inside_parallel) {
    job.work();
  } else {
    inside_parallel = true;
    Pool::instance().run(job);
    inside_parallel = false;
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace tend
