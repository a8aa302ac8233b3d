// What jobs write down: the record of a state directory, a shard's position,
// and the manifest of a checkpoint.
#include <vector>

#include "mayfly/v1/job.pb.h"
#include "tests/golden/golden_file.h"
#include "tests/golden/message_sample.h"

namespace mayfly::golden {
namespace {

v1::Lineage LineageOfASample() {
  v1::Lineage lineage;
  lineage.set_begun_ms(1000);
  lineage.set_random(0x0123456789abcdef);
  return lineage;
}

Format JobRecords() {
  v1::JobRecord record;
  record.set_format_version(1);
  record.set_name("visits");
  record.set_shards(2);
  v1::JobRecord rescaled = record;
  rescaled.add_retired_output_bytes(300);
  rescaled.add_retired_output_bytes(0);
  v1::JobRecord restoring = record;
  restoring.set_restoring_from("/ckpt");
  v1::JobRecord with_lineage = record;
  *with_lineage.mutable_lineage() = LineageOfASample();
  v1::JobRecord beginning = with_lineage;
  beginning.set_beginning(true);
  return {
      "job_record",
      "mayfly.v1.JobRecord, in the file JOB.mayfly",
      {SampleOf("two shards", record), SampleOf("two that were four", rescaled),
       SampleOf("being restored from /ckpt", restoring),
       SampleOf("with a lineage", with_lineage),
       SampleOf("beginning", beginning)}};
}

v1::ShardPosition Position() {
  v1::ShardPosition position;
  position.set_input_bytes(300);
  position.set_input_lines(30);
  position.set_records(30);
  position.set_output_bytes(200);
  return position;
}

Format ShardPositions() {
  v1::ShardPosition all = Position();
  all.set_malformed_lines(1);
  all.set_input_done(true);
  all.set_late_elements(2);
  return {"shard_position",
          "mayfly.v1.ShardPosition, the position of a commit",
          {SampleOf("after 30 lines", Position()),
           SampleOf("at the end, one line malformed, two late", all)}};
}

Format Manifests() {
  v1::CheckpointManifest checkpoint;
  checkpoint.set_format_version(1);
  checkpoint.set_kind(v1::CHECKPOINT_KIND_CHECKPOINT);
  checkpoint.set_number(7);
  checkpoint.set_job("visits");
  checkpoint.set_backend(v1::BACKEND_KIND_HEAP);
  checkpoint.set_time_ms(1000);
  v1::CheckpointShard* const shard = checkpoint.add_shards();
  *shard->mutable_position() = Position();
  v1::CheckpointedFile* const file = shard->add_files();
  file->set_path("shard-00000/MANIFEST.mayfly");
  file->set_bytes(81);
  file->set_crc32c(0x12345678);
  checkpoint.add_retired_output_bytes(9);
  v1::CheckpointManifest savepoint = checkpoint;
  savepoint.set_kind(v1::CHECKPOINT_KIND_SAVEPOINT);
  savepoint.set_backend(v1::BACKEND_KIND_ROCKSDB);
  savepoint.clear_retired_output_bytes();
  savepoint.mutable_shards(0)->mutable_files(0)->set_path(
      "shard-00000.savepoint");
  v1::CheckpointManifest with_lineage = checkpoint;
  *with_lineage.mutable_lineage() = LineageOfASample();
  return {"checkpoint_manifest",
          "mayfly.v1.CheckpointManifest, in the file manifest",
          {SampleOf("a checkpoint of one shard", checkpoint),
           SampleOf("a savepoint of one shard", savepoint),
           SampleOf("a checkpoint with a lineage", with_lineage)}};
}

}  // namespace

std::vector<Format> AllFormats() {
  return {JobRecords(), ShardPositions(), Manifests()};
}

}  // namespace mayfly::golden
