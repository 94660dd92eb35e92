#ifndef TOUCHSTONE_ROLLOUT_STORE_VERIFY_H_
#define TOUCHSTONE_ROLLOUT_STORE_VERIFY_H_

#include <string>

#include "base/result.h"
#include "rollout/store/reader.h"

namespace touchstone {

// RolloutStore::Verify on one connection, as of the moment at which it begins.
Result<std::string> VerifyStore(Reader& reader);

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_VERIFY_H_
