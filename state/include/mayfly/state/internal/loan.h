// What a state returns and takes back.
//
// A pointer or a range that a state returned is valid until the next call on
// the state or the next change of the current key; who keeps one longer reads
// another value, or freed memory, or nothing amiss for years. Builds with
// MAYFLY_CHECK_LIFETIMES (CMake option of that name) return copies in memory of
// their own and free them at exactly that moment, so that the address
// sanitizer points at the culprit.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace mayfly::state_internal {

#if defined(MAYFLY_CHECK_LIFETIMES)

inline constexpr bool kCheckLifetimes = true;

// Threads: one.
template <typename T>
class Loan {
 public:
  const T* Lend(const T& value) {
    if constexpr (std::copy_constructible<T>) {
      lent_ = std::make_unique<T>(value);
      return lent_.get();
    } else {
      return &value;
    }
  }

  // Ends what was lent last. It is freed with the result, at the end of the
  // call: until then the arguments of the call may refer to it.
  [[nodiscard]] std::unique_ptr<T> Recall() {
    return std::exchange(lent_, nullptr);
  }

 private:
  std::unique_ptr<T> lent_;
};

#else

inline constexpr bool kCheckLifetimes = false;

template <typename T>
class Loan {
 public:
  const T* Lend(const T& value) { return &value; }
  // Not trivial, so that to hold one is no unused variable.
  struct Nothing {
    ~Nothing() {}  // NOLINT(modernize-use-equals-default)
  };
  Nothing Recall() { return {}; }
};

#endif

}  // namespace mayfly::state_internal
