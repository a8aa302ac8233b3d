#include "tests/model/program.h"

#include <array>

namespace mayfly::model_test {
namespace {

const char* NameOf(BackendChoice backend) {
  constexpr std::array kNames = {"heap", "RocksDB",
                                 "RocksDB with a tiny table"};
  return kNames.at(static_cast<std::size_t>(backend));
}

const char* NameOf(StateKind state) {
  constexpr std::array<const char*, kStateKinds> kNames = {
      "value", "list", "map", "reducing", "aggregating"};
  return kNames.at(static_cast<std::size_t>(state));
}

const char* NameOf(Cleanup cleanup) {
  constexpr std::array kNames = {"by default", "off", "at every record",
                                 "only incremental",
                                 "only by the compaction filter"};
  return kNames.at(static_cast<std::size_t>(cleanup));
}

const char* NameOf(Action action) {
  constexpr std::array<const char*, kActions> kNames = {
      "Read",
      "Write",
      "Add",
      "AddAll",
      "Clear",
      "Get",
      "Contains",
      "IsEmpty",
      "Remove",
      "Walk",
      "pass",
      "set the clock back by",
      "jump",
      "set the clock right",
      "move the watermark by",
      "CleanUp",
      "CleanUpInBackground",
      "CleanUp until all is clean",
      "Commit",
      "Commit, count",
      "Commit, Compact, count",
      "Compact",
      "BeginCommit",
      "StepCommit",
      "FinishCommit",
      "sweep at",
      "checkpoint",
      "savepoint",
      "crash and restart",
      "crash, compact files",
      "crash and restore"};
  return kNames.at(static_cast<std::size_t>(action));
}

std::string Milliseconds(std::int64_t ms) {
  if (ms == kForEverMs) return "for ever";
  if (ms == kInfiniteMs) return "infinite";
  if (ms == kNoTtlMs) return "none";
  return std::to_string(ms) + " ms";
}

bool Writes(Action action) {
  return action == Action::kWrite || action == Action::kAdd ||
         action == Action::kAddAll;
}

std::string ArgumentsOf(const Operation& operation) {
  std::string text = "(key " + std::to_string(operation.key);
  const bool one_entry = operation.action == Action::kReadEntry ||
                         operation.action == Action::kContains ||
                         operation.action == Action::kRemoveEntry;
  const bool puts =
      operation.state == StateKind::kMap && operation.action == Action::kWrite;
  if (one_entry || puts) {
    text += ", map key " + std::to_string(operation.map_key);
  }
  if (Writes(operation.action)) {
    text += ", #" + std::to_string(operation.number);
    if (operation.count != 1) text += " x " + std::to_string(operation.count);
    if (operation.ms != 0) text += ", ttl " + Milliseconds(operation.ms);
  }
  if (operation.action == Action::kWalk) {
    text += operation.count == 0
                ? ", to the end"
                : ", " + std::to_string(operation.count) + " entries";
    if (operation.remove_every > 0) {
      text +=
          ", removing multiples of " + std::to_string(operation.remove_every);
    }
  }
  return text + ")";
}

std::string ToString(const Layout& layout) {
  return std::string(NameOf(layout.backend)) + " in " +
         std::to_string(layout.shards) + " shards";
}

// What is different after a restart.
std::string ChangesOf(const Operation& restart) {
  std::string text;
  if (restart.layout) text += ", into " + ToString(*restart.layout);
  if (restart.ms != 0) text += ", TTL " + Milliseconds(restart.ms);
  if (restart.cleanup) {
    text += std::string(", clean-up ") + NameOf(*restart.cleanup);
  }
  return text;
}

}  // namespace

void Settings::ChangeTtl(std::int64_t ms) {
  if (ms == 0) return;
  has_ttl = ms != kNoTtlMs;
  if (has_ttl) ttl_ms = ms;
}

bool Settings::incremental() const {
  if (!has_ttl) return false;
  return cleanup == Cleanup::kEveryRecord ||
         cleanup == Cleanup::kOnlyIncremental ||
         (cleanup == Cleanup::kDefault && on_heap());
}

bool Settings::compaction_filter() const {
  return has_ttl && !on_heap() && cleanup != Cleanup::kOff &&
         cleanup != Cleanup::kOnlyIncremental;
}

std::string KeyName(int key) {
  static const std::array<std::string, kKeys> names = {
      "",     "1", "11", "111", std::string("1\0", 2), std::string("\0", 1),
      "\xff", "12"};
  return names.at(static_cast<std::size_t>(key));
}

std::string MapKeyName(int map_key) {
  return map_key == 0 ? "" : std::to_string(map_key);
}

int MapKeyOf(const std::string& name) {
  return name.empty() ? 0 : std::stoi(name);
}

std::string TextOf(const Operation& operation, int i) {
  std::string text = std::to_string(operation.number);
  if (i > 0) text += "." + std::to_string(i);
  constexpr int kLongEvery = 8;
  constexpr std::size_t kPaddingMax = 200;
  if (operation.number % kLongEvery == 0) {
    text.append(static_cast<std::size_t>(operation.number) % kPaddingMax, '_');
  }
  return text;
}

std::string Fold(const std::string& folded, const std::string& text) {
  constexpr std::size_t kBytesMax = 30;
  const std::string all = folded + "+" + text;
  return all.size() <= kBytesMax ? all : all.substr(all.size() - kBytesMax);
}

std::string ToString(const Settings& settings) {
  std::string text = ToString(settings.layout);
  text += ", clock at " + Milliseconds(settings.start_ms);
  if (!settings.has_ttl) return text + ", no TTL";
  text += ", TTL " + Milliseconds(settings.ttl_ms);
  text += settings.refresh_on_read ? ", OnReadAndWrite of granularity " +
                                         Milliseconds(settings.granularity_ms)
                                   : ", OnCreateAndWrite";
  text += settings.return_expired ? ", ReturnExpiredIfNotCleanedUp"
                                  : ", NeverReturnExpired";
  text += settings.event_time ? ", event time" : ", processing time";
  return text + ", clean-up " + NameOf(settings.cleanup);
}

std::string ToString(const Operation& operation) {
  std::string name = NameOf(operation.action);
  if (operation.action < Action::kPass) {
    return std::string(NameOf(operation.state)) + "." + name +
           ArgumentsOf(operation);
  }
  switch (operation.action) {
    case Action::kPass:
    case Action::kSetBack:
    case Action::kJump:
    case Action::kMoveWatermark:
      return name + " " + Milliseconds(operation.ms);
    case Action::kCleanUp:
    case Action::kCleanUpInBackground:
      return name + "(" + std::to_string(operation.count) + ")";
    case Action::kSweep:
      return name + " " + std::to_string(operation.count) + " %, " +
             Milliseconds(operation.ms) + " late";
    case Action::kStepCommit:
      return name + " x " + std::to_string(operation.count);
    case Action::kCheckpoint:
    case Action::kSavepoint:
      return name + " #" + std::to_string(operation.count);
    case Action::kRestart:
      return name + ChangesOf(operation);
    case Action::kRestore:
      return name + " #" + std::to_string(operation.count) +
             ChangesOf(operation);
    case Action::kRewriteFiles:
      return name + " #" + std::to_string(operation.number) + " x " +
             std::to_string(operation.count) + ", sweep and restart";
    default:
      return name;
  }
}

std::string ToString(const Program& program) {
  std::string text = ToString(program.settings) + "\n";
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    text += "  " + std::to_string(i) + ": " + ToString(program.operations[i]) +
            "\n";
  }
  return text;
}

}  // namespace mayfly::model_test
