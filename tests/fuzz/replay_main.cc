// Runs a fuzz target without libFuzzer: on every file of a corpus, then on
// seeded random mutations of them, so that each build replays the same inputs.
//
//   list_fuzz [--mutations=20000] [--seed=1] CORPUS_FILE_OR_FOLDER...
//
// A target that finds something wrong aborts; the input that did it is written
// to crash-<seed>-<number> in the working directory, and can be given as the
// corpus to run it alone.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kInputBytesMax = 4096;

struct Flags {
  std::uint64_t mutations = 20'000;
  std::uint64_t seed = 1;
  std::vector<fs::path> corpus;
};

// What runs now, for the handler that saves it.
std::string g_input;       // NOLINT: a signal handler sees only globals.
std::string g_crash_file;  // NOLINT

void SaveInput(int signal) {
  std::ofstream(g_crash_file, std::ios::binary) << g_input;
  std::cerr << "input saved in " << fs::absolute(g_crash_file) << "\n";
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(std::string input, const std::string& crash_file) {
  g_input = std::move(input);
  g_crash_file = crash_file;
  // A copy of exact size, so that a sanitizer sees a read past its end.
  const std::vector<std::uint8_t> bytes(g_input.begin(), g_input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string Read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> ReadCorpus(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);  // The order of a folder differs by machine.
  std::vector<std::string> inputs;
  inputs.reserve(files.size());
  for (const fs::path& file : files) inputs.push_back(Read(file));
  return inputs;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  // One of `corpus`, changed in up to eight places.
  std::string Mutate(const std::vector<std::string>& corpus) {
    std::string input = corpus[Below(corpus.size())];
    for (std::size_t i = 1 + Below(8); i > 0; --i) MutateOnce(corpus, input);
    input.resize(std::min(input.size(), kInputBytesMax));
    return input;
  }

 private:
  // Uniform enough, and the same with every standard library.
  std::size_t Below(std::size_t bound) { return random_() % bound; }

  char Byte() {
    // Bounds of lengths and signs are where decoders go wrong.
    constexpr std::string_view kInteresting("\x00\x01\x7f\x80\xff", 5);
    return Below(2) == 0 ? kInteresting[Below(kInteresting.size())]
                         : static_cast<char>(Below(256));
  }

  void MutateOnce(const std::vector<std::string>& corpus, std::string& input) {
    const std::size_t at = Below(input.size() + 1);
    const std::size_t length = Below(input.size() - at + 1);
    switch (Below(6)) {
      case 0:
        if (at < input.size()) {
          input[at] = static_cast<char>(input[at] ^ (1 << Below(8)));
        }
        break;
      case 1:
        if (at < input.size()) input[at] = Byte();
        break;
      case 2:
        input.insert(at, 1, Byte());
        break;
      case 3:
        input.erase(at, length);
        break;
      case 4:
        input.insert(at, input.substr(at, length));
        break;
      default: {
        const std::string& other = corpus[Below(corpus.size())];
        input.replace(at, length, other, Below(other.size() + 1));
      }
    }
  }

  std::mt19937_64 random_;
};

bool ParseNumber(std::string_view argument, std::string_view flag,
                 std::uint64_t& value) {
  if (!argument.starts_with(flag)) return false;
  value = std::stoull(std::string(argument.substr(flag.size())));
  return true;
}

Flags Parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!ParseNumber(argument, "--mutations=", flags.mutations) &&
        !ParseNumber(argument, "--seed=", flags.seed)) {
      flags.corpus.emplace_back(argument);
    }
  }
  return flags;
}

int Replay(const Flags& flags) {
  const std::vector<std::string> corpus = ReadCorpus(flags.corpus);
  if (corpus.empty()) {
    std::cerr << "there is no corpus: name its files or their folder\n";
    return 2;
  }
  std::signal(SIGABRT, SaveInput);
  const std::string crash = "crash-" + std::to_string(flags.seed) + "-";
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    Run(corpus[i], crash + "corpus-" + std::to_string(i));
  }
  Mutator mutator(flags.seed);
  for (std::uint64_t i = 0; i < flags.mutations; ++i) {
    Run(mutator.Mutate(corpus), crash + std::to_string(i));
  }
  std::cout << "seed " << flags.seed << ": " << corpus.size() << " files and "
            << flags.mutations << " mutations of them\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Replay(Parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
