// What RuntimeBinds() names is enough for a program in a box, and no more than that is there.
#include <gtest/gtest.h>

#include "sandbox/box/spawner.h"
#include "sandbox/runner/libraries/command.h"
#include "sandbox/runner/libraries/runtime_binds.h"

namespace touchstone {
namespace {

int ExitCodeInBox(const std::vector<std::string>& argv) {
  auto spawner = Spawner::Launch();
  auto binds = RuntimeBinds(argv[0]);
  if (!spawner.ok() || !binds.ok()) return -1;
  Policy policy;
  policy.binds = *binds;
  Limits limits;
  limits.memory_bytes = uint64_t{2} << 30;
  Program program;
  program.argv = argv;
  auto box = spawner->Start(policy, limits, program);
  if (!box.ok()) {
    ADD_FAILURE() << box.error().ToString();
    return -1;
  }
  const auto outcome = box->Wait(std::chrono::seconds(30));
  return outcome.ok() && outcome->kind == Outcome::Kind::kExited ? outcome->code : -1;
}

TEST(BoxLibrariesTest, AProgramStartsWithThem) {
  EXPECT_EQ(ExitCodeInBox({TOUCHSTONE_DLOPEN_PROGRAM, "libm.so.6"}), 0);
  EXPECT_EQ(ExitCodeInBox({TOUCHSTONE_TORCH_PROGRAM}), 0);
}

TEST(BoxLibrariesTest, WhatACandidateMayLinkIsThere) {
  for (const char* name : {"libc.so.6", "libmvec.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"}) {
    EXPECT_EQ(ExitCodeInBox({TOUCHSTONE_DLOPEN_PROGRAM, name}), 0) << name;
  }
}

TEST(BoxLibrariesTest, AnotherLibraryOfTheHostIsNotThere) {
  const std::string torch = TOUCHSTONE_TORCH_LIBRARY;
  for (const std::string& library : {std::string("libsodium.so.23"), torch}) {
    const auto outside = RunCommand({TOUCHSTONE_DLOPEN_PROGRAM, library});
    ASSERT_TRUE(outside.ok());
    EXPECT_TRUE(outside->succeeded) << library << ": the control does not load it";
    EXPECT_EQ(ExitCodeInBox({TOUCHSTONE_DLOPEN_PROGRAM, library}), 1) << library;
  }
}

}  // namespace
}  // namespace touchstone
