#include "tests/kafka/client.h"

#include <cstdio>
#include <cstdlib>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace mayfly::kafka_test {
namespace {

// Far beyond what a broker needs on a busy machine.
constexpr int kTimeoutMs = 30'000;

[[noreturn]] void Die(std::string_view what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", std::string(what).c_str(), why);
  std::abort();
}

void Check(rd_kafka_resp_err_t error, std::string_view what) {
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) Die(what, rd_kafka_err2str(error));
}

void CheckDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  Check(message->err, "delivery");
}

Client NewClient(rd_kafka_type_t type, const Settings& settings) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char why[512];
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why,
                          sizeof(why)) != RD_KAFKA_CONF_OK) {
      Die(name, why);
    }
  }
  if (type == RD_KAFKA_PRODUCER) {
    rd_kafka_conf_set_dr_msg_cb(conf, CheckDelivery);
  }
  Client client(rd_kafka_new(type, conf, why, sizeof(why)));
  if (client == nullptr) Die("rd_kafka_new", why);
  return client;
}

// A call of the admin API: `ask` sends it to the queue, whence its answer
// comes.
template <typename Ask>
std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> Answer(
    rd_kafka_t* client, const char* what, Ask ask) {
  const std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>
      queue(rd_kafka_queue_new(client), rd_kafka_queue_destroy);
  ask(queue.get());
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue.get(), kTimeoutMs);
  if (event == nullptr) Die(what, "no answer");
  Check(rd_kafka_event_error(event), what);
  return {event, rd_kafka_event_destroy};
}

std::optional<std::string> Bytes(const void* data, std::size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(data), size);
}

Record ToRecord(const rd_kafka_message_t& message) {
  Record record{.key = Bytes(message.key, message.key_len),
                .value = Bytes(message.payload, message.len),
                .timestamp_ms = rd_kafka_message_timestamp(&message, nullptr)};
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != 0) return record;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; ++i) {
    record.headers.emplace_back(name, Bytes(value, size).value_or(""));
  }
  return record;
}

rd_kafka_vu_t Part(rd_kafka_vtype_t type, const std::optional<std::string>& v) {
  rd_kafka_vu_t part{.vtype = type, .u = {}};
  if (v.has_value()) {
    part.u.mem.ptr = const_cast<char*>(v->data());
    part.u.mem.size = v->size();
  }
  return part;
}

}  // namespace

std::int64_t HourAgoMs() {
  return absl::ToUnixMillis(absl::Now() - absl::Hours(1));
}

void Check(rd_kafka_error_t* error, std::string_view what) {
  if (error != nullptr) Die(what, rd_kafka_error_string(error));
}

Client NewProducer(const std::string& bootstrap, const Settings& more) {
  Settings settings = more;
  settings.insert(
      {{"bootstrap.servers", bootstrap}, {"enable.idempotence", "true"}});
  return NewClient(RD_KAFKA_PRODUCER, settings);
}

std::vector<std::int32_t> BrokerIds(rd_kafka_t* client) {
  const rd_kafka_metadata_t* metadata = nullptr;
  Check(rd_kafka_metadata(client, /*all_topics=*/0, nullptr, &metadata,
                          kTimeoutMs),
        "metadata");
  std::vector<std::int32_t> ids;
  ids.reserve(static_cast<std::size_t>(metadata->broker_cnt));
  for (int i = 0; i < metadata->broker_cnt; ++i) {
    ids.push_back(metadata->brokers[i].id);
  }
  rd_kafka_metadata_destroy(metadata);
  return ids;
}

void CreateTopic(rd_kafka_t* client, const std::string& topic,
                 const Settings& settings) {
  char why[512];
  rd_kafka_NewTopic_t* wanted =
      rd_kafka_NewTopic_new(topic.c_str(), /*num_partitions=*/1,
                            /*replication_factor=*/1, why, sizeof(why));
  if (wanted == nullptr) Die(topic, why);
  for (const auto& [name, value] : settings) {
    Check(rd_kafka_NewTopic_set_config(wanted, name.c_str(), value.c_str()),
          name);
  }
  const auto answer =
      Answer(client, "CreateTopics", [&](rd_kafka_queue_t* queue) {
        rd_kafka_CreateTopics(client, &wanted, 1, nullptr, queue);
      });
  rd_kafka_NewTopic_destroy(wanted);
  std::size_t count = 0;
  const rd_kafka_topic_result_t* const* results =
      rd_kafka_CreateTopics_result_topics(
          rd_kafka_event_CreateTopics_result(answer.get()), &count);
  Check(rd_kafka_topic_result_error(results[0]), topic);
}

Settings DescribeTopic(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_ConfigResource_t* asked =
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
  const auto answer =
      Answer(client, "DescribeConfigs", [&](rd_kafka_queue_t* queue) {
        rd_kafka_DescribeConfigs(client, &asked, 1, nullptr, queue);
      });
  rd_kafka_ConfigResource_destroy(asked);
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t* const* resources =
      rd_kafka_DescribeConfigs_result_resources(
          rd_kafka_event_DescribeConfigs_result(answer.get()), &count);
  Check(rd_kafka_ConfigResource_error(resources[0]), topic);
  const rd_kafka_ConfigEntry_t* const* entries =
      rd_kafka_ConfigResource_configs(resources[0], &count);
  Settings settings;
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value == nullptr) continue;
    settings[rd_kafka_ConfigEntry_name(entries[i])] = value;
  }
  return settings;
}

void Send(rd_kafka_t* producer, const std::string& topic,
          const Record& record) {
  std::vector<rd_kafka_vu_t> parts = {
      Part(RD_KAFKA_VTYPE_KEY, record.key),
      Part(RD_KAFKA_VTYPE_VALUE, record.value),
      {.vtype = RD_KAFKA_VTYPE_TOPIC, .u = {.cstr = topic.c_str()}},
      {.vtype = RD_KAFKA_VTYPE_PARTITION, .u = {.i32 = 0}},
      {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u = {.i = RD_KAFKA_MSG_F_COPY}},
      {.vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u = {.i64 = record.timestamp_ms}}};
  for (const auto& [name, value] : record.headers) {
    rd_kafka_vu_t part{.vtype = RD_KAFKA_VTYPE_HEADER, .u = {}};
    part.u.header = {.name = name.c_str(),
                     .val = value.data(),
                     .size = static_cast<ssize_t>(value.size())};
    parts.push_back(part);
  }
  Check(rd_kafka_produceva(producer, parts.data(), parts.size()), topic);
  rd_kafka_poll(producer, 0);
}

void Flush(rd_kafka_t* producer) {
  Check(rd_kafka_flush(producer, kTimeoutMs), "flush");
}

Offsets QueryOffsets(rd_kafka_t* client, const std::string& topic) {
  Offsets offsets;
  Check(rd_kafka_query_watermark_offsets(
            client, topic.c_str(), 0, &offsets.first, &offsets.end, kTimeoutMs),
        topic);
  return offsets;
}

std::vector<Record> ReadAll(const std::string& bootstrap,
                            const std::string& topic, Isolation isolation) {
  const Client consumer =
      NewClient(RD_KAFKA_CONSUMER,
                {{"bootstrap.servers", bootstrap},
                 {"group.id", topic},  // Required, though nothing is committed.
                 {"enable.auto.commit", "false"},
                 {"enable.partition.eof", "true"},
                 {"fetch.wait.max.ms", "50"},
                 {"isolation.level", isolation == Isolation::kReadCommitted
                                         ? "read_committed"
                                         : "read_uncommitted"}});
  rd_kafka_topic_partition_list_t* partitions =
      rd_kafka_topic_partition_list_new(1);
  // A number: librdkafka takes half a second to look for the beginning.
  rd_kafka_topic_partition_list_add(partitions, topic.c_str(), 0)->offset =
      QueryOffsets(consumer.get(), topic).first;
  Check(rd_kafka_assign(consumer.get(), partitions), topic);
  rd_kafka_topic_partition_list_destroy(partitions);
  std::vector<Record> records;
  while (true) {
    rd_kafka_message_t* message =
        rd_kafka_consumer_poll(consumer.get(), kTimeoutMs);
    if (message == nullptr) Die(topic, "neither a record nor the end");
    const rd_kafka_resp_err_t error = message->err;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      records.push_back(ToRecord(*message));
    }
    rd_kafka_message_destroy(message);
    if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF) return records;
    Check(error, topic);
  }
}

}  // namespace mayfly::kafka_test
