// A source that a test can hold between two lines.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "mayfly/runtime/source.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {

// Gives nothing after each of some lines until `may_go_on` says so, which is
// called again and again with the number of the line, on the reader's thread.
class PausingSource final : public Source {
 public:
  PausingSource(std::unique_ptr<Source> inner, std::set<std::uint64_t> lines,
                std::function<bool(std::uint64_t line)> may_go_on)
      : inner_(std::move(inner)),
        lines_(std::move(lines)),
        may_go_on_(std::move(may_go_on)) {}

  const std::string& name() const override { return inner_->name(); }
  absl::Status Open() override { return inner_->Open(); }
  absl::Status SeekTo(const SourcePosition& position) override {
    line_ = position.lines;
    return inner_->SeekTo(position);
  }
  std::optional<std::uint64_t> total_bytes() const override {
    return inner_->total_bytes();
  }

  absl::StatusOr<SourceRead> Next(SourceLine& line) override {
    if (lines_.contains(line_)) {
      if (!may_go_on_(line_)) {
        std::this_thread::yield();
        return SourceRead::kIdle;
      }
      lines_.erase(line_);
    }
    MAYFLY_ASSIGN_OR_RETURN(const SourceRead read, inner_->Next(line));
    line_ = line.number;
    return read;
  }

 private:
  const std::unique_ptr<Source> inner_;
  std::set<std::uint64_t> lines_;
  const std::function<bool(std::uint64_t)> may_go_on_;
  std::uint64_t line_ = 0;
};

}  // namespace mayfly
