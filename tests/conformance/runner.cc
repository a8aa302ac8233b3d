#include "tests/conformance/runner.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly::conformance {
namespace {

using state_test::Must;
using state_test::Shard;
using ::testing::HasSubstr;

class Interpreter {
 public:
  Interpreter(const Context& context, const MaybeTtl& ttl,
              const Surroundings& surroundings)
      : on_rocksdb_(surroundings.backend.kind == BackendKind::kRocksdb),
        snap_(surroundings.snap),
        shard_(surroundings.backend, surroundings.start_ms),
        subject_(context.make()),
        ttl_(ttl) {
    Register();
  }

  // --- Time ---

  void operator()(const At& step) { shard_.clock().SetMs(step.time_ms); }
  void operator()(const Watermark& step) {
    shard_->AdvanceWatermark(step.time_ms);
  }

  // --- Operations of a job ---

  void operator()(const Use& step) { MakeCurrent(step.key, step.name_space); }
  void operator()(const Write& step) { subject_->Write(step.batch); }
  void operator()(const Clear&) { subject_->Clear(); }
  void operator()(const UseEach& step) {
    ForEach(step.keys, [](int) {});
  }
  void operator()(const WriteEach& step) {
    ForEach(step.keys, [&](int) { subject_->Write(step.batch); });
  }
  void operator()(const ClearEach& step) {
    ForEach(step.keys, [&](int) { subject_->Clear(); });
  }
  void operator()(const AccessEach& step) {
    ForEach(step.keys, [&](int number) {
      if (number % 2 == 0) {
        subject_->Read();
      } else {
        subject_->Write(kE);
      }
    });
  }
  void operator()(const Merge& step) {
    std::vector<std::function<void()>> contents;
    for (const std::string& source : step.sources) {
      MakeCurrent(key_.first, source);
      contents.push_back(subject_->TakeOut());
    }
    MakeCurrent(key_.first, step.target);
    for (const std::function<void()>& add : contents) add();
  }

  // --- What a reader sees ---

  void operator()(const Reads& step) {
    EXPECT_EQ(subject_->Read(), Shown(step)) << "of key " << key_.first;
  }
  void operator()(const ReadsText& step) {
    EXPECT_EQ(subject_->Read(), step.text);
  }
  void operator()(const ReadsEach& step) {
    ForEach(step.keys, [&](int) { (*this)(step.shown); });
  }

  // --- What is stored ---

  void operator()(const Raw& step) {
    const bool present = Entries() > 0;
    EXPECT_EQ(present, step.contents == kPresent);
    if (const auto contained = subject_->Contains()) {
      EXPECT_EQ(present, *contained);
    }
  }
  void operator()(const Stores& step) {
    std::uint64_t entries = 0;
    for (const StoredKeys& some : step.all) {
      entries += static_cast<std::uint64_t>(some.keys) *
                 subject_->EntriesOf(some.batches);
    }
    EXPECT_EQ(Entries(), entries);
  }

  // --- Backends ---

  void operator()(const Snap&) {
    if (snap_ == SnapVariant::kRestart) (*this)(Restart{});
  }
  void operator()(const Commit&) { shard_.Commit(); }
  void operator()(const Restore&) {
    shard_.Reopen();
    Register();
  }
  void operator()(const Restart& step) {
    if (step.ttl) ttl_ = *step.ttl;
    shard_.Commit();
    (*this)(Restore{});
  }
  void operator()(const RestartMigrating& step) {
    migrates_ = true;
    (*this)(Restart{step.ttl});
  }
  void operator()(const RestartRefused& step) {
    shard_.Commit();
    shard_.Reopen();
    EXPECT_THAT(subject_->Register(shard_.backend(), {step.ttl}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("StateMigration: state 'state'")));
    Register();
  }
  void operator()(const Compact&) {
    shard_.Commit();
    Must(shard_->Compact());
  }
  void operator()(const CleanUp&) {
    const CleanUpResult result = shard_->CleanUp().value();
    EXPECT_TRUE(result.round_complete);
    if (on_rocksdb_) shard_.Commit();
    shard_->SetCurrentKey(key_);
  }

 private:
  void Register() {
    Must(subject_->Register(shard_.backend(), {ttl_, migrates_}));
    shard_->SetCurrentKey(key_);
  }

  void MakeCurrent(std::string key, std::string name_space) {
    key_ = Key(std::move(key), std::move(name_space));
    shard_->SetCurrentKey(key_);
  }

  template <typename Action>
  void ForEach(const Keys& keys, Action action) {
    for (int number = keys.from; number < keys.to; ++number) {
      MakeCurrent(keys.prefix + std::to_string(number), "");
      action(number);
    }
  }

  std::string Shown(const Reads& step) const {
    const bool folded = subject_->folds() && step.folded.has_value();
    return subject_->Shown(folded ? *step.folded : step.elements);
  }

  std::uint64_t Entries() {
    if (on_rocksdb_) shard_.Commit();
    return shard_.StoredEntries(kStateName);
  }

  const bool on_rocksdb_;
  const SnapVariant snap_;
  Shard<Key> shard_;
  const std::unique_ptr<Subject> subject_;
  MaybeTtl ttl_;
  bool migrates_ = false;
  Key key_{"key", ""};
};

}  // namespace

void RunProgram(const Program& program, const Context& context,
                const MaybeTtl& ttl, const Surroundings& surroundings) {
  Interpreter interpreter(context, ttl, surroundings);
  for (std::size_t i = 0; i < program.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "step " << i);
    std::visit(interpreter, program[i]);
  }
}

}  // namespace mayfly::conformance
