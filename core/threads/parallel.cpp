#include <tend/core/threads/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>
#include <tend/core/threads/cpu_limit.h>
#include <tend/core/threads/inherited.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace tend {
namespace {

thread_local bool inside_parallel = false;

// Marks this thread as inside a parallel_for.
struct ParallelSection {
  ParallelSection() { inside_parallel = true; }
  ~ParallelSection() { inside_parallel = false; }
};

// The chunks of one parallel_for, divided into runs of neighbouring chunks. Every thread begins
// with the same run in each call with the same sizes, so the core's cache may still contain the
// run's data. A thread that has finished its run continues with chunks of the other runs.
class Job {
 public:
  Job(std::int64_t begin, std::int64_t end, std::int64_t grain, detail::RangeFunction f)
      : begin_(static_cast<std::uint64_t>(begin)),
        size_(static_cast<std::uint64_t>(end) - begin_),
        grain_(static_cast<std::uint64_t>(grain)),
        f_(f),
        inherited_(detail::inherited) {}

  std::uint64_t chunks() const { return (size_ - 1) / grain_ + 1; }

  // The next chunk of a run, on a separate cache line.
  struct alignas(64) Run {
    std::atomic<std::uint64_t> next;
  };

  // Divides the chunks into runs. Must be called before the first work().
  void share(std::span<Run> runs) {
    runs_ = runs;
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].next = start_of(i);
  }

  // Processes all chunks on this thread.
  void work_alone() noexcept {
    for (std::uint64_t i = 0; i < chunks(); ++i) call(i);
  }

  // Processes chunks until there are no more, with the settings of the thread that made the job.
  void work(std::size_t participant) noexcept {
    const detail::Inherited own = std::exchange(detail::inherited, inherited_);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::size_t run = (participant + i) % runs_.size();
      const std::uint64_t stop = start_of(run + 1);
      for (;;) {
        const std::uint64_t chunk = runs_[run].next.fetch_add(1);
        if (chunk >= stop) break;
        call(chunk);
      }
    }
    detail::inherited = own;
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::uint64_t start_of(std::size_t run) const {
    const std::uint64_t each = chunks() / runs_.size(), rest = chunks() % runs_.size();
    return run * each + std::min<std::uint64_t>(run, rest);
  }

  void call(std::uint64_t chunk) noexcept {
    const std::uint64_t from = chunk * grain_, to = from + std::min(grain_, size_ - from);
    try {
      f_(static_cast<std::int64_t>(begin_ + from), static_cast<std::int64_t>(begin_ + to));
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  // Unsigned, since a range may be longer than 2^63. Unsigned sums wrap around to the right values.
  std::uint64_t begin_, size_, grain_;
  detail::RangeFunction f_;
  detail::Inherited inherited_;
  std::span<Run> runs_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

int default_threads() noexcept {
  if (const char* text = std::getenv("TEND_NUM_THREADS")) {
    int count = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, status] = std::from_chars(text, end, count);
    if (status == std::errc() && stop == end && count >= 1) return std::min(count, kMaxThreads);
  }
  return available_processors();
}

// Tells the processor that this is a waiting loop.
void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A waiting thread spins at first, because waking a sleeping thread costs both threads several
// microseconds. After kAlert it yields its core between two checks, and after kAwake it sleeps.
constexpr std::chrono::microseconds kAlert{20}, kAwake{100};

// Spins until done() is true, and returns true. Returns false after kAwake.
template <class F>
bool wait_awake(F done) {
  if (done()) return true;
  using Clock = std::chrono::steady_clock;
  constexpr int kLooks = 32;  // checks of done() between two readings of the clock
  const Clock::time_point begin = Clock::now();
  for (;;) {
    for (int i = 0; i < kLooks; ++i) {
      if (done()) return true;
      pause_briefly();
    }
    const auto waited = Clock::now() - begin;
    if (waited > kAwake) return false;
    if (waited > kAlert) std::this_thread::yield();
  }
}

// The thread team. Workers wait until a thread posts a job. The posting thread works too, and then
// waits for the workers that joined. A worker increments busy_ before it reads job_, and the poster
// clears job_ before it reads busy_. So no worker uses a job that has ended.
class Team {
 public:
  static Team& instance() {
    // Never destroyed, because a static destructor in the user's program may still compute.
    static Team& team = *new Team(default_threads());
    return team;
  }

  int size() const noexcept { return size_.load(std::memory_order_relaxed); }

  void resize(int count) {
    const std::lock_guard turn(turn_);
    stop();
    start(count);
  }

  void run(Job& job) {
    // If the team is busy, this thread processes all chunks itself instead of waiting. The chunks
    // are the same, so the results have the same bits.
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock() || workers_.empty()) {
      job.work_alone();
      return;
    }
    job.share(std::span(runs_).first(std::min(kMaxRuns, workers_.size() + 1)));
    job_ = &job;
    ++posted_;
    if (sleepers_ > 0) wake_all(wake_);
    job.work(0);
    job_ = nullptr;
    const auto idle = [this] { return busy_ == 0; };
    if (wait_awake(idle)) return;
    std::unique_lock lock(mutex_);
    poster_sleeps_ = true;
    idle_.wait(lock, idle);
    poster_sleeps_ = false;
  }

 private:
  explicit Team(int count) { start(count); }

  void start(int count) {
    stopping_ = false;
    try {
      workers_.reserve(static_cast<std::size_t>(count));
      for (int i = 1; i < count; ++i) {
        // `seen` is read here, so that the worker joins a job posted before the thread runs.
        workers_.emplace_back(
            [this, i, seen = posted_.load()] { serve(static_cast<std::size_t>(i), seen); });
      }
    } catch (const std::system_error&) {  // no more threads: use the ones that were started
    }
    size_ = static_cast<int>(workers_.size()) + 1;
  }

  void stop() {
    stopping_ = true;
    wake_all(wake_);
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  // A thread that is about to sleep holds the mutex from its last check until it sleeps. Locking
  // the mutex here waits for that, so that the thread does not miss the notification.
  void wake_all(std::condition_variable& sleepers) {
    { const std::lock_guard lock(mutex_); }
    sleepers.notify_all();
  }

  void serve(std::size_t participant, std::uint64_t seen) {
    inside_parallel = true;
    const auto called = [&] { return stopping_ || (posted_ != seen && job_ != nullptr); };
    for (;;) {
      if (!wait_awake(called)) {
        std::unique_lock lock(mutex_);
        ++sleepers_;
        wake_.wait(lock, called);
        --sleepers_;
      }
      if (stopping_) return;
      seen = posted_;
      ++busy_;
      if (Job* job = job_) job->work(participant);
      if (--busy_ == 0 && poster_sleeps_) wake_all(idle_);
    }
  }

  static constexpr std::size_t kMaxRuns = 64;

  std::array<Job::Run, kMaxRuns> runs_;  // the runs of the current job
  std::mutex turn_;                      // held during a job or a resize
  std::mutex mutex_;
  std::condition_variable wake_;  // workers sleep on it
  std::condition_variable idle_;  // the poster sleeps on it
  std::atomic<Job*> job_{nullptr};
  std::atomic<std::uint64_t> posted_{0};
  std::atomic<int> busy_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> poster_sleeps_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> size_{1};
  std::vector<std::thread> workers_;
};

}  // namespace

int num_threads() {
  return Team::instance().size();
}

void set_num_threads(int count) {
  if (count < 1 || count > kMaxThreads)
    fail("set_num_threads", "needs from 1 to ", kMaxThreads, " threads, got ", count);
  if (inside_parallel) fail("set_num_threads", "called inside a parallel_for");
  Team::instance().resize(count);
}

void detail::run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction f) {
  Job job(begin, end, std::max<std::int64_t>(grain, 1), f);
  if (inside_parallel) {
    job.work_alone();
  } else {
    const ParallelSection section;
    Team::instance().run(job);
  }
  job.rethrow();
}

}  // namespace tend
