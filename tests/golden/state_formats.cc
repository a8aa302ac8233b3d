// The records of a shard's directory and of a commit.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mayfly/state/internal/record_file.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/state.pb.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/message_sample.h"
#include "tests/golden/state_samples.h"

namespace mayfly::golden {
namespace {

// A record file as the code writes it today.
std::string WriteRecord(const v1::ShardRecord& record) {
  const TempDirectory directory;
  const std::string path = directory.Path("record");
  if (!state_internal::WriteRecordFile(path, record, /*sync=*/false).ok()) {
    std::abort();
  }
  return ReadFile(path);
}

bool ReadsBack(std::string_view stored, const v1::ShardRecord& record) {
  const TempDirectory directory;
  const std::string path = directory.Path("record");
  std::ofstream(path, std::ios::binary) << stored;
  v1::ShardRecord read;
  return state_internal::ReadRecordFile(path, read).ok() &&
         read.SerializeAsString() == record.SerializeAsString();
}

Format RecordFiles() {
  const v1::ShardRecord record = Shard(v1::BACKEND_KIND_HEAP);
  return {"record_file",
          "a record under its checksum, the file MANIFEST.mayfly",
          {{"heap, no states yet", WriteRecord(record),
            [record](std::string_view stored) {
              return ReadsBack(stored, record);
            }}}};
}

Format ShardRecords() {
  v1::ShardRecord full = Shard(v1::BACKEND_KIND_ROCKSDB);
  *full.add_states() = Streak();
  *full.add_states() = Recent();
  *full.add_states() = Destinations();
  return {"shard_record",
          "mayfly.v1.ShardRecord, in the file MANIFEST.mayfly",
          {SampleOf("heap, no states yet", Shard(v1::BACKEND_KIND_HEAP)),
           SampleOf("rocksdb, a state of each kind", full)}};
}

Format StateRecords() {
  return {"state_record",
          "mayfly.v1.StateRecord",
          {SampleOf("value without TTL", Streak()),
           SampleOf("list, 3 h of event time", Recent()),
           SampleOf("map, infinite TTL after a shorter one", Destinations()),
           SampleOf("value, rewritten once", Rewritten())}};
}

Format CommitRecords() {
  return {"commit_record",
          "mayfly.v1.CommitRecord, under 'commit' in the default column family",
          {SampleOf("all at zero", v1::CommitRecord()),
           SampleOf("number 300 at 2001-01-01T01:07:00Z", Commit())}};
}

}  // namespace

std::vector<Format> AllFormats() {
  return {RecordFiles(), ShardRecords(), StateRecords(), CommitRecords()};
}

}  // namespace mayfly::golden
