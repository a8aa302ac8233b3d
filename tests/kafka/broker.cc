#include "tests/kafka/broker.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/process/process.h"

namespace mayfly::kafka_test {
namespace {

// What the script says when tests are to be skipped.
constexpr int kUnavailableExit = 77;

absl::Status RunScript(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), MAYFLY_KAFKA_SCRIPT);
  const process::ProcessResult result = process::RunProcess(arguments);
  if (result.exit_code == 0) return absl::OkStatus();
  if (result.exit_code == kUnavailableExit) {
    return absl::UnavailableError(result.err);
  }
  return absl::InternalError(result.err);
}

// The first line of a file; nullopt if there is none.
std::optional<std::string> FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

absl::StatusOr<std::string> BootstrapOf(const std::string& directory) {
  if (const auto why = FirstLine(absl::StrCat(directory, "/unavailable"))) {
    return absl::UnavailableError(*why);
  }
  if (auto address = FirstLine(absl::StrCat(directory, "/bootstrap"))) {
    return *std::move(address);
  }
  return absl::InternalError(
      absl::StrCat("no broker has been started in ", directory));
}

const char* SharedDirectory() { return std::getenv("MAYFLY_KAFKA_DIRECTORY"); }

}  // namespace

absl::StatusOr<std::unique_ptr<Broker>> Broker::Start() {
  if (const char* directory = SharedDirectory()) {
    // What could not be had a minute ago is not asked for by each test.
    const absl::Status shared = BootstrapOf(directory).status();
    if (absl::IsUnavailable(shared)) return shared;
  }
  std::unique_ptr<Broker> broker(new Broker());
  if (absl::Status status = broker->Restart(); !status.ok()) return status;
  absl::StatusOr<std::string> bootstrap =
      BootstrapOf(broker->directory_.path());
  if (!bootstrap.ok()) return bootstrap.status();
  broker->bootstrap_ = *std::move(bootstrap);
  return broker;
}

Broker::~Broker() { Run("remove").IgnoreError(); }

absl::Status Broker::Kill() { return Run("kill"); }

absl::Status Broker::Stop() { return Run("stop"); }

absl::Status Broker::Restart() {
  return RunScript({"start", "--with-parent", directory_.path()});
}

absl::Status Broker::Pause() { return Run("pause"); }

absl::Status Broker::Continue() { return Run("continue"); }

absl::Status Broker::Run(std::string_view command) {
  return RunScript({std::string(command), directory_.path()});
}

absl::StatusOr<std::string> SharedBootstrap() {
  if (const char* given = std::getenv("MAYFLY_KAFKA_BOOTSTRAP")) return given;
  if (const char* directory = SharedDirectory()) return BootstrapOf(directory);
  // Never destroyed: the broker ends with the program.
  static const auto& broker =
      *new absl::StatusOr<std::unique_ptr<Broker>>(Broker::Start());
  if (!broker.ok()) return broker.status();
  return (*broker)->bootstrap();
}

}  // namespace mayfly::kafka_test
