// mayfly: looks into stored state, checks it, and moves it.
#include <algorithm>
#include <cxxopts.hpp>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "mayfly/commands.h"

namespace mayfly::tool {
namespace {

constexpr int kWrongUsage = 2;
constexpr int kDamaged = 3;

constexpr char kUsage[] = R"(usage: mayfly COMMAND ARGUMENTS

  inspect PATH [--state=NAME [--key=TEXT | --key-hex=HEX]]
               [--as-of-commit] [--json]
      what is stored: states, their kinds, serializers and TTL, entries live and
      expired, bytes, what expires when; or the entries of one key
  verify PATH [--json]
      reads all of it and checks checksums, structure and entries
  compact PATH
      rewrites the databases of a job that is stopped, so that what has expired
      leaves the disk
  savepoint JOB SAVEPOINTS
      writes the next savepoint of a job that is stopped: JOB is its state
      directory, SAVEPOINTS where its savepoints are; the job itself restores it
  savepoint SHARD FILE
      writes the state of one shard into a new file for either backend
  restore SOURCE... --to=DIRECTORY [--backend=rocksdb|heap]
               [--shard=N --shards=N] [--position-hex=HEX | --no-position]
      fills a shard's directory from savepoint files and shards' directories;
      its position is theirs, if it is the same for all of them, or as given

PATH is the state directory of a job, a checkpoint, a savepoint, a directory of
these (the newest is taken), the directory of one shard, or a savepoint file.
TEXT is a key of strings; other keys are given in hex, as their serializer
writes them.

exit code: 0 done; 1 failed; 2 wrong usage; 3 the state is damaged
)";

class UsageError : public std::exception {
 public:
  explicit UsageError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// cxxopts takes flags apart by a regular expression, the depth of which is that
// of the stack.
void CheckLengths(int argc, char** argv) {
  constexpr std::size_t kBytesMax = 16384;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).size() <= kBytesMax) continue;
    throw UsageError(absl::StrCat("argument ", i, " has more than ", kBytesMax,
                                  " bytes, which is what the command takes"));
  }
}

cxxopts::Options Flags() {
  cxxopts::Options options("mayfly");
  auto add = options.add_options();
  add("state", "", cxxopts::value<std::string>()->default_value(""));
  add("key", "", cxxopts::value<std::string>());
  add("key-hex", "", cxxopts::value<std::string>());
  add("as-of-commit", "");
  add("json", "");
  add("to", "", cxxopts::value<std::string>());
  add("backend", "", cxxopts::value<std::string>()->default_value("rocksdb"));
  add("shard", "", cxxopts::value<int>()->default_value("0"));
  add("shards", "", cxxopts::value<int>()->default_value("1"));
  add("position-hex", "", cxxopts::value<std::string>());
  add("no-position", "");
  add("help", "");
  add("arguments", "", cxxopts::value<std::vector<std::string>>());
  options.parse_positional("arguments");
  return options;
}

// Refuses flags that the command does not know.
void Allow(const cxxopts::ParseResult& given,
           const std::vector<std::string>& known) {
  for (const cxxopts::KeyValue& flag : given.arguments()) {
    if (flag.key() == "arguments") continue;
    if (std::ranges::find(known, flag.key()) != known.end()) continue;
    throw UsageError("--" + flag.key() + " is not a flag of this command");
  }
}

void Expect(const std::vector<std::string>& arguments, std::size_t count,
            const char* what) {
  if (arguments.size() == count) return;
  throw UsageError(absl::StrCat("this command takes ", what, ", and got ",
                                arguments.size(), " arguments"));
}

BackendKind BackendOf(const std::string& name) {
  if (name == "rocksdb") return BackendKind::kRocksdb;
  if (name == "heap") return BackendKind::kHeap;
  throw UsageError("--backend=" + name + ": give rocksdb or heap");
}

std::string BytesOfHex(const std::string& flag, const std::string& hex) {
  const bool good =
      hex.size() % 2 == 0 &&
      hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  if (!good) {
    throw UsageError("--" + flag + "=" + hex + ": give pairs of hex digits");
  }
  return absl::HexStringToBytes(hex);
}

absl::Status RunInspect(const cxxopts::ParseResult& given,
                        const std::vector<std::string>& paths) {
  Allow(given, {"state", "key", "key-hex", "as-of-commit", "json"});
  Expect(paths, 1, "one PATH");
  InspectArguments arguments{.path = paths.front(),
                             .state = given["state"].as<std::string>(),
                             .as_of_commit = given.count("as-of-commit") > 0,
                             .json = given.count("json") > 0};
  if (given.count("key") > 0) arguments.key = given["key"].as<std::string>();
  if (given.count("key-hex") > 0) {
    arguments.key = BytesOfHex("key-hex", given["key-hex"].as<std::string>());
  }
  arguments.by_key = given.count("key") + given.count("key-hex") > 0;
  if (arguments.by_key && arguments.state.empty()) {
    throw UsageError("--key needs --state");
  }
  return Inspect(arguments);
}

absl::Status RunRestore(const cxxopts::ParseResult& given,
                        const std::vector<std::string>& sources) {
  Allow(given,
        {"to", "backend", "shard", "shards", "position-hex", "no-position"});
  if (sources.empty() || given.count("to") == 0) {
    throw UsageError("restore takes one SOURCE or more, and --to=DIRECTORY");
  }
  if (given.count("position-hex") + given.count("no-position") > 1) {
    throw UsageError("give --position-hex or --no-position, not both");
  }
  RestoreArguments arguments{
      .sources = sources,
      .directory = given["to"].as<std::string>(),
      .backend = BackendOf(given["backend"].as<std::string>()),
      .shard = given["shard"].as<int>(),
      .shards = given["shards"].as<int>()};
  if (arguments.directory.empty()) throw UsageError("--to= names no directory");
  if (arguments.shard < 0 || arguments.shard >= arguments.shards) {
    throw UsageError("give --shard=N --shards=M with N from 0 to M - 1");
  }
  if (given.count("no-position") > 0) arguments.position = "";
  if (given.count("position-hex") > 0) {
    arguments.position =
        BytesOfHex("position-hex", given["position-hex"].as<std::string>());
  }
  return Restore(arguments);
}

absl::Status RunCommand(const std::string& command,
                        const cxxopts::ParseResult& given,
                        const std::vector<std::string>& arguments) {
  if (command == "inspect") return RunInspect(given, arguments);
  if (command == "verify") {
    Allow(given, {"json"});
    Expect(arguments, 1, "one PATH");
    return Verify(arguments[0], given.count("json") > 0);
  }
  if (command == "compact") {
    Allow(given, {});
    Expect(arguments, 1, "one PATH");
    return Compact(arguments[0]);
  }
  if (command == "savepoint") {
    Allow(given, {});
    Expect(arguments, 2, "a JOB and SAVEPOINTS, or a SHARD and a FILE");
    return Savepoint(arguments[0], arguments[1]);
  }
  if (command == "restore") return RunRestore(given, arguments);
  throw UsageError("there is no command '" + command + "'; try --help");
}

int Main(int argc, char** argv) {
  try {
    CheckLengths(argc, argv);
    cxxopts::Options flags = Flags();
    const cxxopts::ParseResult given = flags.parse(argc, argv);
    if (given.count("help") > 0 || given.count("arguments") == 0) {
      (given.count("help") > 0 ? std::cout : std::cerr) << kUsage;
      return given.count("help") > 0 ? 0 : kWrongUsage;
    }
    auto arguments = given["arguments"].as<std::vector<std::string>>();
    const std::string command = arguments.front();
    arguments.erase(arguments.begin());
    const absl::Status status = RunCommand(command, given, arguments);
    std::cout.flush();
    if (status.ok() && std::cout) return 0;
    std::cerr << "mayfly: "
              << (status.ok() ? "cannot write to standard output"
                              : status.message())
              << "\n";
    return absl::IsDataLoss(status) ? kDamaged : 1;
  } catch (const UsageError& error) {
    std::cerr << "mayfly: " << error.what() << "\n";
  } catch (const cxxopts::exceptions::exception& error) {
    std::cerr << "mayfly: " << error.what() << "; try --help\n";
  }
  return kWrongUsage;
}

}  // namespace
}  // namespace mayfly::tool

int main(int argc, char** argv) { return mayfly::tool::Main(argc, argv); }
