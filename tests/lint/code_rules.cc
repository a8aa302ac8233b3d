#include <algorithm>
#include <array>
#include <cstddef>
#include <regex>
#include <string>
#include <string_view>

#include "tests/lint/rules.h"

namespace mayfly::lint {
namespace {

constexpr std::size_t kLinesMax = 600;

constexpr std::array<std::string_view, 7> kLibraries = {
    "kafka", "runtime", "log", "state", "compaction", "serde", "proto"};

// The one file that may ask the system for the time.
constexpr std::string_view kRealClock = "state/system_clock.cc";

struct BannedCall {
  const char* pattern;
  const char* instead;
};

constexpr const char* kUseClock = "take a TtlClock and ask its NowMs()";
constexpr const char* kUseCondition = "wait on a std::condition_variable";
constexpr const char* kUseStdMutex =
    "use std::mutex and std::condition_variable: the thread sanitizer cannot "
    "see the locks inside Debian's Abseil";
constexpr const char* kUseStatus =
    "return it in a Status, or write to a sink that the caller gave";

constexpr BannedCall kBannedCalls[] = {
    {R"(\bsystem_clock\s*::\s*now\b)", kUseClock},
    {R"(\bsteady_clock\s*::\s*now\b)", kUseClock},
    {R"(\bhigh_resolution_clock\s*::\s*now\b)", kUseClock},
    {R"(\babsl\s*::\s*Now\b)", kUseClock},
    {R"(\babsl\s*::\s*GetCurrentTimeNanos\b)", kUseClock},
    {R"(\b(clock_gettime|gettimeofday)\s*\()", kUseClock},
    {R"(\b(sleep_for|sleep_until|SleepFor|usleep|nanosleep)\b)", kUseCondition},
    {R"(\babsl\s*::\s*(Mutex|CondVar|Notification|Barrier)\b)", kUseStdMutex},
    {R"(\babsl\s*::\s*BlockingCounter\b)", kUseStdMutex},
    {R"(\bs?rand\s*\()", "take a seeded random engine"},
    {R"(\brandom_device\b)", "take a seeded random engine"},
    {R"(\b(cout|cerr|clog)\b)", kUseStatus},
    {R"(\bv?printf\s*\()", kUseStatus},
};

std::string At(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line + 1) + ": ";
}

std::size_t Indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool IsComment(std::string_view line) {
  return line.substr(Indentation(line)).starts_with("//");
}

bool IsBlank(std::string_view line) { return Indentation(line) == line.size(); }

// Whether the comment that ends above `line` speaks of errors. Declarations
// that follow one another without a blank line share the comment above them.
bool CommentAboveHasErrors(const std::vector<std::string>& lines,
                           std::size_t line) {
  bool in_comment = false;
  while (line-- > 0 && !IsBlank(lines[line])) {
    if (IsComment(lines[line])) {
      in_comment = true;
      if (lines[line].find("Errors:") != std::string::npos) return true;
    } else if (in_comment || lines[line].ends_with('{')) {
      return false;
    }
  }
  return false;
}

// A scope around a declaration, as the layout of Google style shows it.
struct Scope {
  bool is_private = false;
  bool is_internal = false;  // Inside a namespace ..._internal.
  // Above the class; a specialisation answers for what its template says.
  bool class_has_errors = false;
};

Scope ScopeOf(const std::vector<std::string>& lines, std::size_t line) {
  static const std::regex access(R"( *(public|protected|private):.*)");
  static const std::regex type(R"( *(requires.* )?(class|struct) [^;]*)");
  static const std::regex specialisation(
      R"( *(requires.* )?(class|struct) \w+<.*)");
  static const std::regex internal(R"(namespace .*_internal \{)");
  static const std::regex internal_end(R"(\}  // namespace .*_internal)");
  Scope scope;
  std::size_t inside = Indentation(lines[line]);
  bool access_seen = false;
  bool internal_ended = false;
  for (std::size_t i = line; i-- > 0;) {
    const std::string& text = lines[i];
    if (std::regex_match(text, internal_end)) internal_ended = true;
    if (std::regex_match(text, internal)) {
      scope.is_internal = scope.is_internal || !internal_ended;
      internal_ended = false;
    }
    if (IsBlank(text) || Indentation(text) >= inside) continue;
    if (text[Indentation(text)] == '}') inside = 0;  // The end of a sibling.
    if (std::regex_match(text, access)) {
      scope.is_private =
          scope.is_private ||
          (!access_seen && text.find("private:") != std::string::npos);
      access_seen = true;
    } else if (std::regex_match(text, type)) {
      inside = Indentation(text);
      access_seen = false;
      scope.class_has_errors = scope.class_has_errors ||
                               std::regex_match(text, specialisation) ||
                               CommentAboveHasErrors(lines, i);
    }
  }
  return scope;
}

// Where in `code` the arguments of a template end whose `<` is at `open`.
std::size_t PastTemplateArguments(std::string_view code, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '<') ++depth;
    if (code[i] == '>' && --depth == 0) return i + 1;
  }
  return code.size();
}

// The name of the function declared at `position` in `code`, where a return
// type absl::Status or absl::StatusOr starts; empty if it is no such thing.
std::string FallibleFunctionAt(std::string_view code, std::size_t position) {
  static const std::regex declared(R"(\s+([A-Za-z_]\w*)\s*\()",
                                   std::regex::optimize);
  constexpr std::string_view kOr = "absl::StatusOr<";
  constexpr std::string_view kStatus = "absl::Status";
  std::size_t end = position + kStatus.size();
  if (code.substr(position).starts_with(kOr)) {
    end = PastTemplateArguments(code, position + kOr.size() - 1);
  }
  const std::string rest(code.substr(end, 160));
  std::smatch match;
  if (!std::regex_search(rest, match, declared,
                         std::regex_constants::match_continuous)) {
    return "";
  }
  return match[1];
}

}  // namespace

Findings CheckBannedCalls(const SourceFile& file) {
  Findings findings;
  if (std::ranges::find(kLibraries, file.folder()) == kLibraries.end() ||
      file.path == kRealClock || !(file.is_cc() || file.is_header())) {
    return findings;
  }
  const std::vector<std::string> lines = Lines(CodeOnly(file.text));
  for (const BannedCall& banned : kBannedCalls) {
    const std::regex pattern(banned.pattern);
    std::smatch match;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!std::regex_search(lines[i], match, pattern)) continue;
      findings.push_back(At(file, i) + "'" + match.str() +
                         "' is banned in libraries: " + banned.instead);
    }
  }
  return findings;
}

Findings CheckStdTypes(const SourceFile& file) {
  Findings findings;
  if (!file.is_public_header()) return findings;
  static const std::regex pattern(
      R"(\babsl::(string_view|optional|variant)\b)");
  const std::vector<std::string> lines = Lines(CodeOnly(file.text));
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], match, pattern)) continue;
    findings.push_back(
        At(file, i) + match.str() +
        " is not the std type everywhere: use std::" + match[1].str());
  }
  return findings;
}

Findings CheckErrorsDocumented(const SourceFile& file) {
  Findings findings;
  if (!file.is_public_header()) return findings;
  const std::string code = CodeOnly(file.text);
  const std::vector<std::string> lines = Lines(file.text);
  constexpr std::string_view kStatus = "absl::Status";
  for (std::size_t at = code.find(kStatus); at != code.npos;
       at = code.find(kStatus, at + 1)) {
    const std::string name = FallibleFunctionAt(code, at);
    if (name.empty()) continue;
    const std::size_t declaration_end = code.find_first_of(";{", at);
    const std::string declaration = code.substr(at, declaration_end - at);
    if (declaration.find(" override") != std::string::npos) continue;
    const auto line = static_cast<std::size_t>(std::count(
        code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const Scope scope = ScopeOf(lines, line);
    if (scope.is_private || scope.is_internal || scope.class_has_errors ||
        CommentAboveHasErrors(lines, line)) {
      continue;
    }
    findings.push_back(At(file, line) + name +
                       "() does not say how it fails: add an 'Errors:' line "
                       "to its comment (\"Errors: as X()\" will do)");
  }
  return findings;
}

Findings CheckLength(const SourceFile& file) {
  const std::size_t lines = Lines(file.text).size();
  if (!(file.is_cc() || file.is_header()) || lines <= kLinesMax) return {};
  return {file.path + ": has " + std::to_string(lines) + " lines, more than " +
          std::to_string(kLinesMax) + ": split it by what it is about"};
}

}  // namespace mayfly::lint
