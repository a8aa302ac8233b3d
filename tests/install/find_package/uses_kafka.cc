// A program of somebody else that works with Kafka. There is no broker here.
#include "mayfly/kafka/kafka_client.h"

int main() {
  const auto kafka =
      mayfly::ConnectToKafka({.bootstrap_servers = "127.0.0.1:1"});
  if (!kafka.ok()) return 1;
  return (*kafka)->NewPartitionReader({}).ok() ? 0 : 1;
}
