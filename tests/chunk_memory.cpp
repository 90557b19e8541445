// What the chunks of parallel loops do to memory, on one thread, as which of several threads runs a
// chunk is left to chance. This program's run_chunks stands before libtend's. Its exit status is 0
// if
// - the pages of large results are touched first within chunks, so by the thread that works on
//   them: on a machine with several memory controllers a page lies beside the core that touched it
//   first,
// - no two chunks write to the same cache line of a large tensor, which two cores would then take
//   from each other.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <tend/tend.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <utility>
#include <vector>

using namespace tend;

namespace {

using Bytes = std::vector<char>;

bool inside = false;  // a chunk
bool counts = false;
long faults_in_chunks = 0;
Tensor watched;                                 // in place, while it is defined
std::vector<std::set<std::ptrdiff_t>> written;  // lines of `watched`, by each chunk

long faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

constexpr std::ptrdiff_t kLine = 64;

Bytes content_of(const Tensor& x) {
  const char* const data = reinterpret_cast<const char*>(x.data_ptr<float>());
  return Bytes(data, data + x.numel() * 4);
}

std::set<std::ptrdiff_t> lines_of_changes(const Bytes& before, const Bytes& after) {
  std::set<std::ptrdiff_t> lines;
  for (std::ptrdiff_t i = 0; i < std::ssize(before); i += kLine) {
    const std::ptrdiff_t size = std::min(kLine, std::ssize(before) - i);
    const auto at = before.begin() + i;
    if (!std::equal(at, at + size, after.begin() + i)) lines.insert(i / kLine);
  }
  return lines;
}

}  // namespace

void tend::detail::run_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain,
                              RangeFunction f) {
  const bool outermost = !std::exchange(inside, true);
  const bool watches = outermost && watched.defined();
  const long before = faults();
  for (grain = std::max<std::int64_t>(grain, 1); begin < end;
       begin += std::min(grain, end - begin)) {
    const Bytes content = watches ? content_of(watched) : Bytes();
    f(begin, begin + std::min(grain, end - begin));
    if (watches) written.push_back(lines_of_changes(content, content_of(watched)));
  }
  if (!outermost) return;
  inside = false;
  if (counts) faults_in_chunks += faults() - before;
}

namespace {

// The share of a result's pages that may be touched outside of the chunks: graphs, small tensors
// and new pages of the stack take some dozens of pages; a result has 4,096 or more.
constexpr double kOutside = 0.02;

bool is_first_touched_in_chunks(const char* name, const std::function<Tensor()>& compute) {
  static std::vector<Tensor> results;  // kept, so that none gets the pages of another
  faults_in_chunks = 0;
  counts = true;
  const long before = faults();
  results.push_back(compute());
  const long all = faults() - before;
  counts = false;
  const auto pages = static_cast<long>(results.back().numel() * 4 / 4096);
  const long outside = all - faults_in_chunks;
  std::printf("%-24s %6ld pages, %6ld touched in chunks, %5ld outside\n", name, pages,
              faults_in_chunks, outside);
  return faults_in_chunks >= pages / 2 &&
         static_cast<double>(outside) <= kOutside * static_cast<double>(pages);
}

bool shares_no_line(const char* name, const Tensor& x, const std::function<void()>& write) {
  written.clear();
  watched = x;
  write();
  watched = Tensor();
  std::size_t chunks = 0, lines = 0;
  std::set<std::ptrdiff_t> different;
  for (const std::set<std::ptrdiff_t>& of_chunk : written) {
    chunks += of_chunk.empty() ? 0 : 1;
    lines += of_chunk.size();
    different.insert(of_chunk.begin(), of_chunk.end());
  }
  std::printf("%-24s %3zu chunks write to %zu lines, %zu of them shared\n", name, chunks,
              different.size(), lines - different.size());
  return chunks > 1 && lines == different.size();
}

bool check_lines() {
  const Tensor a = randn({1000, 999}), b = randn({1000, 999});
  // A copy of columns cuts rows into pieces, which are whole lines in rows that are.
  const Tensor even = randn({1000, 992}), columns = randn({992, 1000});
  const Tensor left = randn({1000, 300}), right = randn({300, 999});
  const std::pair<const char*, std::function<void(Tensor&)>> operations[] = {
      {"zero_", [](Tensor& x) { x.zero_(); }},
      {"add_", [&](Tensor& x) { x.add_(b); }},
      {"add_ of a row", [&](Tensor& x) { x.add_(b[0]); }},
      {"exp_", [](Tensor& x) { x.exp_(); }},
      {"copy_", [&](Tensor& x) { x.copy_(b); }},
      {"addmm_", [&](Tensor& x) { x.addmm_(left, right); }},
      {"masked_fill_", [&](Tensor& x) { x.masked_fill_(x == x, 7.0); }},
      {"AdamW",
       [&](Tensor& x) {
         x.requires_grad_();
         x.set_grad(b);
         optim::AdamW({x}).step();
       }},
  };
  Tensor turned = even.clone();
  bool is_good = shares_no_line("copy_ of columns", turned, [&] { turned.copy_(columns.mT()); });
  for (const auto& [name, write] : operations) {
    Tensor x = a.clone();
    is_good = shares_no_line(name, x, [&, &run = write] { run(x); }) && is_good;
  }
  return is_good;
}

bool check_pages() {
  const Tensor x = randn({2048, 2048}), y = randn({2048, 2048}), row = randn({2048});
  const Tensor heads = randn({4, 8, 512, 256}), index = arange(2047, -1, -1);
  const std::pair<const char*, std::function<Tensor()>> operations[] = {
      {"zeros",
       [&] {
         return zeros({2048, 2048});
       }},
      {"add", [&] { return x + y; }},
      {"gelu", [&] { return gelu(x); }},
      {"transposed copy", [&] { return x.mT().contiguous(); }},
      {"matmul", [&] { return x.matmul(y); }},
      {"matmul, transposed", [&] { return x.mT().matmul(y); }},
      {"softmax", [&] { return softmax(x, -1); }},
      {"layer_norm", [&] { return layer_norm(x, {2048}, row, row); }},
      {"cat",
       [&] {
         return cat({x, y}, 0);
       }},
      {"index_select", [&] { return x.index_select(0, index); }},
      {"cumsum", [&] { return x.cumsum(0); }},
      {"dropout", [&] { return dropout(x, 0.5, true); }},
      {"attention", [&] { return scaled_dot_product_attention(heads, heads, heads); }},
      {"gradient of gelu",
       [&] {
         const Tensor leaf = x.detach().requires_grad_();
         return autograd::grad({gelu(leaf)}, {leaf}, {y})[0];
       }},
  };
  bool is_good = true;
  for (const auto& [name, compute] : operations)
    is_good = is_first_touched_in_chunks(name, compute) && is_good;
  return is_good;
}

}  // namespace

int main() {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // a fault for each 4 KB
  manual_seed(1);
  const bool has_good_pages = check_pages();
  return check_lines() && has_good_pages ? 0 : 1;
}
