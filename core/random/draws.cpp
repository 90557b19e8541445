#include <tend/core/random/draws.h>

#include <new>
#include <utility>

#include <tend/core/base/error.h>

namespace tend {
namespace {

constinit thread_local DrawRecording* recording = nullptr;
constinit thread_local DrawReplay* replaying = nullptr;

// How often threads have drawn from the generator of all threads, whose lock guards it.
constinit std::uint64_t shared_draws = 0;
// Those of this thread.
constinit thread_local std::uint64_t own_draws = 0;

}  // namespace

DrawRecord::DrawRecord() {
  const GeneratorLock lock(default_generator());
  stretches_.push_back({0, default_generator()});
  last_number_ = replaying != nullptr ? replaying->number_ : shared_draws;
}

void DrawRecord::note(std::uint64_t number, const Generator& generator) noexcept {
  if (number != last_number_ + 1) {
    stretches_.push_back({draws_, generator});
  }
  last_number_ = number;
  ++draws_;
}

DrawRecording::DrawRecording(DrawRecord& record) noexcept
    : record_(record), outer_(std::exchange(recording, this)) {}

DrawRecording::~DrawRecording() {
  recording = outer_;
}

void DrawRecording::note_draw(const Generator& shared) noexcept {
  ++own_draws;
  tell_all(++shared_draws, shared);
}

void DrawRecording::tell_all(std::uint64_t number, const Generator& generator) noexcept {
  for (DrawRecording* each = recording; each != nullptr; each = each->outer_)
    each->record_.note(number, generator);
}

DrawReplay::DrawReplay(const DrawRecord& record)
    : record_(record), generator_(record.stretches_[0].before) {
  outer_ = std::exchange(replaying, this);
  // What a function draws when it runs again is not drawn by those that this thread is recording.
  recording_outside_ = std::exchange(recording, nullptr);
}

DrawReplay::~DrawReplay() {
  replaying = outer_;
  recording = recording_outside_;
}

DrawReplay* DrawReplay::innermost() noexcept {
  return replaying;
}

std::uint64_t draws_of_others() noexcept {
  return replaying != nullptr ? replaying->draws_of_others() : shared_draws - own_draws;
}

void DrawReplay::lock() noexcept {
  if (locks_ > 0) {
    ++locks_;
    return;
  }
  const auto& stretches = record_.stretches_;
  if (next_stretch_ < stretches.size() && stretches[next_stretch_].first_draw == draws_) {
    generator_ = stretches[next_stretch_++].before;
    ++number_;  // for the draws of others in between, so that a record notes a new state, too
  }
  ++draws_;
  DrawRecording::tell_all(++number_, generator_);
  ++locks_;
}

void DrawReplay::unlock() noexcept {
  --locks_;
}

void DrawReplay::lock(Generator& shared) noexcept {
  lock();
  if (shared_locks_++ == 0) std::swap(generator_, shared);
}

void DrawReplay::unlock(Generator& shared) noexcept {
  if (--shared_locks_ == 0) std::swap(generator_, shared);
  unlock();
}

}  // namespace tend
