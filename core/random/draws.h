// What a function draws from the default generator, so that it can draw the same numbers again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tend/core/random/random.h>

namespace tend {

/// The states of the default generator that a function met. It is one, unless other threads draw
/// while the function runs: then there is another for each time that they came in between.
class DrawRecord {
 public:
  /// Begins with the state that the default generator has now.
  DrawRecord();

 private:
  friend class DrawRecording;
  friend class DrawReplay;

  struct Stretch {
    std::uint64_t first_draw;  // of the function's draws, counted from 0
    Generator before;          // the state that this draw met
  };

  void note(std::uint64_t number, const Generator& generator) noexcept;

  std::vector<Stretch> stretches_;
  std::uint64_t draws_ = 0;
  std::uint64_t last_number_;  // of the function's last draw, in the count that the lock keeps
};

/// While it lives, what this thread draws from the default generator goes on `record`.
class DrawRecording {
 public:
  explicit DrawRecording(DrawRecord& record) noexcept;
  ~DrawRecording();
  DrawRecording(const DrawRecording&) = delete;
  DrawRecording& operator=(const DrawRecording&) = delete;

  /// Tells all recordings of this thread that it is about to draw from the generator of all
  /// threads. The caller has the lock of that.
  static void note_draw(const Generator& shared) noexcept;

 private:
  friend class DrawReplay;

  static void tell_all(std::uint64_t number, const Generator& generator) noexcept;

  DrawRecord& record_;
  DrawRecording* outer_;
};

/// While it lives, this thread has a default generator of its own, which gives the numbers that
/// were drawn while `record` was written. Other threads, and what this one draws later, do not
/// notice.
class DrawReplay {
 public:
  explicit DrawReplay(const DrawRecord& record);
  ~DrawReplay();
  DrawReplay(const DrawReplay&) = delete;
  DrawReplay& operator=(const DrawReplay&) = delete;

  /// That of this thread which began last; nullptr where there is none.
  static DrawReplay* innermost() noexcept;

  Generator& generator() noexcept { return generator_; }
  /// How often others had used the generator up to here while the record was written.
  std::uint64_t draws_of_others() const noexcept { return number_ - draws_; }

  ///@{ What a GeneratorLock does meanwhile. One that names the generator of all threads, `shared`,
  /// which the caller has locked, has it draw from the record's states.
  void lock() noexcept;
  void unlock() noexcept;
  void lock(Generator& shared) noexcept;
  void unlock(Generator& shared) noexcept;
  ///@}

 private:
  friend class DrawRecord;

  const DrawRecord& record_;
  Generator generator_;
  std::uint64_t draws_ = 0;
  std::uint64_t number_ = 0;  // as DrawRecording::note_draw counts them
  std::size_t next_stretch_ = 1;
  int locks_ = 0;
  int shared_locks_ = 0;
  DrawReplay* outer_ = nullptr;
  DrawRecording* recording_outside_ = nullptr;
};

/// How often other threads than this one have used the default generator: to draw, to seed, or to
/// read its state; in a replay, how often they did while the record was written. Only a difference
/// of two says something; the caller has a GeneratorLock of the default generator.
std::uint64_t draws_of_others() noexcept;

}  // namespace tend
