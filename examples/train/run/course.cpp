#include "examples/train/run/course.h"

#include <iostream>

namespace train {

namespace {

/// A message without the name of its operation.
std::string reason(const std::string& message) {
  return message.substr(message.find(' ') + 1);
}

}  // namespace

Course train_to_end(Training& training) {
  Course course;
  training.remember();
  for (bool is_over = false; !is_over;) {
    const std::uint64_t before = training.steps_done();
    try {
      training.trainer.run();
      is_over = true;
    } catch (const tend::IoError& error) {
      std::cerr << "train: " << error.what() << '\n';
      course.is_saved = false;
      // After the last step the other processes no longer answer.
      is_over = training.is_over() || training.steps_done() == before;
    } catch (const tend::nn::NotFiniteError& error) {
      course.failure = reason(error.what()) + "; a lower --rate may help";
      course.history = training.history;
      training.put_back();
      return course;
    }
  }
  course.history = training.history;
  return course;
}

}  // namespace train
