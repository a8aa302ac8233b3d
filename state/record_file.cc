#include "mayfly/state/internal/record_file.h"

#include <bit>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "google/protobuf/message_lite.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/crc32c.h"
#include "mayfly/state/internal/file_io.h"

namespace mayfly::state_internal {
namespace {

constexpr std::string_view kMagic = "MAYFLYR1";
constexpr std::size_t kHeaderBytes = kMagic.size() + 4;

}  // namespace

absl::Status WriteRecordFile(const std::string& path,
                             const google::protobuf::MessageLite& record,
                             bool sync) {
  const std::string message = record.SerializeAsString();
  std::string bytes(kMagic);
  serde_internal::AppendInOrder(std::endian::little, Crc32c(message), bytes);
  bytes += message;
  return WriteFileAtomically(path, bytes, sync);
}

absl::Status ReadRecordFile(const std::string& path,
                            google::protobuf::MessageLite& record) {
  MAYFLY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const auto damaged = [&path](absl::string_view why) {
    return absl::DataLossError(absl::StrCat("'", path, "' ", why));
  };
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) {
    return damaged("does not begin like a record of Mayfly");
  }
  const std::string_view message = std::string_view(bytes).substr(kHeaderBytes);
  const auto checksum = serde_internal::ReadInOrder<std::uint32_t>(
      std::endian::little, std::string_view(bytes).substr(kMagic.size()));
  if (checksum != Crc32c(message)) {
    return damaged("is damaged: its checksum is wrong");
  }
  if (!record.ParseFromArray(message.data(),
                             static_cast<int>(message.size()))) {
    return damaged("does not decode");
  }
  return absl::OkStatus();
}

}  // namespace mayfly::state_internal
