#ifndef TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_
#define TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/sandbox.h"

namespace touchstone {

// One spawner for all tests of a program; the folders that any program needs.
class BoxTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (spawner_ != nullptr) return;
    auto spawner = Spawner::Launch();
    ASSERT_TRUE(spawner.ok()) << spawner.error().ToString();
    spawner_ = new Spawner(std::move(spawner).value());
  }
  static void TearDownTestSuite() {
    delete spawner_;
    spawner_ = nullptr;
  }

  static Policy SystemPolicy() {
    Policy policy;
    for (const char* folder : {"/usr", "/lib", "/lib64", "/bin"}) policy.binds.push_back({folder, "", true});
    return policy;
  }
  static Program Shell(const std::string& script) {
    Program program;
    program.argv = {"/bin/sh", "-c", script};
    program.environment = {"PATH=/usr/bin:/bin"};
    program.capture_output = true;
    return program;
  }
  static Policy ShellPolicy() {
    Policy policy = SystemPolicy();
    policy.allow_exec = true;
    return policy;
  }
  // Everything up to the end of file, at most `limit` bytes.
  static std::string Drain(int fd, size_t limit = 1 << 20) {
    std::string text;
    char part[4096];
    while (text.size() < limit) {
      const ssize_t got = ::read(fd, part, sizeof(part));
      if (got <= 0) break;
      text.append(part, static_cast<size_t>(got));
    }
    return text;
  }

  static inline Spawner* spawner_ = nullptr;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_SANDBOX_BOX_BOX_FIXTURE_H_
