// The life of entries of every kind, by the rows of semantics.md's common
// suite: ttl 100 ms, batches E, U and X written one after another, with and
// without a restart between any two steps.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::PrintToString;

enum class Batch { kE, kU, kX };
using enum Batch;

// A kind of state with something to write to it and a way to read it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual void Register(Shard<>& shard, const StateTtlConfig& ttl) = 0;
  virtual void Write(Batch batch) = 0;
  virtual void Clear() = 0;
  virtual std::string ReadAll() = 0;
  virtual std::string Empty() const = 0;
  // What ReadAll() shows of one batch alone.
  virtual std::string Shown(Batch batch) const = 0;
};

template <typename T>
struct Batches {
  T e, u, x;
  const T& operator[](Batch batch) const {
    return batch == kE ? e : batch == kU ? u : x;
  }
};

class ValueSubject final : public Subject {
 public:
  void Register(Shard<>& shard, const StateTtlConfig& ttl) override {
    state_ =
        &shard.Get(Describe<ValueStateDescriptor<std::int64_t>>("state", ttl));
  }
  void Write(Batch batch) override { Must(state_->Update(batches_[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string ReadAll() override { return PrintToString(Read(*state_)); }
  std::string Empty() const override {
    return PrintToString(std::optional<std::int64_t>());
  }
  std::string Shown(Batch batch) const override {
    return PrintToString(std::optional<std::int64_t>(batches_[batch]));
  }

 private:
  const Batches<std::int64_t> batches_{11, 21, 31};
  ValueState<std::int64_t>* state_ = nullptr;
};

template <typename T>
class ListSubject final : public Subject {
 public:
  explicit ListSubject(Batches<std::vector<T>> batches)
      : batches_(std::move(batches)) {}
  void Register(Shard<>& shard, const StateTtlConfig& ttl) override {
    state_ = &shard.Get(Describe<ListStateDescriptor<T>>("state", ttl));
  }
  void Write(Batch batch) override { Must(state_->AddAll(batches_[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string ReadAll() override { return PrintToString(Read(*state_)); }
  std::string Empty() const override { return PrintToString(std::vector<T>()); }
  std::string Shown(Batch batch) const override {
    return PrintToString(batches_[batch]);
  }

 private:
  const Batches<std::vector<T>> batches_;
  ListState<T>* state_ = nullptr;
};

// All entries of a map, one of them null.
class MapSubject final : public Subject {
 public:
  using Map = std::map<std::int32_t, std::optional<std::int32_t>>;
  void Register(Shard<>& shard, const StateTtlConfig& ttl) override {
    state_ = &shard.Get(
        Describe<MapStateDescriptor<std::int32_t, std::optional<std::int32_t>>>(
            "state", ttl));
  }
  void Write(Batch batch) override {
    for (const auto& [key, value] : batches_[batch]) {
      Must(state_->Put(key, value));
    }
  }
  void Clear() override { Must(state_->Clear()); }
  std::string ReadAll() override { return PrintToString(Read(*state_)); }
  std::string Empty() const override { return PrintToString(Map()); }
  std::string Shown(Batch batch) const override {
    return PrintToString(batches_[batch]);
  }

 private:
  const Batches<Map> batches_{{{3, 30}, {5, 50}, {23, std::nullopt}, {10, 1}},
                              {{12, 120}, {24, std::nullopt}, {7, 70}},
                              {{15, 150}, {25, std::nullopt}, {4, 40}}};
  MapState<std::int32_t, std::optional<std::int32_t>>* state_ = nullptr;
};

// One entry of a map, looked up by its key.
template <typename V>
class MapEntrySubject final : public Subject {
 public:
  explicit MapEntrySubject(Batches<V> batches) : batches_(std::move(batches)) {}
  void Register(Shard<>& shard, const StateTtlConfig& ttl) override {
    state_ =
        &shard.Get(Describe<MapStateDescriptor<std::int32_t, V>>("state", ttl));
  }
  void Write(Batch batch) override { Must(state_->Put(1, batches_[batch])); }
  void Clear() override { Must(state_->Remove(1)); }
  std::string ReadAll() override { return PrintToString(Read(*state_, 1)); }
  std::string Empty() const override {
    return PrintToString(std::optional<V>());
  }
  std::string Shown(Batch batch) const override {
    return PrintToString(std::optional<V>(batches_[batch]));
  }

 private:
  const Batches<V> batches_;
  MapState<std::int32_t, V>* state_ = nullptr;
};

struct Context {
  const char* name;
  std::function<std::unique_ptr<Subject>()> make;
};

void PrintTo(const Context& context, std::ostream* out) {
  *out << context.name;
}

auto AllContexts() {
  using Text = std::string;
  return ::testing::Values(
      Context{"V", [] { return std::make_unique<ValueSubject>(); }},
      Context{"LF",
              [] {
                return std::make_unique<ListSubject<std::int32_t>>(
                    Batches<std::vector<std::int32_t>>{
                        {5, 7, 10}, {8, 9, 11}, {1, 4}});
              }},
      Context{"LV",
              [] {
                return std::make_unique<ListSubject<Text>>(
                    Batches<std::vector<Text>>{
                        {"5", "7", "10"}, {"8", "9", "11"}, {"1", "4"}});
              }},
      Context{"MA", [] { return std::make_unique<MapSubject>(); }},
      Context{"ME",
              [] {
                return std::make_unique<MapEntrySubject<Text>>(
                    Batches<Text>{"test value1", "test value2", "test value3"});
              }},
      Context{"MN", [] {
                return std::make_unique<
                    MapEntrySubject<std::optional<std::int32_t>>>(
                    Batches<std::optional<std::int32_t>>{});
              }});
}

using Param = std::tuple<BackendSetup, Context, bool>;

class TtlLifecycleTest : public ::testing::TestWithParam<Param> {
 protected:
  void Start(const StateTtlConfig& ttl) {
    ttl_ = ttl;
    subject_->Register(shard_, *ttl_);
    shard_->SetCurrentKey(key_);
  }
  void UseKey(const std::string& key) {
    key_ = key;
    shard_->SetCurrentKey(key);
  }
  // A restart, in the runs that have them.
  void Snap() {
    if (!std::get<2>(GetParam())) return;
    shard_.Commit();
    shard_.Reopen();
    subject_->Register(shard_, *ttl_);
    shard_->SetCurrentKey(key_);
  }
  void At(TimestampMs now_ms) { shard_.clock().SetMs(now_ms); }
  void Write(Batch batch) { subject_->Write(batch); }
  std::string ReadAll() { return subject_->ReadAll(); }
  std::string Shown(Batch batch) const { return subject_->Shown(batch); }
  std::string Empty() const { return subject_->Empty(); }
  std::uint64_t Raw() { return shard_.CommittedEntries("state"); }

  Shard<> shard_{std::get<0>(GetParam())};
  const std::unique_ptr<Subject> subject_ = std::get<1>(GetParam()).make();
  std::optional<StateTtlConfig> ttl_;
  std::string key_ = "k";
};

constexpr UpdateType kWrite = UpdateType::kOnCreateAndWrite;
constexpr UpdateType kReadToo = UpdateType::kOnReadAndWrite;
constexpr StateVisibility kShowExpired =
    StateVisibility::kReturnExpiredIfNotCleanedUp;

TEST_P(TtlLifecycleTest, Row1NothingWrittenIsEmpty) {
  Start(Ttl(100));
  EXPECT_EQ(ReadAll(), Empty());
  Snap();
  EXPECT_EQ(ReadAll(), Empty());
  EXPECT_EQ(Raw(), 0u);
}

TEST_P(TtlLifecycleTest, Row2ClearedIsEmpty) {
  Start(Ttl(100, kWrite, kShowExpired));
  Write(kU);
  EXPECT_EQ(ReadAll(), Shown(kU));
  Snap();
  subject_->Clear();
  if (std::get<1>(GetParam()).name != std::string("MA")) {
    EXPECT_EQ(ReadAll(), Empty());
  }
  Snap();
  EXPECT_EQ(ReadAll(), Empty());
  EXPECT_EQ(Raw(), 0u);
}

TEST_P(TtlLifecycleTest, Rows3To6WritesRenewAndExpiredIsNeverSeen) {
  Start(Ttl(100));
  Snap();
  Write(kE);
  Snap();
  At(20);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  At(50);
  Write(kU);
  Snap();
  At(120);
  EXPECT_EQ(ReadAll(), Shown(kU));
  Snap();
  At(170);
  Write(kX);
  Snap();
  At(220);
  EXPECT_EQ(ReadAll(), Shown(kX));
  Snap();
  At(300);
  EXPECT_EQ(ReadAll(), Empty());
  EXPECT_EQ(Raw(), 0u);
}

TEST_P(TtlLifecycleTest, Rows7To9ExpiredIsReturnedOnce) {
  Start(Ttl(100, kWrite, kShowExpired));
  Write(kE);
  Snap();
  At(120);
  EXPECT_EQ(ReadAll(), Shown(kE));
  EXPECT_EQ(Raw(), 0u);
  Snap();
  EXPECT_EQ(ReadAll(), Empty());
}

TEST_P(TtlLifecycleTest, Rows10And11ReadsRenew) {
  Start(Ttl(100, kReadToo));
  Write(kE);
  Snap();
  At(50);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  At(120);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  At(219);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  At(319);
  EXPECT_EQ(ReadAll(), Empty());
  EXPECT_EQ(Raw(), 0u);
}

TEST_P(TtlLifecycleTest, Row12ReadsRenewAndExpiredIsReturnedOnce) {
  Start(Ttl(100, kReadToo, kShowExpired));
  Write(kE);
  Snap();
  At(50);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  At(170);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Snap();
  EXPECT_EQ(ReadAll(), Empty());
}

TEST_P(TtlLifecycleTest, Row13TheLargestTtlDoesNotOverflow) {
  Start(Ttl(std::numeric_limits<std::int64_t>::max()));
  At(10);
  Write(kE);
  Snap();
  At(50);
  EXPECT_EQ(ReadAll(), Shown(kE));
  Must(shard_->Compact());
  Snap();
  At(std::numeric_limits<std::int64_t>::max() - 1);
  EXPECT_EQ(ReadAll(), Shown(kE));
}

TEST_P(TtlLifecycleTest, Rows18To21KeysLiveApart) {
  Start(Ttl(100));
  Snap();
  UseKey("id2");
  Write(kE);
  Snap();
  At(50);
  UseKey("id1");
  Write(kE);
  At(60);
  UseKey("id2");
  Write(kU);
  At(120);
  Snap();
  UseKey("id1");
  EXPECT_EQ(ReadAll(), Shown(kE));
  UseKey("id2");
  EXPECT_EQ(ReadAll(), Shown(kU));
  Snap();
  At(170);
  Write(kX);
  At(230);
  Snap();
  UseKey("id1");
  EXPECT_EQ(ReadAll(), Empty());
  UseKey("id2");
  EXPECT_EQ(ReadAll(), Shown(kX));
  At(300);
  Snap();
  for (const char* const key : {"id1", "id2"}) {
    UseKey(key);
    EXPECT_EQ(ReadAll(), Empty());
  }
  EXPECT_EQ(Raw(), 0u);
}

// A restart begins at the last commit: what came later is gone, and times are
// those of the commit.
TEST_P(TtlLifecycleTest, Row29ARestartBeginsAtTheCommit) {
  Start(Ttl(100));
  UseKey("k1");
  Write(kE);
  At(50);
  Write(kU);
  At(100);
  UseKey("k2");
  Write(kE);
  shard_.Commit();
  At(170);
  UseKey("k1");
  Write(kX);
  UseKey("k2");
  Write(kU);

  shard_.Reopen();
  subject_->Register(shard_, *ttl_);
  At(180);
  UseKey("k1");
  EXPECT_EQ(ReadAll(), Empty());
  UseKey("k2");
  EXPECT_EQ(ReadAll(), Shown(kE));
}

INSTANTIATE_TEST_SUITE_P(Rows, TtlLifecycleTest,
                         ::testing::Combine(SomeSetups(), AllContexts(),
                                            ::testing::Bool()),
                         [](const ::testing::TestParamInfo<Param>& at) {
                           return std::string(std::get<0>(at.param).name) +
                                  std::get<1>(at.param).name +
                                  (std::get<2>(at.param) ? "WithRestarts" : "");
                         });

}  // namespace
}  // namespace mayfly::state_test
