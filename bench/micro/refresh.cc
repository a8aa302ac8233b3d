// What it costs that reads renew timestamps, beside reads that do not.
//
// Time is simulated: under a TTL of an hour each key is read every 100 seconds
// on average. A twentieth of the TTL is three minutes, so that about 36 reads
// in 100 come late enough to renew the timestamp.
#include <chrono>
#include <utility>

#include "bench/harness/subject.h"
#include "bench/micro/registration.h"
#include "bench/micro/value_stores.h"

namespace mayfly::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kTtl = std::chrono::hours(1);
constexpr std::size_t kValueBytes = 100;

// Values that grow older with each operation.
class AgeingValues {
 public:
  AgeingValues(ShardOptions options, std::size_t keys,
               const StateTtlConfig::Builder& ttl)
      : clock_(std::make_shared<SteppedClock>()),
        // Puts all keys over the time in which reads come to renew one, so that
        // the first reads already meet keys of all ages.
        between_puts_(microseconds(seconds(280)) / keys),
        between_gets_(microseconds(seconds(100)) / keys),
        values_(WithClock(std::move(options), clock_), ttl) {}

  void Put(const std::string& key, const std::string& value) {
    clock_->Step(between_puts_);
    values_.Put(key, value);
  }

  std::uint64_t Get(const std::string& key) {
    clock_->Step(between_gets_);
    return values_.Get(key);
  }

  void Flush() { values_.Flush(); }
  void Compact() { values_.Compact(); }

 private:
  static ShardOptions WithClock(ShardOptions options,
                                std::shared_ptr<const TtlClock> clock) {
    options.clock = std::move(clock);
    return options;
  }

  const std::shared_ptr<SteppedClock> clock_;
  const microseconds between_puts_;
  const microseconds between_gets_;
  MayflyValues<std::string, std::string> values_;
};

void Register(const Registration& registration, const std::string& name,
              BackendKind kind, std::size_t keys, std::size_t operations) {
  const Work work{KeysOf<std::string>(Uniform(operations, keys)), kGet,
                  NoReadBack()};
  const ShardOptions options{
      .kind = kind,
      .table_bytes_max = keys / 10 * TableBytesOfValue(kValueBytes),
      .commit_every =
          kind == BackendKind::kHeap ? 0 : registration.scale.commit_every};
  const auto mayfly = [=](const StateTtlConfig::Builder& ttl) {
    return [=] {
      return work.On(Loaded<std::string, std::string>(
          std::make_unique<AgeingValues>(options, keys, ttl), keys,
          kValueBytes));
    };
  };
  const auto refreshing = [](milliseconds granularity) {
    return StateTtlConfig::NewBuilder(kTtl)
        .SetUpdateType(UpdateType::kOnReadAndWrite)
        .SetRefreshGranularity(granularity);
  };
  RegisterWorkload(
      {.name = name,
       .operations = operations,
       .contenders = {{"on_create_and_write",
                       mayfly(StateTtlConfig::NewBuilder(kTtl))},
                      {"on_read_20th", mayfly(refreshing(kTtl / 20))},
                      {"on_read_always", mayfly(refreshing(milliseconds(0)))}},
       .comparisons = {{"on_read_20th", "on_create_and_write", 0.7},
                       {"on_read_always", "on_create_and_write", 0.4}}},
      registration);
}

}  // namespace

void RegisterRefresh(const Registration& registration) {
  const Scale& scale = registration.scale;
  Register(registration, "heap/value/get_refreshing", BackendKind::kHeap,
           scale.heap_keys, scale.heap_operations);
  Register(registration, "rocksdb/value/get_refreshing", BackendKind::kRocksdb,
           scale.keys / 2, scale.operations);
}

}  // namespace mayfly::bench
