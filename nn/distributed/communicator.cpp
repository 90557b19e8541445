#include <tend/nn/distributed/communicator.h>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <tend/core/base/error.h>

namespace tend::distributed {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;  // of a message: MPI counts with an int

/// f(first byte, size) for pieces that one message can hold.
template <class F>
void for_each_piece(std::size_t bytes, F f) {
  for (std::size_t at = 0; at < bytes; at += kLargest)
    f(at, static_cast<int>(std::min(kLargest, bytes - at)));
}

}  // namespace

struct Communicator::State {
  MPI_Comm all = MPI_COMM_NULL;
  bool starts_mpi = false;
  bool is_abandoned = false;
  int exceptions = std::uncaught_exceptions();
  std::thread::id thread = std::this_thread::get_id();
};

struct Communicator::Exchange::Requests {
  std::vector<MPI_Request> all;
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
  }
  check(MPI_Comm_dup(MPI_COMM_WORLD, &state_->all), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(state_->all, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(state_->all, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(state_->all, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  // After an error the others may wait for messages that never come. They are ended when this
  // process exits without MPI_Finalize; calling it would wait, too.
  int is_over = 0;  // the program may have ended MPI itself
  const bool is_unwinding = std::uncaught_exceptions() > state_->exceptions;
  if (is_unwinding || state_->is_abandoned || MPI_Finalized(&is_over) != MPI_SUCCESS ||
      is_over != 0)
    return;
  MPI_Comm_free(&state_->all);
  if (state_->starts_mpi) MPI_Finalize();
}

void Communicator::check(int code, const char* call) const {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(call, "process ", rank_, " of ", size_, ": ",
       std::string(text.data(), static_cast<std::size_t>(length)));
}

void Communicator::check_thread(const char* operation) const {
  if (std::this_thread::get_id() != state_->thread)
    fail(operation, "process ", rank_, ": only the thread that made the Context may call this");
}

void Communicator::abandon() const noexcept {
  state_->is_abandoned = true;
}

void Communicator::barrier() const {
  check(MPI_Barrier(state_->all), "MPI_Barrier");
}

void Communicator::broadcast(std::span<std::byte> bytes) const {
  for_each_piece(bytes.size(), [&](std::size_t at, int size) {
    check(MPI_Bcast(bytes.data() + at, size, MPI_BYTE, 0, state_->all), "MPI_Bcast");
  });
}

void Communicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all) const {
  const auto size = static_cast<int>(own.size());
  check(MPI_Allgather(own.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, state_->all),
        "MPI_Allgather");
}

Communicator::Exchange::Exchange(const Communicator& communicator, int partner, int tag,
                                 std::span<const std::byte> out, std::span<std::byte> in)
    : requests_(std::make_unique<Requests>()), communicator_(&communicator) {
  const auto add = [&] { return &requests_->all.emplace_back(MPI_REQUEST_NULL); };
  const std::size_t pieces = 2 + (out.size() + in.size()) / kLargest;
  requests_->all.reserve(pieces);
  const MPI_Comm& all = communicator.state_->all;
  for_each_piece(in.size(), [&](std::size_t at, int size) {
    communicator.check(MPI_Irecv(in.data() + at, size, MPI_BYTE, partner, tag, all, add()),
                       "MPI_Irecv");
  });
  for_each_piece(out.size(), [&](std::size_t at, int size) {
    communicator.check(MPI_Isend(out.data() + at, size, MPI_BYTE, partner, tag, all, add()),
                       "MPI_Isend");
  });
}

Communicator::Exchange::~Exchange() = default;

bool Communicator::Exchange::is_done() {
  int done = 0;
  communicator_->check(MPI_Testall(static_cast<int>(requests_->all.size()), requests_->all.data(),
                                   &done, MPI_STATUSES_IGNORE),
                       "MPI_Testall");
  return done != 0;
}

void Communicator::Exchange::wait() {
  communicator_->check(MPI_Waitall(static_cast<int>(requests_->all.size()), requests_->all.data(),
                                   MPI_STATUSES_IGNORE),
                       "MPI_Waitall");
}

}  // namespace tend::distributed
