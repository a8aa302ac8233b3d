#include "tests/model/shrinker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

namespace mayfly::model_test {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails,
           int tries_max)
      : best_(std::move(program)), fails_(fails), tries_left_(tries_max) {}

  Program Run() {
    // Simpler arguments may make more operations superfluous.
    while (tries_left_ > 0) {
      const bool removed = RemoveChunks();
      const bool merged = MergeMoves();
      const bool simplified = SimplifyArguments();
      if (!removed && !merged && !simplified) break;
    }
    return std::move(best_);
  }

 private:
  // Takes a candidate if it fails as well.
  bool Try(Program candidate) {
    if (tries_left_ == 0) return false;
    --tries_left_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool RemoveChunks() {
    bool any = false;
    std::size_t chunk = std::max<std::size_t>(best_.operations.size() / 2, 1);
    while (tries_left_ > 0) {
      const bool removed = RemoveChunksOf(chunk);
      any |= removed;
      if (chunk == 1 && !removed) break;
      if (!removed) chunk /= 2;
    }
    return any;
  }

  // From the end, where what the difference does not need is most likely.
  bool RemoveChunksOf(std::size_t chunk) {
    bool any = false;
    for (std::size_t end = best_.operations.size(); end > 0 && tries_left_ > 0;
         end -= std::min(end, chunk)) {
      Program candidate = best_;
      const auto begin = candidate.operations.begin();
      candidate.operations.erase(
          begin + static_cast<std::ptrdiff_t>(end - std::min(end, chunk)),
          begin + static_cast<std::ptrdiff_t>(end));
      any |= Try(std::move(candidate));
    }
    return any;
  }

  // Makes one of two moves of time in succession, of which neither can go.
  bool MergeMoves() {
    bool any = false;
    for (std::size_t i = 1; i < best_.operations.size();) {
      Program candidate = best_;
      const auto move =
          candidate.operations.begin() + static_cast<std::ptrdiff_t>(i);
      Operation& before = *(move - 1);
      const bool same = before.action == move->action &&
                        (move->action == Action::kPass ||
                         move->action == Action::kMoveWatermark);
      before.ms += move->ms;
      candidate.operations.erase(move);
      if (same && Try(std::move(candidate))) {
        any = true;
      } else {
        ++i;
      }
    }
    return any;
  }

  bool SimplifyArguments() {
    bool any = false;
    for (std::size_t i = 0; i < best_.operations.size(); ++i) {
      any |= Simplify(i, &Operation::key, {0});
      any |= Simplify(i, &Operation::map_key, {0, 1});
      any |= Simplify(i, &Operation::remove_every, {0, 1});
      any |= Simplify(i, &Operation::count, {1, best_.operations[i].count / 2});
      any |= Simplify<std::int64_t>(i, &Operation::ms,
                                    {0, 100, best_.operations[i].ms / 2});
      any |= Keep(i, &Operation::cleanup);
      any |= Keep(i, &Operation::layout);
    }
    return any;
  }

  // Leaves what a restart changes as it was before.
  template <typename T>
  bool Keep(std::size_t i, std::optional<T> Operation::*change) {
    if (!(best_.operations[i].*change)) return false;
    Program candidate = best_;
    (candidate.operations[i].*change).reset();
    return Try(std::move(candidate));
  }

  // Gives an argument the first value that will do, if that is simpler.
  template <typename T>
  bool Simplify(std::size_t i, T Operation::*argument,
                std::initializer_list<T> values) {
    for (const T value : values) {
      const T now = best_.operations[i].*argument;
      if (now == value || (now < value && now >= 0)) return false;
      Program candidate = best_;
      candidate.operations[i].*argument = value;
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  int tries_left_;
};

}  // namespace

Program Shrink(const Program& program,
               const std::function<bool(const Program&)>& fails,
               int tries_max) {
  return Shrinker(program, fails, tries_max).Run();
}

}  // namespace mayfly::model_test
