#include "tests/unit/state/shard_model.h"

#include <algorithm>
#include <utility>

namespace mayfly::state_test {
namespace {

std::string Quote(const std::optional<std::string>& text) {
  return text ? "'" + *text + "'" : "nothing";
}

}  // namespace

ShardModel::ShardModel(const ModelOptions& options) : options_(options) {
  now_.ttl_ms = options.ttl_ms;
  committed_.ttl_ms = options.ttl_ms;
}

void ShardModel::AdvanceTo(std::int64_t now_ms) {
  now_.now_ms = std::max(now_.now_ms, now_ms);
}

bool ShardModel::Expired(const Entry& entry) const {
  if (!now_.ttl_ms) return false;
  return entry.time_ms <= now_.expired_through_ms ||
         entry.time_ms + *now_.ttl_ms <= now_.now_ms;
}

bool ShardModel::RefreshDue(const Entry& entry) const {
  const std::int64_t age_ms = now_.now_ms - entry.time_ms;
  return now_.ttl_ms && options_.refresh_on_read && age_ms > 0 &&
         age_ms >= options_.granularity_ms;
}

void ShardModel::SetValue(const std::string& key, const std::string& value) {
  now_.values[key] = {value, now_.now_ms};
}

void ShardModel::ClearValue(const std::string& key) { now_.values.erase(key); }

void ShardModel::AddToList(const std::string& key, const std::string& element) {
  now_.lists[key].push_back({element, now_.now_ms});
}

void ShardModel::ClearList(const std::string& key) { now_.lists.erase(key); }

void ShardModel::PutEntry(const std::string& key, const std::string& map_key,
                          const std::string& value) {
  now_.maps[key][map_key] = {value, now_.now_ms};
}

void ShardModel::RemoveEntry(const std::string& key,
                             const std::string& map_key) {
  now_.maps[key].erase(map_key);
}

void ShardModel::ClearMap(const std::string& key) { now_.maps.erase(key); }

std::string ShardModel::ReadOne(Map& entries, const std::string& key,
                                const std::optional<std::string>& got) {
  const auto it = entries.find(key);
  if (it == entries.end()) {
    return got ? "nothing was expected, not " + Quote(got) : "";
  }
  Entry& entry = it->second;
  const std::string value = entry.value;
  if (!Expired(entry)) {
    if (RefreshDue(entry)) entry.time_ms = now_.now_ms;
    return got == value ? "" : "'" + value + "' is live, not " + Quote(got);
  }
  entries.erase(it);
  if (!got || (options_.show_expired && got == value)) return "";
  return "'" + value + "' has expired, and " + Quote(got) + " was read";
}

std::string ShardModel::ReadValue(const std::string& key,
                                  const std::optional<std::string>& got) {
  return ReadOne(now_.values, key, got);
}

std::string ShardModel::ReadEntry(const std::string& key,
                                  const std::string& map_key,
                                  const std::optional<std::string>& got) {
  return ReadOne(now_.maps[key], map_key, got);
}

std::string ShardModel::ReadContains(const std::string& key,
                                     const std::string& map_key, bool got) {
  Map& map = now_.maps[key];
  const auto it = map.find(map_key);
  const std::string value = it == map.end() ? "none" : it->second.value;
  return ReadOne(map, map_key, got ? std::optional(value) : std::nullopt);
}

// Elements are all different, so that it is plain which of them were read.
std::string ShardModel::ReadList(const std::string& key,
                                 const std::vector<std::string>& got) {
  std::vector<Entry> left;
  bool refresh = false;
  std::size_t at = 0;
  for (const Entry& entry : now_.lists[key]) {
    const bool read = at < got.size() && got[at] == entry.value;
    if (read) ++at;
    if (!Expired(entry)) {
      if (!read) return "element '" + entry.value + "' is live and missing";
      refresh |= RefreshDue(entry);
      left.push_back(entry);
    } else if (read && !options_.show_expired) {
      return "element '" + entry.value + "' has expired and was read";
    } else if (!read && options_.show_expired && options_.merges_lists) {
      left.push_back(entry);
    }
  }
  if (at < got.size()) return "element '" + got[at] + "' should not be there";
  // The list is written as a whole, so all that is live in it is renewed.
  for (Entry& entry : left) {
    if (refresh && !Expired(entry)) entry.time_ms = now_.now_ms;
  }
  now_.lists[key] = std::move(left);
  return "";
}

std::string ShardModel::ReadEntries(const std::string& key, const Values& got) {
  Map& map = now_.maps[key];
  for (const auto& [map_key, value] : got) {
    if (!map.contains(map_key)) {
      return "entry '" + map_key + "' should not be there";
    }
  }
  std::vector<std::string> map_keys;
  for (const auto& [map_key, entry] : map) map_keys.push_back(map_key);
  for (const std::string& map_key : map_keys) {
    const auto it = got.find(map_key);
    const std::string error =
        ReadOne(map, map_key,
                it == got.end() ? std::nullopt : std::optional(it->second));
    if (!error.empty()) return "entry '" + map_key + "': " + error;
  }
  return "";
}

std::string ShardModel::ReadIsEmpty(const std::string& key, bool got) {
  const Map& map = now_.maps[key];
  const bool some_live =
      std::any_of(map.begin(), map.end(),
                  [this](const auto& entry) { return !Expired(entry.second); });
  if (got && some_live) return "something is live";
  if (!got && !some_live && !(options_.show_expired && !map.empty())) {
    return "nothing is live";
  }
  return "";
}

void ShardModel::Commit(const std::string& position) {
  now_.position = position;
  committed_ = now_;
}

void ShardModel::Restart(std::optional<std::int64_t> ttl_ms) {
  Contents restored = committed_;
  if (options_.records_ttl_at_once) {
    restored.ttl_ms = now_.ttl_ms;
    restored.expired_through_ms = now_.expired_through_ms;
  }
  if (restored.ttl_ms != ttl_ms) {
    restored.expired_through_ms =
        std::max(restored.expired_through_ms,
                 committed_.now_ms - restored.ttl_ms.value());
    restored.ttl_ms = ttl_ms;
  }
  now_ = std::move(restored);
}

ShardModel::Counts ShardModel::LiveCounts() const {
  Counts counts;
  for (const auto& [key, entry] : now_.values) {
    counts.values += Expired(entry) ? 0 : 1;
  }
  for (const auto& [key, list] : now_.lists) {
    for (const Entry& entry : list) counts.elements += Expired(entry) ? 0 : 1;
  }
  for (const auto& [key, map] : now_.maps) {
    for (const auto& [map_key, entry] : map) {
      counts.entries += Expired(entry) ? 0 : 1;
    }
  }
  return counts;
}

}  // namespace mayfly::state_test
