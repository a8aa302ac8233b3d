#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kafka/kafka_error.h"
#include "kafka/kafka_handle.h"
#include "kafka/kafka_makers.h"
#include "kafka/partition_list.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::kafka_internal {
namespace {

int Ms(std::chrono::milliseconds duration) {
  return static_cast<int>(duration.count());
}

const char* CodecOf(Compression compression) {
  switch (compression) {
    case Compression::kLz4:
      return "lz4";
    case Compression::kZstd:
      return "zstd";
    case Compression::kNone:
      break;
  }
  return "none";
}

std::map<std::string, std::string> PropertiesOf(
    const ProducerOptions& options) {
  const std::size_t kib = std::clamp<std::size_t>(options.queue_bytes_max >> 10,
                                                  1, std::size_t{2} << 20);
  std::chrono::milliseconds delivery_timeout = options.delivery_timeout;
  std::map<std::string, std::string> ours = {
      {"enable.idempotence", "true"},
      {"linger.ms", std::to_string(options.linger.count())},
      {"compression.codec", CodecOf(options.compression)},
      {"queue.buffering.max.kbytes", std::to_string(kib)},
      // The bytes are the bound.
      {"queue.buffering.max.messages", "10000000"},
  };
  if (options.transactional_id) {
    delivery_timeout = std::min(delivery_timeout, options.transaction_timeout);
    ours["transactional.id"] = *options.transactional_id;
    ours["transaction.timeout.ms"] =
        std::to_string(options.transaction_timeout.count());
  }
  ours["message.timeout.ms"] = std::to_string(delivery_timeout.count());
  return ours;
}

// A null pointer stands for none, so nothing needs an address.
const void* Address(const std::optional<std::string_view>& bytes) {
  if (!bytes) return nullptr;
  return bytes->data() == nullptr ? "" : bytes->data();
}

std::size_t Size(const std::optional<std::string_view>& bytes) {
  return bytes ? bytes->size() : 0;
}

HeadersPtr HeadersOf(std::span<const Header> headers) {
  if (headers.empty()) return nullptr;
  HeadersPtr list(rd_kafka_headers_new(headers.size()));
  for (const Header& header : headers) {
    rd_kafka_header_add(list.get(), header.name.data(),
                        static_cast<ssize_t>(header.name.size()),
                        Address(header.value),
                        static_cast<ssize_t>(Size(header.value)));
  }
  return list;
}

class Producer final : public LogProducer, private KafkaHandle {
 public:
  ~Producer() override = default;

  absl::Status Open(const KafkaOptions& kafka, ProducerOptions options) {
    on_delivery_ = std::move(options.on_delivery);
    return KafkaHandle::Open(RD_KAFKA_PRODUCER, kafka, PropertiesOf(options));
  }

  absl::Status Produce(const ProducerRecord& record,
                       std::uint64_t tag) override {
    if (record.timestamp_ms <= 0) {
      return MakeLogError(LogError::kRejected,
                          "a record needs a timestamp after 1970");
    }
    MAYFLY_ASSIGN_OR_RETURN(rd_kafka_topic_t* const topic,
                            TopicOf(record.topic));
    HeadersPtr headers = HeadersOf(record.headers);
    const rd_kafka_resp_err_t code = rd_kafka_producev(
        client(), RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(record.partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(Address(record.key), Size(record.key)),
        RD_KAFKA_V_VALUE(const_cast<void*>(Address(record.value)),
                         Size(record.value)),
        RD_KAFKA_V_TIMESTAMP(record.timestamp_ms),
        RD_KAFKA_V_HEADERS(headers.get()),
        // NOLINTNEXTLINE(performance-no-int-to-ptr): it is never followed.
        RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(tag)), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      static_cast<void>(headers.release());  // They are the message's now.
      return absl::OkStatus();
    }
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
      return FatalStatusOf(client(), "producing");
    }
    return StatusOf(
        code, absl::StrCat("producing to '", std::string(record.topic), "'"));
  }

  absl::Status Poll(std::chrono::milliseconds timeout) override {
    rd_kafka_poll(client(), Ms(timeout));
    return TakeFinalError();
  }

  absl::Status Flush(std::chrono::milliseconds timeout) override {
    const rd_kafka_resp_err_t code = rd_kafka_flush(client(), Ms(timeout));
    MAYFLY_RETURN_IF_ERROR(TakeFinalError());
    return StatusOf(code, "flushing");
  }

  absl::Status InitTransactions(std::chrono::milliseconds timeout) override {
    return StatusOf(ErrorPtr(rd_kafka_init_transactions(client(), Ms(timeout))),
                    "initialising transactions");
  }

  absl::Status BeginTransaction() override {
    return StatusOf(ErrorPtr(rd_kafka_begin_transaction(client())),
                    "beginning a transaction");
  }

  absl::Status SendOffsets(std::span<const PartitionOffset> offsets,
                           const GroupMetadata& group,
                           std::chrono::milliseconds timeout) override {
    rd_kafka_consumer_group_metadata_t* read = nullptr;
    MAYFLY_RETURN_IF_ERROR(
        StatusOf(ErrorPtr(rd_kafka_consumer_group_metadata_read(
                     &read, group.bytes.data(), group.bytes.size())),
                 "metadata of a group"));
    const GroupMetadataPtr metadata(read);
    const PartitionListPtr list = ToList(offsets);
    return StatusOf(ErrorPtr(rd_kafka_send_offsets_to_transaction(
                        client(), list.get(), metadata.get(), Ms(timeout))),
                    "adding offsets to a transaction");
  }

  absl::Status CommitTransaction(std::chrono::milliseconds timeout) override {
    return StatusOf(
        ErrorPtr(rd_kafka_commit_transaction(client(), Ms(timeout))),
        "committing a transaction");
  }

  absl::Status AbortTransaction(std::chrono::milliseconds timeout) override {
    return StatusOf(ErrorPtr(rd_kafka_abort_transaction(client(), Ms(timeout))),
                    "aborting a transaction");
  }

 private:
  void OnDelivery(const rd_kafka_message_t& message) override {
    const bool ok = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    on_delivery_({
        .tag = reinterpret_cast<std::uint64_t>(message._private),
        .status = message.err == RD_KAFKA_RESP_ERR__FATAL
                      ? FatalStatusOf(client(), "delivering")
                      : StatusOf(message.err, "delivering"),
        .topic = rd_kafka_topic_name(message.rkt),
        .partition = message.partition,
        .offset = ok ? message.offset : -1,
    });
  }

  // That no broker is there now shows in what is not delivered in time.
  absl::Status TakeFinalError() {
    const absl::Status error = TakeError();
    const bool passes =
        !error.ok() && LogErrorOf(error) == LogError::kRetriable;
    return passes ? absl::OkStatus() : error;
  }

  // A topic's object, which saves looking it up for each record.
  // Threads: any.
  absl::StatusOr<rd_kafka_topic_t*> TopicOf(std::string_view name) {
    const std::scoped_lock lock(topics_mutex_);
    const auto found = topics_.find(name);
    if (found != topics_.end()) return found->second.get();
    std::string text(name);
    TopicPtr topic(rd_kafka_topic_new(client(), text.c_str(), nullptr));
    if (topic == nullptr) {
      return StatusOf(rd_kafka_last_error(),
                      absl::StrCat("the topic '", text, "'"));
    }
    return topics_.emplace(std::move(text), std::move(topic))
        .first->second.get();
  }

  std::function<void(const Delivery&)> on_delivery_;
  std::mutex topics_mutex_;
  std::map<std::string, TopicPtr, std::less<>> topics_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LogProducer>> NewKafkaProducer(
    const KafkaOptions& kafka, ProducerOptions options) {
  auto producer = std::make_unique<Producer>();
  MAYFLY_RETURN_IF_ERROR(producer->Open(kafka, std::move(options)));
  return producer;
}

}  // namespace mayfly::kafka_internal
