// Writing files through links and to pipes, with other writers and killed processes.

#include <tend/nn/files/write_file.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tend/core/base/error.h>

#include "tests/catch.h"
#include "tests/end_child.h"
#include "tests/examples/process.h"

using Catch::Matchers::ContainsSubstring;
using tend::IoError;
using tend::nn::append_file;
using tend::nn::check_can_write;
using tend::nn::PutBytes;
using tend::nn::remove_leftovers;
using tend::nn::write_file;
using tend::nn::write_file_at;
using tend::test::content;
using tend::test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

std::ptrdiff_t count_files(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

::mode_t mode(const std::string& path) {
  struct ::stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// Each test file has one letter many times. A file that is not whole has another length, or two
/// letters.
constexpr std::size_t kLetters = 300'000;

bool is_whole(const std::string& text) {
  return text.size() == kLetters && text.find_first_not_of(text.front()) == std::string::npos;
}

void put_letters(const PutBytes& put, char letter) {
  const std::string part(kLetters / 100, letter);
  for (int i = 0; i < 100; ++i) put(part.data(), part.size());
}

/// Starts a child process that runs f and ends.
template <class F>
::pid_t start(F f) {
  const ::pid_t id = ::fork();
  REQUIRE(id >= 0);
  if (id == 0) {
    try {
      f();
    } catch (...) {
      tend::test::end_child(1);
    }
    tend::test::end_child(0);
  }
  return id;
}

int wait_for(::pid_t id) {
  int status = 0;
  ::waitpid(id, &status, 0);
  return status;
}

/// A child process that has written its letters to a file but does not complete the write until
/// finish() is called.
class Writer {
 public:
  Writer(const std::string& path, char letter) {
    int up[2], down[2];
    REQUIRE((::pipe(up) == 0 && ::pipe(down) == 0));
    id_ = start([&] {
      char byte = 0;
      write_file(path, [&](const PutBytes& put) {
        put_letters(put, letter);
        if (::write(up[1], &byte, 1) != 1 || ::read(down[0], &byte, 1) != 1)
          throw std::runtime_error("no pipe");
      });
    });
    char byte = 0;
    REQUIRE(::read(up[0], &byte, 1) == 1);
    for (const int end : {up[0], up[1], down[0]}) ::close(end);
    to_writer_ = down[1];
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { ::close(to_writer_); }

  void kill() const {
    ::kill(id_, SIGKILL);
    CHECK(WIFSIGNALED(wait_for(id_)));
  }
  void finish() const {
    REQUIRE(::write(to_writer_, "", 1) == 1);
    CHECK(wait_for(id_) == 0);
  }

 private:
  ::pid_t id_ = -1;
  int to_writer_ = -1;
};

}  // namespace

TEST_CASE("writing follows links, and the links stay") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("inner"));
  std::ofstream(folder.file("inner/a")) << "old";
  fs::create_symlink("inner/a", folder.file("link"));
  fs::create_symlink(folder.file("link"), folder.file("second"));
  write_file(folder.file("second"), "new");
  CHECK(content(folder.file("inner/a")) == "new");
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(fs::is_symlink(folder.file("second")));
  CHECK_FALSE(fs::is_symlink(folder.file("inner/a")));

  fs::create_symlink("inner/b", folder.file("dangling"));
  write_file(folder.file("dangling"), "made");
  CHECK(content(folder.file("inner/b")) == "made");
  CHECK(fs::is_symlink(folder.file("dangling")));

  fs::create_symlink("round", folder.file("about"));
  fs::create_symlink("about", folder.file("round"));
  CHECK_THROWS_AS(write_file(folder.file("round"), "x"), IoError);
  CHECK_THROWS_AS(check_can_write(folder.file("round")), IoError);
}

TEST_CASE("a file keeps its mode, and a new file gets the mode that the umask allows") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  const ::mode_t before = ::umask(027);
  write_file(path, "new");
  ::umask(before);
  CHECK(mode(path) == 0640);
  for (const ::mode_t kept : {0600U, 0444U, 0755U}) {
    REQUIRE(::chmod(path.c_str(), kept) == 0);
    write_file(path, "next");
    CHECK(mode(path) == kept);
  }
}

TEST_CASE("a pipe is written into and stays a pipe") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_NOTHROW(check_can_write(path));
  CHECK_THROWS_WITH(write_file_at(
                        path, [](const auto&) {}, "test"),
                    ContainsSubstring("[test] cannot write ") &&
                        ContainsSubstring("pipe: is not a regular file"));
  std::string text;
  std::thread reader([&] { text = content(path); });
  write_file(path, [](const PutBytes& put) { put_letters(put, 'p'); });
  reader.join();
  CHECK(is_whole(text));
  CHECK(fs::is_fifo(path));
  CHECK(count_files(folder) == 1);
}

TEST_CASE("append_file writes a text after the end of a file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log");
  append_file(path, "one\n");
  append_file(path, "two\n");
  CHECK(content(path) == "one\ntwo\n");
  CHECK_THROWS_WITH(append_file(folder.file("no/such/folder"), "text", "test"),
                    ContainsSubstring("[test] cannot write"));
}

TEST_CASE("check_can_write detects that a write would fail, and a failed write changes nothing") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "kept";
  const std::string longest = folder.file(std::string(256, 'n'));
  for (const std::string& path : {folder.file("no/such/folder"), folder.file("file/x"),
                                  folder.path(), folder.file("file/"), std::string(), longest}) {
    INFO(path);
    CHECK_THROWS_AS(check_can_write(path), IoError);
    CHECK_THROWS_AS(write_file(path, "x"), IoError);
  }
  CHECK_THROWS_WITH(
      write_file(folder.file("file/x"), "x", "save"),
      ContainsSubstring("[save] cannot write ") && ContainsSubstring("file/x: Not a directory"));
  const auto failing = [](const PutBytes& put) {
    put("half", 4);
    throw std::runtime_error("no more");
  };
  CHECK_THROWS_WITH(write_file(folder.file("file"), failing), "no more");
  CHECK(content(folder.file("file")) == "kept");
  CHECK(count_files(folder) == 1);
  CHECK_NOTHROW(check_can_write(folder.file("file")));
  CHECK_NOTHROW(check_can_write(folder.file("new")));
}

TEST_CASE("several threads can write one path, and the file is always whole") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_file(path, [](const PutBytes& put) { put_letters(put, '0'); });
  std::atomic<int> failed{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) failed += is_whole(content(path)) ? 0 : 1;
  });
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i) {
        try {
          write_file(path, [&](const PutBytes& put) { put_letters(put, letter); });
        } catch (const tend::Error&) {
          ++failed;
        }
      }
    });
  }
  for (std::thread& each : writers) each.join();
  done = true;
  reader.join();
  CHECK(failed == 0);
  CHECK(is_whole(content(path)));
  CHECK(count_files(folder) == 1);
}

TEST_CASE("several processes can write one path, and the file is always whole") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  std::vector<::pid_t> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.push_back(start([&] {
      for (int i = 0; i < 20; ++i) {
        write_file(path, [&](const PutBytes& put) { put_letters(put, letter); });
        if (!is_whole(content(path))) throw std::runtime_error("half a file");
      }
    }));
  }
  for (const ::pid_t writer : writers) CHECK(wait_for(writer) == 0);
  CHECK(is_whole(content(path)));
  CHECK(count_files(folder) == 1);
}

TEST_CASE("the next write overwrites the temporary file of a killed process") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  std::ofstream(path) << "old";
  Writer(path, 'k').kill();
  CHECK(content(path) == "old");
  CHECK(count_files(folder) == 2);
  write_file(path, "new");
  CHECK(content(path) == "new");
  CHECK(count_files(folder) == 1);
}

TEST_CASE("remove_leftovers removes the files of killed processes but not of running ones") {
  const TemporaryFolder folder;
  const Writer killed(folder.file("step-1"), 'k'), living(folder.file("step-2"), 'l'),
      other(folder.file("best"), 'o');
  killed.kill();
  other.kill();
  remove_leftovers(folder.path(), "step-");
  CHECK(count_files(folder) == 2);
  living.finish();
  CHECK(is_whole(content(folder.file("step-2"))));
}

TEST_CASE("a process killed at any time leaves the old file or the new one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  write_file(path, [](const PutBytes& put) { put_letters(put, 'a'); });
  for (int i = 0; i < 30; ++i) {
    const ::pid_t writer = start([&] {
      for (char letter = 'b';; letter = letter == 'z' ? 'b' : static_cast<char>(letter + 1))
        write_file(path, [&](const PutBytes& put) { put_letters(put, letter); });
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 * i));
    ::kill(writer, SIGKILL);
    wait_for(writer);
    CHECK(is_whole(content(path)));
  }
  write_file(path, "end");
  CHECK(count_files(folder) == 1);
}
