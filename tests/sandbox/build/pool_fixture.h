#ifndef TOUCHSTONE_TESTS_SANDBOX_BUILD_POOL_FIXTURE_H_
#define TOUCHSTONE_TESTS_SANDBOX_BUILD_POOL_FIXTURE_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "sandbox/box/spawner.h"
#include "sandbox/build/build.h"
#include "sandbox/runner/libraries/command.h"

namespace touchstone {

inline constexpr char kTestHeader[] =
    "#pragma once\n"
    "#include <cstdint>\n"
    "extern \"C\" __attribute__((visibility(\"default\"))) void run(const float* x, float* y, int64_t n);\n";
inline constexpr char kGoodSource[] =
    "void run(const float* x, float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i]; }\n";

// A spawner, and a folder that is gone afterwards.
class PoolTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "touchstone-build-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    options_.cache_folder = folder_ + "/cache";
    options_.memory_bytes = uint64_t{512} << 20;
    options_.artifact_bytes = uint64_t{4} << 20;
    options_.timeout = std::chrono::seconds(40);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<BuildPool> NewPool() const {
    auto spawner = Spawner::Launch();
    if (!spawner.ok()) {
      ADD_FAILURE() << spawner.error().ToString();
      return nullptr;
    }
    auto pool = BuildPool::Create(std::move(*spawner), options_);
    if (!pool.ok()) ADD_FAILURE() << pool.error().ToString();
    return pool.ok() ? std::move(*pool) : nullptr;
  }

  static BuildRequest Request(const std::string& source) {
    BuildRequest request;
    request.source = source;
    request.header = kTestHeader;
    return request;
  }

  // Builds with a pool of its own.
  BuildOutcome Build(const std::string& source) const {
    const auto pool = NewPool();
    if (pool == nullptr) return BuildOutcome();
    auto outcome = pool->Build(Request(source));
    if (!outcome.ok()) ADD_FAILURE() << outcome.error().ToString();
    return outcome.ok() ? std::move(*outcome) : BuildOutcome();
  }

  // The control of an attack: the same source, given to the same compiler without a box. `prefix` is shell text in
  // front of the compiler, such as limits.
  CommandResult CompileOutside(const std::string& source, const std::string& prefix = "") const {
    const std::string name = folder_ + "/outside";
    std::ofstream(name + ".cc") << kTestHeader << source;
    auto result = RunCommand({"/bin/sh", "-c",
                              "export PATH=/usr/bin:/bin LC_ALL=C TMPDIR=" + folder_ + "; " + prefix +
                                  " g++ -std=c++20 -O1 -shared -fPIC " + name + ".cc -o " + name + ".so"});
    return result.ok() ? *result : CommandResult();
  }

  std::string folder_;
  BuildOptions options_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_SANDBOX_BUILD_POOL_FIXTURE_H_
