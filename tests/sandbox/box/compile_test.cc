// Sources that attack the compiler or, through it, the host. The builder's own command line is not the subject here: a
// compile box must hold even when code of the candidate runs inside the compiler.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/memfd.h"
#include "tests/sandbox/box/box_fixture.h"

namespace touchstone {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// g++ turns descriptor 3 into the object `out.o`.
Program Compile(std::vector<std::string> flags = {}) {
  Program program;
  program.argv = {"/usr/bin/g++", "-c", "-o", "out.o"};
  program.argv.insert(program.argv.end(), flags.begin(), flags.end());
  program.argv.insert(program.argv.end(), {"-x", "c++", "/proc/self/fd/3"});
  program.environment = {"PATH=/usr/bin", "LC_ALL=C", "TMPDIR=/tmp"};
  program.capture_output = true;
  return program;
}

class CompileTest : public BoxTest {
 protected:
  Result<Box> Start(const std::string& source, const Limits& limits, std::vector<std::string> flags = {},
                    std::vector<Bind> binds = {}, bool reduced = false) {
    const auto memory = CreateSealedMemfd("source", world_->Fill(source));
    Policy policy = ShellPolicy();
    if (reduced) {
      policy.minimum_level = Level::kReduced;
      policy.disable_for_tests = kNamespaces | kGroups;
    }
    policy.binds.insert(policy.binds.end(), binds.begin(), binds.end());
    const int fd = memory->get();
    return spawner_->Start(policy, limits, Compile(std::move(flags)), std::span<const int>(&fd, 1));
  }
  // The same without a box, in {folder}/open: what the compiler said; the object stays there.
  std::string CompileOutside(const std::string& source, std::vector<std::string> flags = {}) {
    const auto memory = CreateSealedMemfd("source", world_->Fill(source));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "";
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Program program = Compile(std::move(flags));
      std::vector<char*> argv;
      for (const std::string& argument : program.argv) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      ::dup2(ends[1], 1);
      ::dup2(ends[1], 2);
      ::dup2(memory->get(), 3);
      if (::chdir((world_->folder() + "/open").c_str()) == 0) ::execv(argv[0], argv.data());
      ::_exit(1);
    }
    ::close(ends[1]);
    const std::string output = Drain(ends[0]);
    ::close(ends[0]);
    ::waitpid(pid, nullptr, 0);
    return output;
  }
  static std::string Text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(CompileTest, TheHonestTwinCompilesAtBothLevels) {
  for (const bool reduced : {false, true}) {
    auto box =
        Start("#include <vector>\nint f() { return std::vector<int>{42}.front(); }\n", Limits(), {}, {}, reduced);
    ASSERT_TRUE(box.ok()) << box.error().ToString();
    EXPECT_EQ(Drain(box->stderr_fd()), "");
    EXPECT_EQ(box->Wait(seconds(20))->code, 0);
    EXPECT_TRUE(box->TakeArtifact("out.o", 1 << 20).ok());
  }
}

TEST_F(CompileTest, Row36_SecretsCannotBeIncluded) {
  const char* const sources[] = {"#include \"{folder}/secret\"\n", "asm(\".incbin \\\"{folder}/secret\\\"\");\n",
                                 "#if __has_include(\"{folder}/secret\")\n#error it is there\n#endif\nint f;\n"};
  for (const char* source : sources) {
    auto box = Start(source, Limits());
    ASSERT_TRUE(box.ok()) << box.error().ToString();
    const std::string said = Drain(box->stderr_fd());
    ASSERT_TRUE(box->Wait(seconds(20)).ok());
    EXPECT_EQ(said.find("it is there"), std::string::npos);
    EXPECT_EQ(said.find("does not name a type"), std::string::npos) << said;
    const auto object = box->TakeArtifact("out.o", 1 << 20);
    if (!object.ok()) continue;
    EXPECT_EQ(ReadAll(object->get(), 1 << 20)->find("secret\n"), std::string::npos);
  }
  // The controls.
  EXPECT_NE(CompileOutside(sources[0]).find("does not name a type"), std::string::npos);
  CompileOutside(sources[1]);
  EXPECT_NE(Text(world_->folder() + "/open/out.o").find("secret\n"), std::string::npos);
  EXPECT_NE(CompileOutside(sources[2]).find("it is there"), std::string::npos);
}

TEST_F(CompileTest, Row37_ABottomlessFileEndsAtTheMemoryLimit) {
  Limits limits;
  limits.memory_bytes = uint64_t{128} << 20;
  auto box = Start("#include \"/dev/zero\"\n", limits);
  ASSERT_TRUE(box.ok());
  const auto outcome = box->Wait(seconds(20));
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->out_of_memory);
}

TEST_F(CompileTest, Row37_AGiantObjectEndsAtTheFileLimit) {
  Limits limits;
  limits.file_bytes = uint64_t{4} << 20;
  auto box = Start("asm(\".fill 1000000000, 8, 1\");\n", limits);
  ASSERT_TRUE(box.ok());
  const auto outcome = box->Wait(seconds(20));
  ASSERT_TRUE(outcome.ok());
  EXPECT_NE(outcome->code, 0);
  const auto object = box->TakeArtifact("out.o", uint64_t{1} << 30);
  EXPECT_TRUE(!object.ok() || ReadAll(object->get(), uint64_t{1} << 30)->size() <= limits.file_bytes);
}

TEST_F(CompileTest, Row37_EndlessTemplatesEndWithTheBox) {
  auto box = Start(
      "template <int N, int M> struct F { static constexpr int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
      "template <int M> struct F<0, M> { static constexpr int v = M; };\nint f = F<26, 0>::v;\n",
      Limits());
  ASSERT_TRUE(box.ok());
  EXPECT_EQ(box->Wait(milliseconds(200)).error().code(), ErrorCode::kDeadline);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(box->Destroy().ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST_F(CompileTest, Row37_AFloodOfErrorsEndsWithItsReader) {
  auto box = Start("#include __FILE__\n#include __FILE__\n", Limits(), {"-fmax-errors=0", "-fmax-include-depth=12"});
  ASSERT_TRUE(box.ok());
  EXPECT_GE(Drain(box->stderr_fd(), 16 << 10).size(), size_t{16} << 10);
  EXPECT_TRUE(box->Destroy().ok());
}

TEST_F(CompileTest, Row38_ACompilerPluginSeesOnlyTheBox) {
  const std::string plugin = world_->folder() + "/plugin.so";
  CompileOutside(
      "#include <cstdio>\nextern \"C\" int plugin_is_GPL_compatible;\nint plugin_is_GPL_compatible;\n"
      "extern \"C\" int plugin_init(void*, void*) {\n"
      "  std::FILE* file = std::fopen(\"{folder}/secret\", \"r\");\n"
      "  std::fputs(file != nullptr ? \"plugin: secret\\n\" : \"plugin: nothing\\n\", stderr);\n  return 0;\n}\n",
      {"-fPIC"});
  ASSERT_EQ(std::system(("g++ -shared -o " + plugin + " " + world_->folder() + "/open/out.o").c_str()), 0);
  const std::string flag = "-fplugin=" + plugin;
  auto box = Start("int f;\n", Limits(), {flag}, {{plugin, "", false}});
  ASSERT_TRUE(box.ok()) << box.error().ToString();
  EXPECT_EQ(Drain(box->stderr_fd()), "plugin: nothing\n");
  EXPECT_EQ(box->Wait(seconds(20))->code, 0);
  EXPECT_EQ(CompileOutside("int f;\n", {flag}), "plugin: secret\n") << "the control";
}

}  // namespace
}  // namespace touchstone
