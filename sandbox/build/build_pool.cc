#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/hash.h"
#include "base/memfd.h"
#include "base/mutex.h"
#include "sandbox/build/artifact_cache.h"
#include "sandbox/build/build.h"
#include "sandbox/build/compiler.h"
#include "sandbox/build/diagnostics.h"
#include "sandbox/build/single_flight.h"

namespace touchstone {
namespace {

using Clock = std::chrono::steady_clock;

// What a build came to, for the caller that did it and for those that waited with it.
struct Built {
  CacheEntry entry;
  bool from_cache = false;
};

// Only flags that change how code is generated; everything that names files, plugins or other programs is refused.
bool IsHarmlessFlag(const std::string& flag) {
  constexpr std::string_view kPrefixes[] = {"-f", "-m", "-O", "-std=", "-D"};
  const bool known = std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                 [&](std::string_view prefix) { return flag.starts_with(prefix); });
  return known && !flag.starts_with("-fplugin") && flag.find('/') == std::string::npos;
}

// Two lists of strings never give the same bytes.
void AppendField(std::string_view field, std::string& out) {
  out += std::to_string(field.size());
  out += ':';
  out += field;
}

class BuildPoolImpl final : public BuildPool {
 public:
  BuildPoolImpl(Spawner spawner, BuildOptions options, Compiler compiler, std::unique_ptr<ArtifactCache> cache)
      : options_(std::move(options)),
        compiler_(std::move(compiler)),
        cache_(std::move(cache)),
        spawner_(std::move(spawner)) {}

  Result<BuildOutcome> Build(const BuildRequest& request) override {
    const auto start = Clock::now();
    if (request.interface_name != "cpp") {
      return Error(ErrorCode::kInvalidArgument, "interface '" + request.interface_name + "' cannot be built here");
    }
    for (const std::string& flag : request.extra_flags) {
      if (!IsHarmlessFlag(flag)) return Error(ErrorCode::kInvalidArgument, "compiler flag '" + flag + "'");
    }
    BuildOutcome outcome;
    outcome.key = Key(request);
    if (request.source.size() > options_.source_bytes) {
      outcome.kind = BuildOutcome::Kind::kTooLarge;
      outcome.log = "source of " + std::to_string(request.source.size()) + " bytes, the limit is " +
                    std::to_string(options_.source_bytes) + "\n";
      return outcome;
    }
    const auto landing = flights_.Run(outcome.key, [&] { return FindOrCompile(outcome.key, request); });
    const Result<Built>& built = *landing.value;
    if (!built.ok()) return built.error();
    const CacheEntry& entry = built->entry;
    outcome.kind = entry.kind;
    outcome.artifact_hash = entry.artifact_hash;
    outcome.diagnostics = entry.diagnostics;
    outcome.log = entry.log;
    outcome.from_cache = built->from_cache;
    if (entry.kind == BuildOutcome::Kind::kBuilt) {
      TOUCHSTONE_ASSIGN(outcome.artifact, CreateSealedMemfd("artifact", entry.artifact));
    }
    outcome.wall = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    return outcome;
  }

  const std::string& toolchain() const override { return compiler_.toolchain(); }

 private:
  std::string Key(const BuildRequest& request) const {
    std::string fields;
    for (const std::string_view field :
         {std::string_view("touchstone build 1"), std::string_view(request.interface_name),
          std::string_view(request.source), std::string_view(request.header), std::string_view(compiler_.identity())}) {
      AppendField(field, fields);
    }
    for (const std::string& flag : request.extra_flags) AppendField(flag, fields);
    return HashHex(fields);
  }

  Result<Built> FindOrCompile(const std::string& key, const BuildRequest& request) {
    TOUCHSTONE_ASSIGN(auto found, cache_->Find(key));
    if (found.has_value()) return Built{std::move(*found), true};

    TOUCHSTONE_ASSIGN(CompilerRun run, Compile(request));
    Built built;
    CacheEntry& entry = built.entry;
    entry.diagnostics = ParseDiagnostics(run.output);
    entry.log = TrimLog(run.output);
    entry.kind = Classify(run, entry.diagnostics);
    if (entry.kind == BuildOutcome::Kind::kBuilt) {
      entry.artifact = std::move(run.artifact);
      entry.artifact_hash = HashHex(entry.artifact);
    }
    if (entry.kind == BuildOutcome::Kind::kBuilt || entry.kind == BuildOutcome::Kind::kCompileError) {
      // A full disk costs time later, not this build.
      if (const Status stored = cache_->Store(key, entry); !stored.ok()) {
        spdlog::warn("build cache: {}", stored.error().ToString());
      }
    }
    return built;
  }

  // A box or a tool in it may die of something that has nothing to do with the source (an operator, the host's memory):
  // what then dies a second time does so by itself.
  Result<CompilerRun> Compile(const BuildRequest& request) {
    auto run = CompileOnce(request);
    const bool died = run.ok() ? Classify(*run, ParseDiagnostics(run->output)) == BuildOutcome::Kind::kCrashed
                               : run.error().code() == ErrorCode::kUnavailable;
    return died ? CompileOnce(request) : std::move(run);
  }

  Result<CompilerRun> CompileOnce(const BuildRequest& request) {
    TOUCHSTONE_ASSIGN(Spawner spawner, TakeConnection());
    TOUCHSTONE_ASSIGN(CompilerRun run, compiler_.Run(spawner, request));
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(spawner));
    return run;
  }

  Result<Spawner> TakeConnection() {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      Spawner spawner = std::move(idle_.back());
      idle_.pop_back();
      return spawner;
    }
    TOUCHSTONE_ASSIGN(UniqueFd channel, spawner_.NewConnection());
    return Spawner::Adopt(std::move(channel));
  }

  const BuildOptions options_;
  const Compiler compiler_;
  const std::unique_ptr<ArtifactCache> cache_;
  SingleFlight<Result<Built>> flights_;
  Mutex mutex_;
  Spawner spawner_ TOUCHSTONE_GUARDED_BY(mutex_);
  std::vector<Spawner> idle_ TOUCHSTONE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<BuildPool>> BuildPool::Create(Spawner spawner, BuildOptions options) {
  TOUCHSTONE_ASSIGN(auto cache, ArtifactCache::Open(options.cache_folder, options.cache_bytes));
  TOUCHSTONE_ASSIGN(Compiler compiler, Compiler::Find(spawner, options));
  return std::unique_ptr<BuildPool>(
      new BuildPoolImpl(std::move(spawner), std::move(options), std::move(compiler), std::move(cache)));
}

}  // namespace touchstone
