#include "mayfly/serde/protobuf_serializer.h"

#include <climits>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message_lite.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/internal/malformed.h"

namespace mayfly::serde_internal {

std::string MessageTypeName(const google::protobuf::MessageLite& message) {
  return std::string(message.GetTypeName());
}

void AppendMessage(const google::protobuf::MessageLite& message,
                   std::string& out) {
  const std::size_t size = message.ByteSizeLong();
  MAYFLY_CHECK(size <= INT_MAX, "a protobuf message of 2 GiB or more");
  const std::size_t start = out.size();
  out.resize(start + size);
  google::protobuf::io::ArrayOutputStream array(out.data() + start,
                                                static_cast<int>(size));
  google::protobuf::io::CodedOutputStream coded(&array);
  coded.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&coded);
  MAYFLY_CHECK(!coded.HadError() && coded.ByteCount() == static_cast<int>(size),
               "a protobuf message changed while it was serialised");
}

absl::Status ParseMessage(std::string_view bytes,
                          google::protobuf::MessageLite& out) {
  if (bytes.size() > INT_MAX ||
      !out.ParsePartialFromArray(bytes.data(),
                                 static_cast<int>(bytes.size()))) {
    return Malformed("not a message of type " + MessageTypeName(out));
  }
  return absl::OkStatus();
}

}  // namespace mayfly::serde_internal
