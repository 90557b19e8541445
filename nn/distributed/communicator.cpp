#include <tend/nn/distributed/communicator.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tend/core/base/error.h>

namespace tend::distributed {
namespace {

using Clock = std::chrono::steady_clock;

// The time to wait for an answer after its sender's goodbye: the goodbye may overtake the answer.
constexpr std::chrono::seconds kPatience{5};
constexpr unsigned kLooksAround = 256;  // attempts between two checks for processes that have ended
constexpr unsigned kSpins = 1000;       // attempts before the thread yields its core

int count_of(std::size_t bytes) {
  if (bytes > kLargestMessage)
    fail("distributed", "a message must have at most ", kLargestMessage, " bytes, but has ", bytes);
  return static_cast<int>(bytes);
}

/// A process's current call, as the process reports it to the others.
struct Call {
  std::uint64_t number;  // the number of calls of this process so far
  std::array<char, 88> text;
};

}  // namespace

struct Communicator::State {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm goodbyes = MPI_COMM_NULL;  // for goodbyes: empty messages to all others at the end
  bool starts_mpi = false;
  bool is_abandoned = false;
  std::uint64_t operations = 0;          // the number of operations so far
  const Operation* operation = nullptr;  // the innermost one
  int exceptions = std::uncaught_exceptions();
};

struct Communicator::Exchange::Requests {
  std::array<MPI_Request, 2> all;
};

Communicator::Communicator(int* argc, char*** argv) : state_(std::make_unique<State>()) {
  int is_started = 0, is_over = 0;
  check(MPI_Initialized(&is_started), "MPI_Initialized");
  check(MPI_Finalized(&is_over), "MPI_Finalized");
  if (is_over != 0) fail("distributed::Context", "MPI was ended, and cannot start again");
  if (is_started == 0) {
    int provided = 0;
    check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    state_->starts_mpi = true;
    // Some errors of collective calls are reported on MPI_COMM_WORLD.
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  check(MPI_Comm_dup(MPI_COMM_WORLD, &state_->all), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(state_->all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_dup(state_->all, &state_->goodbyes), "MPI_Comm_dup");
  check(MPI_Comm_rank(state_->all, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(state_->all, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  // After an error the other processes may wait for messages that never come, and MPI_Finalize
  // would wait for these processes. So this process exits without MPI_Finalize. Then mpirun ends
  // the others.
  int is_over = 0;  // the program may have ended MPI itself
  const bool is_unwinding = std::uncaught_exceptions() > state_->exceptions;
  if (is_unwinding || state_->is_abandoned || MPI_Finalized(&is_over) != MPI_SUCCESS ||
      is_over != 0)
    return;
  wait_for_goodbyes();
  MPI_Comm_free(&state_->goodbyes);
  MPI_Comm_free(&state_->all);
  if (state_->starts_mpi) MPI_Finalize();
}

// Sends a goodbye to all other processes, and waits for their goodbyes. Only then may this process
// call MPI_Finalize, since afterwards it no longer answers MPI's own messages.
void Communicator::wait_for_goodbyes() const {
  std::vector<MPI_Request> requests;
  requests.reserve(2 * static_cast<std::size_t>(size_));  // the requests must not move
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    MPI_Isend(nullptr, 0, MPI_BYTE, other, 0, state_->goodbyes, &requests.emplace_back());
    MPI_Irecv(nullptr, 0, MPI_BYTE, other, 0, state_->goodbyes, &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

template <class F>
void Communicator::wait_until(const char* call, int partner, F is_done) const {
  std::optional<Clock::time_point> ended;
  for (unsigned attempts = 1; !is_done(); ++attempts) {
    if (attempts > kSpins) std::this_thread::yield();
    if (attempts % kLooksAround != 0) continue;
    int has_ended = 0;
    MPI_Status status;
    check(MPI_Iprobe(partner, 0, state_->goodbyes, &has_ended, &status), "MPI_Iprobe");
    if (has_ended == 0) continue;
    if (!ended) ended = Clock::now();
    if (Clock::now() - *ended < kPatience) continue;
    state_->is_abandoned = true;
    fail(call, "process ", rank_, " waits for process ", status.MPI_SOURCE, ", which has ended");
  }
}

void Communicator::check(int code, const char* call) const {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(call, "process ", rank_, " of ", size_, ": ",
       std::string(text.data(), static_cast<std::size_t>(length)));
}

void Communicator::check_usable(const char* call) const {
  if (state_->is_abandoned)
    fail(call, "process ", rank_, ": an earlier call failed, so no further call is possible");
}

template <class F>
void Communicator::collect(const char* call, F start) const {
  check_usable(call);
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request), call);
  wait_until(call, MPI_ANY_SOURCE, [&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

Communicator::Operation::Operation(const Communicator& communicator, const char* name)
    : communicator_(&communicator), name_(name), exceptions_(std::uncaught_exceptions()) {
  communicator.check_usable(name);
  ++communicator.state_->operations;
  outer_ = std::exchange(communicator.state_->operation, this);
}

Communicator::Operation::~Operation() {
  communicator_->state_->operation = outer_;
  if (has_local_errors_ && std::uncaught_exceptions() > exceptions_)
    communicator_->state_->is_abandoned = true;
}

void Communicator::Operation::check_calls(const char* what, std::size_t bytes) {
  const auto count = static_cast<std::size_t>(communicator_->size_);
  if (count == 1) return;
  Call own{.number = communicator_->state_->operations, .text = {}};
  const std::string text = as_text(name_, ", ", what, " of ", bytes, " bytes");
  text.copy(own.text.data(), own.text.size() - 1);
  std::vector<Call> all(count);
  expect_local_errors();
  gather_now(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t other = 1; other < count; ++other) {
    if (std::memcmp(&all[other], all.data(), sizeof(Call)) == 0) continue;
    const auto line = [&](std::size_t process) {
      return as_text("process ", process, " is in its call ", all[process].number, ", ",
                     all[process].text.data());
    };
    fail(name_, "all processes must make the same calls in the same order, but ", line(0), "; ",
         line(other));
  }
}

void Communicator::Operation::barrier() {
  // check_calls is a barrier: it ends only after all processes have sent their calls.
  check_calls("barrier", 0);
}

void Communicator::Operation::broadcast(std::span<std::byte> bytes) {
  check_calls("broadcast", bytes.size());
  communicator_->collect("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(bytes.data(), count_of(bytes.size()), MPI_BYTE, 0, communicator_->state_->all,
                      request);
  });
}

void Communicator::Operation::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  check_calls("gather", own.size());
  gather_now(own, all);
}

void Communicator::Operation::gather_now(std::span<const std::byte> own,
                                         std::span<std::byte> all) const {
  const int size = count_of(own.size());
  communicator_->collect("MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(own.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE,
                          communicator_->state_->all, request);
  });
}

std::vector<std::string> Communicator::Operation::lines_of_first(
    const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  std::uint64_t size = text.size();
  broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  broadcast(std::as_writable_bytes(std::span(text)));
  std::vector<std::string> first;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) first.push_back(line);
  return first;
}

void Communicator::Operation::check_agreement(const std::vector<std::string>& lines) {
  const int rank = communicator_->rank_;
  const std::vector<std::string> first = lines_of_first(lines);
  const auto line = [](const std::vector<std::string>& from, std::size_t i) {
    return i < from.size() ? from[i] : std::string("nothing more");
  };
  std::string difference;
  for (std::size_t i = 0; i < std::max(lines.size(), first.size()) && difference.empty(); ++i) {
    if (line(lines, i) != line(first, i))
      difference = as_text("the processes differ: process ", rank, " has ", line(lines, i),
                           ", but process 0 has ", line(first, i));
  }
  constexpr std::size_t kSize = 1024;  // bytes of each process's message
  difference.resize(kSize);
  std::string all(kSize * static_cast<std::size_t>(communicator_->size_), '\0');
  all_gather(std::as_bytes(std::span(difference)), std::as_writable_bytes(std::span(all)));
  has_local_errors_ = false;  // all processes throw the error below, or none does
  for (std::size_t at = 0; at < all.size(); at += kSize) {
    if (all[at] != '\0') fail(name_, all.substr(at, kSize).c_str());
  }
}

Communicator::Exchange::Exchange(const Communicator& communicator, int partner, int tag,
                                 std::span<const std::byte> out, std::span<std::byte> in)
    : requests_(std::make_unique<Requests>()), communicator_(&communicator), partner_(partner) {
  communicator.check_usable("MPI_Isend");
  const MPI_Comm& all = communicator.state_->all;
  auto& [receive, send] = requests_->all;
  communicator.check(
      MPI_Irecv(in.data(), count_of(in.size()), MPI_BYTE, partner, tag, all, &receive),
      "MPI_Irecv");
  communicator.check(
      MPI_Isend(out.data(), count_of(out.size()), MPI_BYTE, partner, tag, all, &send), "MPI_Isend");
}

Communicator::Exchange::~Exchange() = default;

bool Communicator::Exchange::is_done() {
  int done = 0;
  communicator_->check(MPI_Testall(2, requests_->all.data(), &done, MPI_STATUSES_IGNORE),
                       "MPI_Testall");
  return done != 0;
}

void Communicator::Exchange::wait() {
  communicator_->wait_until("MPI_Testall", partner_, [&] { return is_done(); });
}

}  // namespace tend::distributed
