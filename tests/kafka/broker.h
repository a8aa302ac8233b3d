// A broker of Apache Kafka for tests, run by the script that lies beside this.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/testing/temp_directory.h"

namespace mayfly::kafka_test {

// A broker that nobody else uses, which may be killed. It ends, and its data
// go, with the test program, however that ends.
// Threads: one.
class Broker {
 public:
  // Takes some 4 s.
  // Errors: kUnavailable if Kafka cannot be had on this machine, which is a
  // reason to skip a test; kInternal with the words of the broker if it fails.
  static absl::StatusOr<std::unique_ptr<Broker>> Start();

  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;
  ~Broker();

  // "127.0.0.1:24242", which stays through restarts.
  const std::string& bootstrap() const { return bootstrap_; }

  // As SIGKILL does.
  absl::Status Kill();
  // In good order.
  absl::Status Stop();
  // After one of these two; takes some 3 s, after Kill() some 5 s.
  absl::Status Restart();

  // Between these two it answers nothing, and connections to it stay open.
  absl::Status Pause();
  absl::Status Continue();

 private:
  Broker() = default;

  absl::Status Run(std::string_view command);

  TempDirectory directory_;
  std::string bootstrap_;
};

// The address of a broker for tests that use topics and groups of their own and
// do it no harm: the one that the environment variable MAYFLY_KAFKA_BOOTSTRAP
// names; or else CTest's, in the directory MAYFLY_KAFKA_DIRECTORY; or else one
// that is started for this program.
// Errors: as Broker::Start().
absl::StatusOr<std::string> SharedBootstrap();

}  // namespace mayfly::kafka_test
