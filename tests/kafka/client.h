// What tests ask of a broker, through librdkafka itself: no code of Mayfly's
// lies between. A failure that no test expects ends the program with a message.
// Topics have one partition.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mayfly::kafka_test {

struct Record {
  std::optional<std::string> key;
  // None for a tombstone.
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::int64_t timestamp_ms = 0;

  friend bool operator==(const Record&, const Record&) = default;
  friend void PrintTo(const Record& record, std::ostream* out) {
    *out << record.key.value_or("(null)") << "="
         << record.value.value_or("(null)") << " at " << record.timestamp_ms;
    for (const auto& header : record.headers) {
      *out << " " << header.first << ":" << header.second;
    }
  }
};

// A timestamp for records that brokers take, for it is not ahead of their time,
// and keep, for it is younger than the retention of a topic.
std::int64_t HourAgoMs();

// As in librdkafka's CONFIGURATION.md, or a topic's.
using Settings = std::map<std::string, std::string>;

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy>;

Client NewProducer(const std::string& bootstrap, const Settings& more = {});

std::vector<std::int32_t> BrokerIds(rd_kafka_t* client);

void CreateTopic(rd_kafka_t* client, const std::string& topic,
                 const Settings& settings);
Settings DescribeTopic(rd_kafka_t* client, const std::string& topic);

// Queues it; Flush() waits until the broker has all that is queued.
void Send(rd_kafka_t* producer, const std::string& topic, const Record& record);
void Flush(rd_kafka_t* producer);

struct Offsets {
  std::int64_t first = 0;
  std::int64_t end = 0;
};
Offsets QueryOffsets(rd_kafka_t* client, const std::string& topic);

enum class Isolation { kReadCommitted, kReadUncommitted };

// All that a topic holds, from its first offset to the end of what such a
// reader may see.
std::vector<Record> ReadAll(const std::string& bootstrap,
                            const std::string& topic,
                            Isolation isolation = Isolation::kReadCommitted);

// Ends the program if `error` is one; destroys it.
void Check(rd_kafka_error_t* error, std::string_view what);

}  // namespace mayfly::kafka_test
