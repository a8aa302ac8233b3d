#include "mayfly/serde/protobuf_serializer.h"

#include <string>
#include <vector>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/test/test_message.pb.h"
#include "tests/unit/serde/hex.h"

namespace mayfly {
namespace {

using google::protobuf::util::MessageDifferencer;
using serde_test::Hex;
using serde_test::Unhex;
using test::TestMessage;

TestMessage MakeMessage() {
  TestMessage message;
  message.set_id(5);
  message.set_name("ab");
  (*message.mutable_counts())["b"] = 2;
  (*message.mutable_counts())["a"] = 1;
  return message;
}

TEST(ProtobufSerializer, IsTheMessageWithItsMapsInOrder) {
  std::string out = "x";
  Serializer<TestMessage>::Serialize(MakeMessage(), out);
  EXPECT_EQ(Hex(out),
            "78"
            "0805"
            "12026162"
            "2205"
            "0a0161"
            "1001"
            "2205"
            "0a0162"
            "1002");
}

TEST(ProtobufSerializer, RoundTrips) {
  for (const TestMessage& message : {TestMessage(), MakeMessage()}) {
    const absl::StatusOr<TestMessage> back =
        FromBytes<TestMessage>(ToBytes(message));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_TRUE(MessageDifferencer::Equals(*back, message));
  }
}

TEST(ProtobufSerializer, EqualMessagesGiveEqualBytes) {
  TestMessage forward;
  TestMessage backward;
  for (int i = 0; i < 1000; ++i) {
    (*forward.mutable_counts())[std::to_string(i)] = i;
    (*backward.mutable_counts())[std::to_string(999 - i)] = 999 - i;
  }
  EXPECT_EQ(ToBytes(forward), ToBytes(backward));
}

TEST(ProtobufSerializer, ReplacesWhatWasThere) {
  TestMessage message = MakeMessage();
  ASSERT_TRUE(
      Serializer<TestMessage>::Deserialize(Unhex("0807"), message).ok());
  EXPECT_EQ(message.id(), 7);
  EXPECT_EQ(message.name(), "");
}

TEST(ProtobufSerializer, RefusesWhatIsMalformed) {
  for (const char* const bytes : {"08", "12 05 61", "ff", "00"}) {
    EXPECT_EQ(FromBytes<TestMessage>(Unhex(bytes)).status(),
              absl::DataLossError("not a message of type "
                                  "mayfly.test.TestMessage"))
        << bytes;
  }
}

TEST(ProtobufSerializer, IsNamedAfterTheMessage) {
  EXPECT_EQ(Serializer<TestMessage>::Identity().ToString(),
            "proto:mayfly.test.TestMessage@1");
  EXPECT_EQ(Serializer<std::vector<TestMessage>>::Identity().ToString(),
            "vector<proto:mayfly.test.TestMessage@1>@1");
}

TEST(ProtobufSerializer, NestsInOtherValues) {
  std::vector<TestMessage> messages = {MakeMessage(), TestMessage()};
  const auto back = FromBytes<std::vector<TestMessage>>(ToBytes(messages));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->size(), 2u);
  EXPECT_TRUE(MessageDifferencer::Equals((*back)[0], messages[0]));
  EXPECT_TRUE(MessageDifferencer::Equals((*back)[1], messages[1]));
}

}  // namespace
}  // namespace mayfly
