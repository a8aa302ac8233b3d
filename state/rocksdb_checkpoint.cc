#include "state/rocksdb_checkpoint.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/crc32c.h"
#include "rocksdb/utilities/checkpoint.h"
#include "state/rocksdb_status.h"

namespace mayfly::state_internal {
namespace {

class Crc32cGenerator final : public rocksdb::FileChecksumGenerator {
 public:
  void Update(const char* data, std::size_t size) override {
    crc32c_ = ExtendCrc32c(crc32c_, std::string_view(data, size));
  }
  void Finalize() override {
    serde_internal::AppendBigEndian(crc32c_, checksum_);
  }
  std::string GetChecksum() const override { return checksum_; }
  const char* Name() const override { return "FileChecksumCrc32c"; }

 private:
  std::uint32_t crc32c_ = 0;
  std::string checksum_;
};

class Crc32cFactory final : public rocksdb::FileChecksumGenFactory {
 public:
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    if (!wanted.empty() && wanted != Crc32cGenerator().Name()) return nullptr;
    return std::make_unique<Crc32cGenerator>();
  }
  const char* Name() const override { return "FileChecksumGenCrc32cFactory"; }
};

}  // namespace

std::shared_ptr<rocksdb::FileChecksumGenFactory> Crc32cOfTableFiles() {
  return std::make_shared<Crc32cFactory>();
}

absl::Status CopyDatabase(rocksdb::DB& db, const std::string& directory) {
  const std::string cannot =
      absl::StrCat("cannot make the checkpoint '", directory, "'");
  rocksdb::Checkpoint* checkpoint = nullptr;
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(rocksdb::Checkpoint::Create(&db, &checkpoint), cannot));
  const std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
  constexpr auto kNeverFlush = std::numeric_limits<std::uint64_t>::max();
  return FromRocksdb(checkpoint->CreateCheckpoint(directory, kNeverFlush),
                     cannot);
}

absl::StatusOr<std::map<std::string, std::uint32_t>> RecordedChecksums(
    rocksdb::DB& db) {
  const std::unique_ptr<rocksdb::FileChecksumList> list(
      rocksdb::NewFileChecksumList());
  MAYFLY_RETURN_IF_ERROR(FromRocksdb(db.GetLiveFilesChecksumInfo(list.get()),
                                     "cannot read the checksums of files"));
  std::vector<std::uint64_t> numbers;
  std::vector<std::string> checksums;
  std::vector<std::string> functions;
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(list->GetAllFileChecksums(&numbers, &checksums, &functions),
                  "cannot read the checksums of files"));
  std::map<std::string, std::uint32_t> recorded;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (functions[i] != Crc32cGenerator().Name() ||
        checksums[i].size() != sizeof(std::uint32_t)) {
      continue;
    }
    recorded[absl::StrFormat("%06d.sst", numbers[i])] =
        serde_internal::ReadBigEndian<std::uint32_t>(checksums[i]);
  }
  return recorded;
}

}  // namespace mayfly::state_internal
