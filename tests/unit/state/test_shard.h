// What the tests of this folder share: a shard in a directory of its own, on
// either backend, with a clock that stands until it is moved.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/temp_directory.h"

namespace mayfly::state_test {

// A configuration on which equal operations must give equal answers.
struct BackendSetup {
  const char* name;
  BackendKind kind;
  std::size_t table_bytes_max = std::size_t{64} << 20;
};

inline void PrintTo(const BackendSetup& setup, std::ostream* out) {
  *out << setup.name;
}

inline constexpr BackendSetup kHeap{"Heap", BackendKind::kHeap};
inline constexpr BackendSetup kRocksdb{"Rocksdb", BackendKind::kRocksdb};
// So small that nearly every change of the key evicts what is committed.
inline constexpr BackendSetup kRocksdbTinyTable{"RocksdbTinyTable",
                                                BackendKind::kRocksdb, 4096};

// Where little differs between a large and a tiny table.
inline auto SomeSetups() { return ::testing::Values(kHeap, kRocksdbTinyTable); }
inline auto AllSetups() {
  return ::testing::Values(kHeap, kRocksdb, kRocksdbTinyTable);
}
inline auto BothBackends() { return ::testing::Values(kHeap, kRocksdb); }

inline std::string SetupName(
    const ::testing::TestParamInfo<BackendSetup>& info) {
  return info.param.name;
}

// For steps that a test takes for granted: an error throws, which fails it.
inline void Must(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

inline StateTtlConfig::Builder TtlBuilder(std::int64_t ttl_ms) {
  return StateTtlConfig::NewBuilder(std::chrono::milliseconds(ttl_ms));
}

inline StateTtlConfig Ttl(
    std::int64_t ttl_ms, UpdateType update = UpdateType::kOnCreateAndWrite,
    StateVisibility visibility = StateVisibility::kNeverReturnExpired) {
  return TtlBuilder(ttl_ms)
      .SetUpdateType(update)
      .SetStateVisibility(visibility)
      .Build()
      .value();
}

// A descriptor of any kind, with a TTL if one is given.
template <typename Descriptor>
Descriptor Describe(std::string name,
                    const std::optional<StateTtlConfig>& ttl = std::nullopt) {
  Descriptor descriptor(std::move(name));
  if (ttl) descriptor.EnableTimeToLive(*ttl);
  return descriptor;
}

template <typename K = std::string>
class Shard {
 public:
  explicit Shard(const BackendSetup& setup, TimestampMs now_ms = 0)
      : clock_(std::make_shared<ManualClock>(now_ms)) {
    options.kind = setup.kind;
    options.directory = directory_.Path("shard");
    options.table_bytes_max = setup.table_bytes_max;
    options.processing_clock = clock_;
    Reopen();
  }

  KeyedStateBackend<K>* operator->() { return backend_.get(); }
  KeyedStateBackend<K>& backend() { return *backend_; }
  ManualClock& clock() { return *clock_; }

  template <typename Descriptor>
  auto& Get(const Descriptor& descriptor) {
    return *backend_->GetState(descriptor).value();
  }

  void Commit(std::string_view position = {}) {
    Must(backend_->Commit(position));
  }

  // Gives up the backend. Whatever is not committed is forgotten, just as if
  // the process had died; its states are gone too.
  void Close() { backend_.reset(); }

  absl::Status TryReopen() {
    Close();
    absl::StatusOr<std::unique_ptr<KeyedStateBackend<K>>> opened =
        KeyedStateBackend<K>::Open(options);
    if (!opened.ok()) return opened.status();
    backend_ = *std::move(opened);
    return absl::OkStatus();
  }
  void Reopen() { Must(TryReopen()); }

  // What a state holds physically, expired or not: in its column family, or on
  // heap in its table.
  std::uint64_t StoredEntries(const std::string& state) {
    const std::vector<StateStatistics> all = backend_->Statistics().value();
    for (const StateStatistics& counts : all) {
      if (counts.state != state) continue;
      return counts.live_entries + counts.expired_entries;
    }
    throw std::runtime_error("no state '" + state + "' is registered");
  }

  std::uint64_t CommittedEntries(const std::string& state) {
    Commit();
    return StoredEntries(state);
  }

  // Used by Reopen().
  BackendOptions options;

 private:
  const TempDirectory directory_;
  const std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<KeyedStateBackend<K>> backend_;
};

// Reads of the current key, as plain values.

template <typename T>
std::optional<T> Read(ValueState<T>& state) {
  const T* const value = state.Value().value();
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

template <typename T>
std::vector<T> Read(ListState<T>& state) {
  const ListRange<T> range = state.Get().value();
  return std::vector<T>(range.begin(), range.end());
}

template <typename UK, typename UV>
std::map<UK, UV> Read(MapState<UK, UV>& state) {
  MapRange<UK, UV> range = state.Entries().value();
  std::map<UK, UV> entries;
  for (const auto& [key, value] : range) {
    if (!entries.emplace(key, value).second) {
      throw std::runtime_error("a map walk yielded an entry twice");
    }
  }
  Must(range.status());
  return entries;
}

template <typename UK, typename UV>
std::optional<UV> Read(MapState<UK, UV>& state, const UK& key) {
  const UV* const value = state.Get(key).value();
  return value == nullptr ? std::nullopt : std::optional<UV>(*value);
}

}  // namespace mayfly::state_test
