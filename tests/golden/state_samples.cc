#include "tests/golden/state_samples.h"

#include <cstdint>
#include <limits>
#include <string>

namespace mayfly::golden {

v1::StateRecord Streak() {
  v1::StateRecord state;
  state.set_name("streak");
  state.set_kind(v1::STATE_KIND_VALUE);
  state.mutable_key_serializer()->set_name("string");
  state.mutable_key_serializer()->set_version(1);
  state.mutable_value_serializer()->set_name("int64");
  state.mutable_value_serializer()->set_version(1);
  return state;
}

v1::StateRecord Rewritten() {
  v1::StateRecord state = Streak();
  state.mutable_value_serializer()->set_version(2);
  state.set_column_family("streak~2");
  return state;
}

v1::StateRecord Recent() {
  v1::StateRecord state = Streak();
  state.set_name("recent");
  state.set_kind(v1::STATE_KIND_LIST);
  v1::TtlRecord* const ttl = state.mutable_ttl();
  ttl->set_ttl_ms(10'800'000);
  ttl->set_expired_through_ms(std::numeric_limits<std::int64_t>::min());
  ttl->set_time_characteristic(v1::TIME_CHARACTERISTIC_EVENT);
  return state;
}

v1::StateRecord Destinations() {
  v1::StateRecord state = Streak();
  state.set_name("destinations");
  state.set_kind(v1::STATE_KIND_MAP);
  state.mutable_map_key_serializer()->set_name("string");
  state.mutable_map_key_serializer()->set_version(2);
  v1::TtlRecord* const ttl = state.mutable_ttl();
  ttl->set_ttl_ms(-1);
  ttl->set_expired_through_ms(978'307'200'000);
  ttl->set_time_characteristic(v1::TIME_CHARACTERISTIC_PROCESSING);
  return state;
}

v1::ShardRecord Shard(v1::BackendKind backend) {
  v1::ShardRecord shard;
  shard.set_format_version(1);
  shard.set_backend(backend);
  return shard;
}

v1::CommitRecord Commit() {
  v1::CommitRecord commit;
  commit.set_sequence(300);
  commit.set_processing_clock_ms(978'311'220'000);
  commit.set_event_clock_ms(-1);
  commit.set_position(std::string("line\0 42", 8));
  return commit;
}

}  // namespace mayfly::golden
