#include "sandbox/build/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "sandbox/build/text.h"

namespace touchstone {
namespace {

constexpr size_t kMaxNotesPerError = 3;
constexpr size_t kMaxFileBytes = 200;

struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

bool IsOurs(std::string_view file) { return file == kCandidateFile || file == kHeaderFile; }

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// "/tmp/ccAbCdEf.o" differs from run to run.
void ReplaceObjectNames(std::string& text) {
  constexpr std::string_view kPrefix = "/tmp/cc";
  constexpr size_t kRandomCharacters = 6;
  for (size_t at = 0; (at = text.find(kPrefix, at)) != std::string::npos;) {
    const size_t dot = at + kPrefix.size() + kRandomCharacters;
    const bool object = dot + 1 < text.size() && text[dot] == '.' && (text[dot + 1] == 'o' || text[dot + 1] == 's');
    if (!object) {
      at += kPrefix.size();
      continue;
    }
    constexpr std::string_view kName = "candidate";
    text.replace(at, dot - at, kName);
    at += kName.size();
  }
}

// The names of our descriptors and of temporary files become the names that people know.
std::string Normalise(std::string_view output) {
  std::string text = CleanText(output);
  ReplaceAll(text, "/proc/self/fd/3", kCandidateFile);
  ReplaceAll(text, "/proc/self/fd/4", kHeaderFile);
  ReplaceObjectNames(text);
  // The linker calls the object's source by the last part of its name, which was a descriptor.
  ReplaceAll(text, "\n3:(", "\ncandidate.cc:(");
  ReplaceAll(text, ": 3:(", ": candidate.cc:(");
  if (text.starts_with("3:(")) text.replace(0, 1, kCandidateFile);
  return text;
}

// Takes ":NUMBER" off the end of `text`.
std::optional<int> TakeNumber(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return std::nullopt;
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

// "FILE", "FILE:LINE" or "FILE:LINE:COLUMN".
Location ParseLocation(std::string_view text) {
  Location location;
  const auto last = TakeNumber(text);
  const auto first = last.has_value() ? TakeNumber(text) : std::nullopt;
  location.line = first.value_or(last.value_or(0));
  location.column = first.has_value() ? *last : 0;
  location.file = Shorten(std::string(text), kMaxFileBytes);
  return location;
}

struct Severity {
  std::string_view printed;  // as it stands between location and message
  std::string_view name;
};
constexpr std::array<Severity, 8> kSeverities = {{{": fatal error: ", "fatal error"},
                                                  {": error: ", "error"},
                                                  {": internal compiler error: ", "fatal error"},
                                                  {": sorry, unimplemented: ", "error"},
                                                  {": warning: ", "warning"},
                                                  {": note: ", "note"},
                                                  {": Error: ", "error"},
                                                  {": Warning: ", "warning"}}};

bool IsLinker(std::string_view file) {
  return file == "ld" || file.ends_with("/ld") || file.ends_with("-ld") || file.ends_with("ld.bfd");
}

// The last part of a name that the driver, the compiler proper, the linker or the assembler gives itself.
bool IsTool(std::string_view file) {
  constexpr std::array<std::string_view, 3> kTools = {"cc1plus", "as", "{standard input}"};
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return IsLinker(file) || std::find(kTools.begin(), kTools.end(), name) != kTools.end() ||
         name.find("g++") != std::string_view::npos;
}

class Parser {
 public:
  void Line(std::string_view line) {
    if (line.empty() || IncludeLine(line) || RequiredLine(line) || SeverityLine(line)) return;
    LinkerLine(line);
  }

  std::vector<Diagnostic> Finish() {
    const bool any_error = std::any_of(found_.begin(), found_.end(), [](const Group& g) { return g.error; });
    std::vector<Diagnostic> result;
    for (const bool errors : {true, false}) {
      for (Group& group : found_) {
        if (group.error != errors) continue;
        for (Diagnostic& d : group.members) {
          if (result.size() < kMaxDiagnostics) result.push_back(std::move(d));
        }
      }
    }
    // "ld returned 1 exit status" says something only when nothing else does.
    if (!any_error && closing_.has_value()) result.insert(result.begin(), *closing_);
    if (result.size() > kMaxDiagnostics) result.pop_back();
    return result;
  }

 private:
  struct Group {
    bool error = false;
    std::vector<Diagnostic> members;  // an error or a warning and its notes
  };

  // "In file included from A:1," / "                 from B:2:": the last own file is where it came from.
  bool IncludeLine(std::string_view line) {
    constexpr std::string_view kFirst = "In file included from ";
    constexpr std::string_view kNext = "                 from ";
    if (line.starts_with(kFirst)) {
      included_.reset();
      line.remove_prefix(kFirst.size());
    } else if (line.starts_with(kNext)) {
      line.remove_prefix(kNext.size());
    } else {
      return false;
    }
    if (line.ends_with(',') || line.ends_with(':')) line.remove_suffix(1);
    Location location = ParseLocation(line);
    if (IsOurs(location.file)) included_ = std::move(location);
    return true;
  }

  // "candidate.cc:4:77:   required from here": the way from the template to who asked for it.
  bool RequiredLine(std::string_view line) {
    constexpr std::array<std::string_view, 3> kMarks = {":   required from ", ":   recursively required from ",
                                                        ":   required by "};
    for (const std::string_view mark : kMarks) {
      const size_t at = line.find(mark);
      if (at == std::string_view::npos) continue;
      Location location = ParseLocation(line.substr(0, at));
      if (IsOurs(location.file)) required_ = std::move(location);
      return true;
    }
    return false;
  }

  bool SeverityLine(std::string_view line) {
    const Severity* severity = nullptr;
    size_t at = std::string_view::npos;
    for (const Severity& candidate : kSeverities) {
      const size_t found = line.find(candidate.printed);
      if (found < at) {
        at = found;
        severity = &candidate;
      }
    }
    if (severity == nullptr || at == 0) return false;
    Location location = ParseLocation(line.substr(0, at));
    std::string message(line.substr(at + severity->printed.size()));
    if (location.file == "collect2") {
      closing_ = Diagnostic{"", 0, 0, std::string(severity->name), std::move(message)};
      return true;
    }
    if (std::string_view(": Error: : Warning: ").find(severity->printed) != std::string_view::npos) {
      message.insert(0, "assembler: ");
    }
    if (IsTool(location.file)) {
      location = Location();
    } else if (!IsOurs(location.file) && severity->name != "note") {
      Relocate(location, message);
    }
    required_.reset();
    Add(std::move(location), severity->name, std::move(message));
    return true;
  }

  // An error in somebody else's header belongs to the line of ours that led there.
  void Relocate(Location& location, std::string& message) const {
    const std::optional<Location>& origin = required_.has_value() ? required_ : included_;
    if (!origin.has_value()) return;
    message += " (in " + location.file + ":" + std::to_string(location.line) + ")";
    location = *origin;
  }

  // "/usr/bin/ld: X.o: in function `run':", "candidate.cc:(.text+0x3): undefined reference to `f()'", …
  void LinkerLine(std::string_view line) {
    bool linker = false;
    if (const size_t colon = line.find(": "); colon != std::string_view::npos && IsLinker(line.substr(0, colon))) {
      linker = true;
      line.remove_prefix(colon + 2);
    }
    if (line.ends_with("':") && line.find(": in function `") != std::string_view::npos) return;
    if (const size_t section = line.find(":("); section != std::string_view::npos) {
      if (const size_t end = line.find("): ", section); end != std::string_view::npos) {
        linker = true;
        line.remove_prefix(end + 3);
      }
    }
    if (!linker || line.empty()) return;
    std::string message = "linker: " + std::string(line);
    if (line == "required symbol `run' not defined") message += "; define it exactly as task.h declares it";
    Add(Location{std::string(kCandidateFile), 0, 0}, "error", std::move(message));
  }

  void Add(Location location, std::string_view severity, std::string message) {
    Diagnostic d{std::move(location.file), location.line, location.column, std::string(severity),
                 Shorten(std::move(message), kMaxDiagnosticBytes)};
    if (severity == "note") {
      if (!found_.empty() && found_.back().members.size() <= kMaxNotesPerError) {
        found_.back().members.push_back(std::move(d));
      }
      return;
    }
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const Group& g) {
      const Diagnostic& first = g.members.front();
      return first.file == d.file && first.line == d.line && first.message == d.message;
    });
    if (known || found_.size() >= 4 * kMaxDiagnostics) return;
    found_.push_back({severity != "warning", {std::move(d)}});
  }

  std::vector<Group> found_;
  std::optional<Location> included_;
  std::optional<Location> required_;
  std::optional<Diagnostic> closing_;
};

}  // namespace

std::vector<Diagnostic> ParseDiagnostics(std::string_view output) {
  const std::string text = Normalise(output);
  Parser parser;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    parser.Line(std::string_view(text).substr(start, end - start));
    start = end + 1;
  }
  return parser.Finish();
}

bool HasError(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == "error" || d.severity == "fatal error"; });
}

std::string TrimLog(std::string_view output) {
  constexpr size_t kNoticeBytes = 64;
  std::string text = Normalise(output);
  if (text.size() <= kMaxLogBytes) return text;
  const size_t line_end = text.rfind('\n', kMaxLogBytes - kNoticeBytes);
  const size_t kept = line_end == std::string::npos ? 0 : line_end + 1;
  const size_t cut = text.size() - kept;
  if (kept == 0) {
    text = Shorten(std::move(text), kMaxLogBytes - kNoticeBytes) + '\n';
  } else {
    text.resize(kept);
  }
  return text + "(" + std::to_string(cut) + " more bytes)\n";
}

}  // namespace touchstone
