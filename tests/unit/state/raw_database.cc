#include "tests/unit/state/raw_database.h"

#include <stdexcept>

#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"

namespace mayfly::state_test {
namespace {

void Must(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string PathOf(const std::string& directory) { return directory + "/db"; }

}  // namespace

RawDatabase::RawDatabase(const std::string& directory, Access access) {
  rocksdb::DBOptions options;
  std::vector<std::string> names;
  Must(rocksdb::DB::ListColumnFamilies(options, PathOf(directory), &names));
  // Appends, as lists do, and removes nothing.
  rocksdb::ColumnFamilyOptions family_options;
  ConfigurePlainListColumnFamily(&family_options);
  family_options.disable_auto_compactions = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, family_options);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  Must(access == Access::kRead
           ? rocksdb::DB::OpenForReadOnly(options, PathOf(directory), families,
                                          &handles, &db)
           : rocksdb::DB::Open(options, PathOf(directory), families, &handles,
                               &db));
  db_.reset(db);
  for (std::size_t i = 0; i < names.size(); ++i) {
    handles_[names[i]] = handles[i];
  }
}

RawDatabase::~RawDatabase() {
  for (const auto& [name, handle] : handles_) {
    db_->DestroyColumnFamilyHandle(handle);
  }
}

std::vector<std::string> RawDatabase::column_families() const {
  std::vector<std::string> names;
  for (const auto& [name, handle] : handles_) names.push_back(name);
  return names;
}

std::uint64_t RawDatabase::SequenceNumber() const {
  return db_->GetLatestSequenceNumber();
}

std::uint64_t RawDatabase::Records(const std::string& state) {
  std::uint64_t records = 0;
  if (!db_->GetIntProperty(handles_.at(state),
                           rocksdb::DB::Properties::kNumEntriesActiveMemTable,
                           &records)) {
    throw std::runtime_error("no count of what is in memory");
  }
  rocksdb::TablePropertiesCollection tables;
  Must(db_->GetPropertiesOfAllTables(handles_.at(state), &tables));
  for (const auto& [file, table] : tables) records += table->num_entries;
  return records;
}

void RawDatabase::Put(const std::string& state, std::string_view key,
                      std::string_view value) {
  Must(db_->Put(rocksdb::WriteOptions(), handles_.at(state),
                rocksdb::Slice(key.data(), key.size()),
                rocksdb::Slice(value.data(), value.size())));
}

std::string RawDatabase::Get(const std::string& state, std::string_view key) {
  std::string value;
  Must(db_->Get(rocksdb::ReadOptions(), handles_.at(state),
                rocksdb::Slice(key.data(), key.size()), &value));
  return value;
}

std::uint64_t PeriodicCompactionSeconds(const std::string& directory,
                                        const std::string& state) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Must(rocksdb::LoadLatestOptions(config, PathOf(directory), &db_options,
                                  &families));
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    if (family.name == state) return family.options.periodic_compaction_seconds;
  }
  throw std::runtime_error("no column family '" + state + "'");
}

}  // namespace mayfly::state_test
