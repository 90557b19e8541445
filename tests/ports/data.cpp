// Ports the preparation and fitting of data: readers for CSV and NumPy files, normalisation with
// the statistics of the training part, shuffled batches, a validation split, a linear regression
// and a classification.
// Checks the tables that were read, compares losses with PyTorch's (data.py), and checks that the
// regression finds the coefficients that generated the data.
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "check.h"

using namespace tend;

namespace {

// A CSV file: a line of column names, then rows of numbers.

struct Table {
  std::vector<std::string> names;
  Tensor values;  // (rows, columns)
};

Table read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  Table table;
  std::string line, cell;
  std::getline(file, line);
  for (std::istringstream head(line); std::getline(head, cell, ',');) table.names.push_back(cell);
  std::vector<double> numbers;
  int rows = 0;
  for (; std::getline(file, line); ++rows) {
    for (std::istringstream row(line); std::getline(row, cell, ',');)
      numbers.push_back(std::stod(cell));
  }
  table.values = tensor(numbers, {rows, std::ssize(table.names)});
  return table;
}

// NumPy's format, version 1: a magic number, the length of a header, the header, the elements.

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto begin = text.find(before);
  if (begin == std::string::npos) throw std::runtime_error("the header has no " + before);
  const auto start = begin + before.size();
  return text.substr(start, text.find(after, start) - start);
}

Tensor read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < 10 || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
    throw std::runtime_error(path + " is not a NumPy file of version 1");
  std::uint16_t length = 0;
  std::memcpy(&length, bytes.data() + 8, 2);
  const std::string header = bytes.substr(10, length);
  const std::string descr = between(header, "'descr': '", "'");
  std::vector<int64_t> shape;
  std::istringstream sizes(between(header, "'shape': (", ")"));
  for (std::string size; std::getline(sizes, size, ',');)
    if (size.find_first_of("0123456789") != std::string::npos) shape.push_back(std::stoll(size));
  DType dtype = float32;
  if (descr == "<f8")
    dtype = float64;
  else if (descr == "<i8")
    dtype = int64;
  else if (descr == "|b1")
    dtype = boolean;
  else if (descr != "<f4")
    throw std::runtime_error("dtype " + descr);
  char* elements = bytes.data() + 10 + length;
  if (between(header, "'fortran_order': ", ",") == "False")
    return from_blob(elements, shape, dtype).clone();
  // In Fortran order, the elements are the transpose of a row-major array.
  const std::vector<int64_t> reversed(shape.rbegin(), shape.rend());
  return from_blob(elements, reversed, dtype).T().clone();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string npy_header(const std::string& text) {
  return std::string("\x93NUMPY\x01\x00v\x00", 10) + text + std::string(117 - text.size(), ' ') +
         '\n';
}

void check_npy() {
  // The bytes that numpy.save writes.
  write_file("f4.npy",
             npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }") +
                 std::string("\x00\x00\xc0?\x00\x00\x00\xc0\x00\x00@@\x00\x00\x80>\x00\x00zD\x00"
                             "\x00\xe0\xc0",
                             24));
  const Tensor x = read_npy("f4.npy");
  std::cout << x << '\n';
  check::that(x.equal(tensor({{1.5, -2., 3.}, {0.25, 1e3, -7.}})), "float32");

  const std::array<int64_t, 6> columns = {1, -4, 2, 5, 3, int64_t{1} << 40};
  std::string elements(48, '\0');
  std::memcpy(elements.data(), columns.data(), elements.size());
  write_file("i8.npy",
             npy_header("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }") + elements);
  const Tensor n = read_npy("i8.npy");
  check::that(n.dtype() == int64 && n.equal(tensor({{1, 2, 3}, {-4, 5, int64_t{1} << 40}})),
              "int64, column after column");
}

void write_csv(const std::string& path) {
  std::ostringstream text;
  text << "a,b,y\n" << std::fixed;
  text.precision(2);
  for (int i = 0; i < 80; ++i) {
    const double a = (i * 37 % 101) / 10.0, b = (i * 53 % 89) / 10.0;
    text << a << ',' << b << ',' << 3 * a - 2 * b + 5 + (i * 71 % 31 - 15) / 50.0 << '\n';
  }
  write_file(path, text.str());
}

struct Split {
  Tensor train, val;  // rows
  Tensor mean, std;   // of the training rows
};

void regression(const Tensor& x, const Tensor& y, const Split& split) {
  Tensor w = zeros(2).requires_grad_();
  Tensor b = zeros(1).requires_grad_();
  optim::SGD optimizer({w, b}, {.lr = 0.05, .momentum = 0.9});
  for (int epoch = 0; epoch < 60; ++epoch) {
    const Tensor shuffled = split.train[randperm(split.train.numel())];
    for (const Tensor& rows : shuffled.split(16)) {
      const Tensor loss = mse_loss(matmul(x[rows], w) + b, y[rows]);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    const NoGradGuard no_grad;
    const double val = mse_loss(x[split.val].matmul(w) + b, y[split.val]).item();
    // Both libraries compute in float32.
    if (epoch == 0) check::near("loss 0", val, 19.463157653808594, 1e-4);
    if (epoch == 4) check::near("loss 4", val, 32.589820861816406, 1e-4);
    if (epoch == 59) check::near("loss 59", val, 0.04033846780657768, 1e-4);
  }
  const NoGradGuard no_grad;
  const Tensor weights = w / split.std;
  const double intercept = (b - (weights * split.mean).sum()).item();
  std::cout << "y = " << weights[0].item() << " a + " << weights[1].item() << " b + " << intercept
            << '\n';
  check::near("weights", weights, tensor({2.9958844, -1.9920462}), 1e-4);
  check::near("intercept", intercept, 4.980159759521484, 1e-4);
}

void classification(const Tensor& x, const Tensor& y, const Split& split) {
  const Tensor labels = (y > 20).to(float32);
  const nn::Sequential model{nn::Linear(2, 8), nn::ReLU(), nn::Linear(8, 1)};
  optim::AdamW optimizer(model.parameters(), {.lr = 0.05});
  const nn::BCEWithLogitsLoss criterion;
  for (int epoch = 0; epoch < 30; ++epoch) {
    for (const Tensor& rows : split.train[randperm(64)].split(16)) {
      const Tensor loss = criterion(model(x[rows]).squeeze(1), labels[rows]);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  const NoGradGuard no_grad;
  const Tensor logits = model(x[split.val]).squeeze(1);
  const Tensor target = labels[split.val];
  const double loss = criterion(logits, target).item();
  const double accuracy = ((logits > 0) == (target > 0)).to(float32).mean().item();
  std::cout << "classes: loss " << loss << ", accuracy " << accuracy << '\n';
  check::near("loss of classes", loss, 0.043552350252866745, 1e-4);
  check::near("accuracy", accuracy, 1.0, 0);
}

}  // namespace

int main() {
  check_npy();
  write_csv("table.csv");
  const auto [names, table] = read_csv("table.csv");
  check::that(names == std::vector<std::string>{"a", "b", "y"}, "the names of the columns");
  check::that(table.sizes() == Shape{80, 3}, "the size of the table");
  Tensor x = table[{Slice(), Slice(None, 2)}];
  const Tensor y = table[{Slice(), 2}];
  check::near("means", x.mean(0), tensor({5.00249958, 4.42750025}), 1e-5);
  check::near("deviations", x.std(0), tensor({2.96152425, 2.60821366}), 1e-5);

  manual_seed(11);
  const Tensor order = randperm(x.size(0));
  Split split = {order[Slice(None, 64)], order[Slice(64)], {}, {}};
  const auto [deviation, mean] = std_mean(x[split.train], 0);
  split.mean = mean;
  split.std = deviation;
  x = (x - mean) / deviation;
  check::near("normalised", x[split.train].std(0), ones(2), 1e-6);
  regression(x, y, split);
  classification(x, y, split);
  return check::result();
}
