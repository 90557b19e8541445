// Datasets, samplers, loaders, and files of data.
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <tend/nn/data/csv.h>
#include <tend/nn/data/data_loader.h>
#include <tend/nn/data/idx.h>
#include <tend/nn/data/token_file.h>

#include "tests/hostile/guard.h"
#include "tests/hostile/typed_calls.h"

namespace tend::test {
namespace {

// A file of these bytes, which goes with the object.
class DataFile {
 public:
  explicit DataFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() /
              as_text("tend_hostile_data_", ::getpid(), "_", ::gettid())) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~DataFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string draw_bytes(Arguments& a, std::string bytes) {
  for (std::int64_t count = a.draws().between(0, 3); count > 0 && !bytes.empty(); --count) {
    const auto at =
        static_cast<std::size_t>(a.draws().between(0, static_cast<std::int64_t>(bytes.size()) - 1));
    if (a.draws().chance(0.2)) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(a.draws().between(-128, 127));
    }
  }
  return bytes;
}

// Indices of a pass, a thousand at most.
Tensors drawn_from(const data::Sampler& sampler) {
  const data::Stream<std::int64_t> next = sampler.iter();
  data::IndexList indices;
  while (indices.size() < 1000) {
    const std::optional<std::int64_t> index = next();
    if (!index) break;
    indices.push_back(*index);
  }
  return {tensor(indices)};
}

template <class F>
PublicFunction of_sampler(const char* signature, F make) {
  return by_hand(signature, [make](Arguments& a) {
    return DrawnCall([sampler = make(a)] { return drawn_from(sampler()); });
  });
}

std::vector<PublicFunction> samplers() {
  return {
      of_sampler("data::SequentialSampler::SequentialSampler(std::int64_t)",
                 [](Arguments& a) {
                   return [size = a.integer()] { return data::SequentialSampler(size); };
                 }),
      of_sampler("data::RandomSampler::RandomSampler(std::int64_t, const RandomSamplerOptions&)",
                 [](Arguments& a) {
                   const data::RandomSamplerOptions options{.replacement = a.flag(),
                                                            .num_samples = a.integer(),
                                                            .generator = &a.generator()};
                   return [=, size = a.choice<std::int64_t>({-1, 0, 1, 7, 1000})] {
                     return data::RandomSampler(size, options);
                   };
                 }),
      of_sampler("data::SubsetRandomSampler::SubsetRandomSampler(IndexList, Generator*)",
                 [](Arguments& a) {
                   return [indices = data::IndexList{a.integer(), a.integer()},
                           generator = &a.generator()] {
                     return data::SubsetRandomSampler(indices, generator);
                   };
                 }),
      of_sampler("data::WeightedRandomSampler::WeightedRandomSampler(const Tensor&, std::int64_t, "
                 "Flag, Generator*)",
                 [](Arguments& a) {
                   return [weights = a.tensor(rand({5})), samples = a.integer(),
                           replacement = a.flag(), generator = &a.generator()] {
                     return data::WeightedRandomSampler(weights, samples, replacement, generator);
                   };
                 }),
      by_hand("data::BatchSampler::BatchSampler(Sampler, std::int64_t, Flag)",
              [](Arguments& a) {
                return DrawnCall([batch = a.integer(), drop_last = a.flag()]() -> Tensors {
                  const data::BatchSampler sampler(data::SequentialSampler(7), batch, drop_last);
                  Tensors batches;
                  const data::Stream<data::IndexList> next = sampler.iter();
                  while (const auto indices = next()) batches.push_back(tensor(*indices));
                  if (std::ssize(batches) != sampler.size())
                    throw std::logic_error("another number of batches");
                  return batches;
                });
              }),
  };
}

std::vector<PublicFunction> datasets() {
  return {
      by_hand("data::TensorDataset::get(std::int64_t)",
              [](Arguments& a) {
                return DrawnCall([x = a.tensor(), y = a.tensor(), i = a.integer()]() -> Tensors {
                  const auto row = data::TensorDataset(x, y).get(i);
                  return {row[0], row[1]};
                });
              }),
      by_hand("data::Subset::get(std::int64_t)",
              [](Arguments& a) {
                return DrawnCall([x = a.tensor(), place = a.integer(),
                                  i = a.choice<std::int64_t>({-1, 0, 1})]() -> Tensors {
                  return {data::Subset(data::TensorDataset(x), {place}).get(i)[0]};
                });
              }),
      by_hand("data::ConcatDataset::get(std::int64_t)",
              [](Arguments& a) {
                return DrawnCall([x = a.tensor(), y = a.tensor(), i = a.integer()]() -> Tensors {
                  using One = data::TensorDataset<1>;
                  return {data::ConcatDataset(std::vector{One(x), One(y)}).get(i)[0]};
                });
              }),
      by_hand("data::random_split(D, const std::vector<Scalar>&, Generator&)",
              [](Arguments& a) {
                return DrawnCall([lengths = std::vector{a.scalar(), a.scalar()}, x = a.tensor(),
                                  &generator = a.generator()]() -> Tensors {
                  const auto parts = data::random_split(data::TensorDataset(x), lengths, generator);
                  return {tensor(parts[0].indices()), tensor(parts[1].indices())};
                });
              }),
      by_hand("data::default_collate(const std::vector<T>&)",
              [](Arguments& a) {
                return DrawnCall([x = a.tensors(3), y = a.tensor()]() -> Tensors {
                  return {data::default_collate(x),
                          data::default_collate(std::vector{std::pair(1, y)}).second};
                });
              }),
      by_hand("data::PadCollate::operator()(const std::vector<Tensor>&)",
              [](Arguments& a) {
                const data::PadCollate collate{a.scalar(), a.one_of(data::PaddingSide::left)};
                return DrawnCall([=, sequences = a.tensors(3)]() -> Tensors {
                  const data::Padded padded = collate(sequences);
                  return {padded.values, padded.lengths};
                });
              }),
      by_hand("data::pad_sequence(const std::vector<Tensor>&, Flag, const Scalar&, "
              "OrWord<PaddingSide>)",
              [](Arguments& a) {
                const bool batch_first = a.flag();
                const data::PaddingSide side = a.one_of(data::PaddingSide::left);
                return DrawnCall([=, sequences = a.tensors(3), value = a.scalar()]() -> Tensors {
                  return {data::pad_sequence(sequences, batch_first, value, side)};
                });
              }),
  };
}

std::vector<PublicFunction> loaders() {
  return {
      by_hand("data::DataLoader::DataLoader(D, DataLoaderOptions, Collate)",
              [](Arguments& a) {
                data::DataLoaderOptions options{.shuffle = a.flag(), .drop_last = a.flag()};
                options.batch_size = a.choice<std::int64_t>({1, 2, 7, -1, 0});
                options.num_workers = a.choice<std::int64_t>({0, 0, 1, 3, -1});
                options.prefetch_factor = a.choice<std::int64_t>({1, 2, 1000, 0});
                options.generator = &a.generator();
                return DrawnCall([=, x = a.tensor(), y = a.tensor()]() -> Tensors {
                  Tensors batches;
                  data::DataLoader loader(data::TensorDataset(x, y), options);
                  for (const auto& batch : loader) {
                    batches.push_back(batch[0]);
                    if (batches.size() == 3) break;
                  }
                  return batches;
                });
              }),
      by_hand("data::DataLoader::load_state_dict(const nn::StateDict&)",
              [](Arguments& a) {
                nn::StateDict state = data::DataLoader(data::TensorDataset(arange(5))).state_dict();
                for (auto& [name, value] : state) value = a.tensor(value);
                return DrawnCall([state]() -> Tensors {
                  data::DataLoader loader(data::TensorDataset(arange(5)));
                  loader.load_state_dict(state);
                  Tensors batches;
                  for (const auto& batch : loader) batches.push_back(batch[0]);
                  return batches;
                });
              }),
  };
}

std::vector<PublicFunction> data_files() {
  const auto csv_options = [](Arguments& a) {
    return data::CsvOptions{a.choice<char>({',', ';', '\t', '.', '"'}), a.flag(), a.dtype()};
  };
  const std::string table = "a,\"b\"\"\n\"\r\n1,2.5\n-3,\"4e2\"\n";
  const std::string idx("\0\0\x0b\x02\0\0\0\x02\0\0\0\x02\0\1\0\2\0\3\0\4", 20);
  return {
      by_hand("data::parse_csv(std::string_view, const CsvOptions&)",
              [=](Arguments& a) {
                return DrawnCall([text = draw_bytes(a, table), options = csv_options(a)] {
                  return Tensors{data::parse_csv(text, options).values};
                });
              }),
      by_hand("data::read_csv(const std::filesystem::path&, const CsvOptions&)",
              [=](Arguments& a) {
                return DrawnCall([text = draw_bytes(a, table), options = csv_options(a)] {
                  return Tensors{data::read_csv(DataFile(text).path(), options).values};
                });
              }),
      by_hand("data::load_idx(const std::filesystem::path&, std::optional<DType>)",
              [=](Arguments& a) {
                return DrawnCall([bytes = draw_bytes(a, idx), dtype = a.dtype()] {
                  return Tensors{data::load_idx(DataFile(bytes).path(), dtype)};
                });
              }),
      by_hand("data::TokenFile::TokenFile(const std::filesystem::path&, TokenType, "
              "const nn::LoadOptions&)",
              [](Arguments& a) {
                const std::string path = draw_path(a);
                return DrawnCall(
                    [=, type = a.one_of(data::TokenType::uint32), mmap = a.flag()]() -> Tensors {
                      return {data::TokenFile(path, type, {.mmap = mmap}).tokens(0, 1)};
                    });
              }),
      by_hand("data::TokenFile::tokens(std::int64_t, std::int64_t)",
              [](Arguments& a) {
                return DrawnCall([first = a.integer(), count = a.integer(), mmap = a.flag()] {
                  const DataFile file("0123456789");
                  const data::TokenFile tokens(file.path(), data::TokenType::uint16,
                                               {.mmap = mmap});
                  return Tensors{tokens.tokens(first, count)};
                });
              }),
      by_hand("data::write_tokens(const std::filesystem::path&, const Tensor&, TokenType)",
              [](Arguments& a) {
                const Tensor tokens = a.tensor(tensor(std::vector<std::int64_t>{1, 65535, 7}));
                return DrawnCall([=, type = a.one_of(data::TokenType::uint32)]() -> Tensors {
                  const DataFile file("");
                  data::write_tokens(file.path(), tokens, type);
                  return {};
                });
              }),
      by_hand("data::TokenFile::random_batch(std::int64_t, std::int64_t, Generator&)",
              [](Arguments& a) {
                return DrawnCall([rows = a.integer(), block = a.integer(),
                                  &generator = a.generator()]() -> Tensors {
                  const DataFile file("0123456789");
                  const auto [x, y] =
                      data::TokenFile(file.path()).random_batch(rows, block, generator);
                  return {x, y};
                });
              }),
  };
}

}  // namespace

std::vector<PublicFunction> data_functions() {
  std::vector<PublicFunction> all;
  for (auto family : {samplers(), datasets(), loaders(), data_files()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace tend::test
