// State without a job: a loop of your own that keeps the sessions of users.
//
// Reads lines "user page" from standard input and counts the pages of each
// user's session, which ends after half an hour of silence. A line of "user
// remember" has the session live for a day.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/keyed_state_backend.h"

namespace {

using Backend = mayfly::KeyedStateBackend<std::string>;
using Sessions = mayfly::ValueState<std::int64_t>;

// A TTL is a setting of a state, and checked as a whole.
absl::StatusOr<mayfly::ValueStateDescriptor<std::int64_t>> DescribePages() {
  absl::StatusOr<mayfly::StateTtlConfig> ttl =
      mayfly::StateTtlConfig::NewBuilder(std::chrono::minutes(30)).Build();
  if (!ttl.ok()) return ttl.status();
  mayfly::ValueStateDescriptor<std::int64_t> pages("pages");
  pages.EnableTimeToLive(*ttl);
  return pages;
}

absl::Status Count(Sessions& pages, const std::string& page) {
  const absl::StatusOr<const std::int64_t*> so_far = pages.Value();
  if (!so_far.ok()) return so_far.status();
  const std::int64_t count = *so_far == nullptr ? 1 : **so_far + 1;
  if (page == "remember") return pages.Update(count, std::chrono::hours(24));
  return pages.Update(count);
}

// When there is nothing else to do: about 10,000 entries, from where the last
// call ended.
absl::Status TidyUp(Backend& backend) {
  const absl::StatusOr<mayfly::CleanUpResult> result = backend.CleanUp(10'000);
  if (!result.ok()) return result.status();
  if (result->entries_removed == 0) return absl::OkStatus();
  return backend.Commit();
}

absl::Status Run(const std::string& directory) {
  mayfly::BackendOptions options;
  options.directory = directory;
  // Sessions come and go: small files are soon those of ended ones alone.
  options.rocksdb.states["pages"].file_bytes = std::size_t{8} << 20;
  absl::StatusOr<std::unique_ptr<Backend>> backend = Backend::Open(options);
  if (!backend.ok()) return backend.status();
  const auto descriptor = DescribePages();
  if (!descriptor.ok()) return descriptor.status();
  const absl::StatusOr<Sessions*> pages = (*backend)->GetState(*descriptor);
  if (!pages.ok()) return pages.status();

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string user;
    std::string page;
    words >> user >> page;
    (*backend)->SetCurrentKey(user);
    if (absl::Status status = Count(**pages, page); !status.ok()) return status;
    std::cout << user << " " << **(*pages)->Value() << std::endl;
  }
  if (absl::Status status = (*backend)->Commit(); !status.ok()) return status;
  return TidyUp(**backend);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sessions STATE_DIRECTORY < visits" << std::endl;
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::cerr << "sessions: " << status << std::endl;
  return status.ok() ? 0 : 1;
}
