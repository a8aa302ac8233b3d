// The figures of a database of which a part cannot be read.
#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/temp_directory.h"
#include "rocksdb/utilities/stackable_db.h"
#include "state/rocksdb_sweeper.h"

namespace mayfly::state_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Cannot tell what is in the files of one column family.
class HalfReadableDatabase final : public rocksdb::StackableDB {
 public:
  using StackableDB::GetPropertiesOfAllTables;
  using StackableDB::StackableDB;

  rocksdb::Status GetPropertiesOfAllTables(
      rocksdb::ColumnFamilyHandle* family,
      rocksdb::TablePropertiesCollection* properties) override {
    if (family->GetName() == "bad") return rocksdb::Status::IOError("no disk");
    return StackableDB::GetPropertiesOfAllTables(family, properties);
  }
};

TEST(UnreadableStateTest, AStateThatCannotBeReadHidesNoOther) {
  const TempDirectory directory;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, directory.path(), &opened).ok());
  HalfReadableDatabase db(opened);
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles;
  RocksdbSweeper sweeper;
  for (const std::string name : {"a", "bad", "c"}) {
    rocksdb::ColumnFamilyHandle*& handle = handles[name];
    ASSERT_TRUE(db.CreateColumnFamily(options, name, &handle).ok());
    ASSERT_TRUE(db.Put({}, handle, "key", "value").ok());
    ASSERT_TRUE(db.Flush({}, handle).ok());
    sweeper.Add(name, &db, handle, nullptr);
  }

  std::map<std::string, StateStatistics> states;
  sweeper.AddTo({}, states);
  for (const std::string name : {"a", "c"}) {
    EXPECT_EQ(states[name].disk.files, 1u) << name;
    EXPECT_EQ(states[name].disk.bytes_of_unknown_age, 0u) << name;
    EXPECT_THAT(states[name].disk.unreadable, IsEmpty()) << name;
  }
  const StateDiskUse& bad = states["bad"].disk;
  EXPECT_EQ(bad.files, 1u);
  EXPECT_GT(bad.bytes, 0u);
  EXPECT_EQ(bad.bytes_of_unknown_age, bad.bytes);
  EXPECT_THAT(bad.unreadable,
              AllOf(HasSubstr("state 'bad'"), HasSubstr("no disk")));

  // Of the same state in several shards the error of one is kept.
  StateStatistics sum = states["a"];
  sum += states["bad"];
  sum += states["c"];
  EXPECT_EQ(sum.disk.unreadable, bad.unreadable);
  sweeper.Close();
  for (const auto& [name, handle] : handles) {
    db.DestroyColumnFamilyHandle(handle);
  }
}

}  // namespace
}  // namespace mayfly::state_internal
