// What a compiler prints is decided by a hostile source: any bytes give bounded, clean results.
#include <cstdint>

#include "sandbox/build/compiler.h"
#include "sandbox/build/diagnostics.h"
#include "sandbox/build/text.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view output(reinterpret_cast<const char*>(data), size);
  const std::vector<Diagnostic> diagnostics = ParseDiagnostics(output);
  FUZZ_EXPECT(diagnostics.size() <= kMaxDiagnostics);
  for (const Diagnostic& d : diagnostics) {
    FUZZ_EXPECT(d.message.size() <= kMaxDiagnosticBytes);
    FUZZ_EXPECT(d.line >= 0 && d.column >= 0);
    FUZZ_EXPECT(CleanText(d.message) == d.message);
    FUZZ_EXPECT(CleanText(d.file) == d.file);
    FUZZ_EXPECT(d.message.find('\n') == std::string::npos);
  }
  const std::string log = TrimLog(output);
  FUZZ_EXPECT(log.size() <= kMaxLogBytes);
  FUZZ_EXPECT(CleanText(log) == log);

  CompilerRun run;
  run.outcome.kind = Outcome::Kind::kExited;
  run.outcome.code = 1;
  run.output = output;
  FUZZ_EXPECT(Classify(run, diagnostics) != BuildOutcome::Kind::kBuilt);
  return 0;
}
