// A record may come from anybody: it is either one that can be written and read again, or an error that names the
// field.
#include <nlohmann/json.hpp>

#include <cstdint>

#include "reward/public_view.h"
#include "reward/result.h"
#include "tests/fuzz/expect.h"

using namespace touchstone;
using nlohmann::json;

namespace {

// The parts of a whole record that the input has in their place: a mere input would hardly ever have all fields.
json Patched(const json& patch) {
  static const json whole = [] {
    EvalResult result;
    result.trials.resize(1);
    result.rounds.resize(1);
    result.evidence.resize(1);
    return ToJson(result);
  }();
  json document = whole;
  if (patch.is_object()) document.merge_patch(patch);
  return document;
}

void Check(const json& document) {
  const auto result = EvalResultFromJson(document);
  if (!result.ok()) {
    FUZZ_EXPECT(result.error().code() == ErrorCode::kInvalidArgument && !result.error().message().empty());
    return;
  }
  const json written = ToJson(*result);
  const auto again = EvalResultFromJson(json::parse(written.dump()));
  FUZZ_EXPECT(again.ok() && ToJson(*again) == written);
  const json view = ToJson(PublicView(*result));
  FUZZ_EXPECT(view["key_hex"] == "" && view["rounds"].empty());
  const auto shown = EvalResultFromJson(view);
  FUZZ_EXPECT(shown.ok() && ToJson(PublicView(*shown)) == view);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const json document = json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  Check(document);
  Check(Patched(document));
  return 0;
}
