// The contexts of rows.md: a kind of state with something to
// write to it and a way to read it. Each row runs in each context.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "mayfly/state/keyed_state_backend.h"
#include "tests/conformance/program.h"

namespace mayfly::conformance {

inline constexpr char kStateName[] = "state";

using Backend = KeyedStateBackend<Key>;

// How a state is registered.
struct Asked {
  MaybeTtl ttl;
  // What is stored with a TTL, or without, may become the other.
  bool migrates = false;
};

// Acts on the current key of the backend that it is registered with.
class Subject {
 public:
  virtual ~Subject() = default;

  virtual absl::Status Register(Backend& backend, const Asked& asked) = 0;
  virtual void Write(Batch batch) = 0;
  virtual void Clear() = 0;

  // As text, so that the contexts can be compared alike.
  virtual std::string Read() = 0;
  // What Read() gives if it sees these batches, written in this order.
  virtual std::string Shown(const Batches& batches) const = 0;

  // Whether one timestamp stands for all that was written.
  virtual bool folds() const { return false; }

  // Whether the map entry is contained; nullopt if the context is none.
  virtual std::optional<bool> Contains() { return std::nullopt; }

  // How many entries are stored once these batches have been written.
  virtual std::size_t EntriesOf(const Batches& batches) const = 0;

  // Takes what the current key holds out of the state; the result adds it to
  // the current key of a subject of the same context. Only kinds that merge
  // have it.
  virtual std::function<void(Subject& into)> TakeOut();
};

struct Context {
  // As in rows.md.
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
};

// V, LF, LV, MA, ME, MN, A and R.
const std::vector<Context>& AllContexts();

}  // namespace mayfly::conformance
