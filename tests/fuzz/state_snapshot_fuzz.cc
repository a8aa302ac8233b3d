// The input is a snapshot file. Whatever it holds, opening and walking it ends
// well: with all of its entries or with an error that says what is damaged.
//
// Checksums keep nearly all mutations out of the parser behind them, so an
// input that begins with another magic is taken for what the blocks hold: they
// are then compressed as a writer would.
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/stubs/logging.h"
#include "mayfly/serde/internal/check.h"
#include "state/snapshot_block.h"
#include "state/snapshot_file.h"

namespace {

using mayfly::state_internal::SnapshotReader;

constexpr std::string_view kMagic = "MAYFLYS1";
constexpr std::size_t kHeaderBytes = 5;

void AppendLittleEndian(std::size_t value, std::string& out) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

// `tag | state (4) | length (2) | content`, one after another, as blocks of
// which the last is pointed to as the footer.
std::string FileOf(std::string_view input) {
  std::string file(kMagic);
  std::size_t last = file.size();
  while (input.size() >= kHeaderBytes + 2) {
    const std::string identity(input.substr(0, kHeaderBytes));
    const std::size_t wanted = static_cast<unsigned char>(input[5]) |
                               static_cast<unsigned char>(input[6]) << 8;
    input.remove_prefix(kHeaderBytes + 2);
    const std::string content = identity + std::string(input.substr(0, wanted));
    input.remove_prefix(content.size() - kHeaderBytes);
    std::string frame(ZSTD_compressBound(content.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(),
                               content.size(), 1));
    last = file.size();
    file += identity;
    AppendLittleEndian(frame.size(), file);
    file += frame;
  }
  return file + mayfly::state_internal::SnapshotTrailer(last);
}

// Puts the bytes into a file that lies in memory; its path.
std::string Spill(const std::string& bytes) {
  static const int fd = ::memfd_create("snapshot", MFD_CLOEXEC);
  MAYFLY_CHECK(fd >= 0);
  MAYFLY_CHECK(::ftruncate(fd, 0) == 0);
  MAYFLY_CHECK(::pwrite(fd, bytes.data(), bytes.size(), 0) ==
               static_cast<ssize_t>(bytes.size()));
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  // It would report each string that is not UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<SnapshotReader> reader = SnapshotReader::Open(
      Spill(input.starts_with(kMagic) ? std::string(input) : FileOf(input)));
  if (!reader.ok()) {
    MAYFLY_CHECK(absl::IsDataLoss(reader.status()));
    return 0;
  }
  const bool verified = reader->Verify().ok();
  // In what was verified no walk can fail.
  for (int i = 0; i < reader->record().states_size(); ++i) {
    const absl::Status visited =
        reader->VisitEntries(static_cast<std::uint32_t>(i),
                             [](std::string_view, std::string_view) {});
    MAYFLY_CHECK(visited.ok() || (!verified && absl::IsDataLoss(visited)));
  }
  return 0;
}
