// Appends to a store until it is killed: `store-appender FOLDER FIRST [early]`. Each write that was acknowledged is
// told on standard output, in lines "accepted N", "appended N", "opened N". Request N is accepted first, then appended;
// every tenth one belongs to a session of its own. With `early`, everything is told when it is submitted: for the
// test's control.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <semaphore>
#include <string>
#include <utility>

#include "tests/rollout/store_fixture.h"

namespace touchstone {
namespace {

constexpr int kInFlight = 64;

// In one piece, on the writer thread: the lines come in the order of the commits.
void Say(const std::string& what, int number) {
  const std::string line = what + " " + std::to_string(number) + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(3);
}

int AppendForEver(const std::string& folder, int first, bool early) {
  auto store = RolloutStore::Open(OptionsFor(folder));
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.error().ToString().c_str());
    return 2;
  }
  std::counting_semaphore<kInFlight> room(kInFlight);
  const auto saying = [&room, early](const char* what, int number) {
    room.acquire();
    if (early) Say(what, number);
    return [&room, early, what, number](const Result<uint64_t>& result) {
      if (!result.ok()) {
        std::fprintf(stderr, "%s %d: %s\n", what, number, result.error().ToString().c_str());
        ::_exit(2);
      }
      if (!early) Say(what, number);
      room.release();
    };
  };
  for (int number = first;; ++number) {
    RolloutRecord record = MakeRollout(number);
    // Each third has a text of several pages.
    if (number % 3 == 0) {
      record.response = record.source;
      for (int i = 0; i < 3000; ++i) record.response += std::to_string(i * number);
    }
    if (number % 10 == 0) {
      SessionRecord session;
      session.id = "s" + std::to_string(number);
      session.request = {"client", "reset" + std::to_string(number)};
      session.spec = "{}";
      (*store)->OpenSession(session, saying("opened", number));
      record.session = session.id;
    }
    (*store)->Accept({record.request, UnixMicros(number), "payload"}, saying("accepted", number));
    (*store)->Append(std::move(record), saying("appended", number));
  }
}

}  // namespace
}  // namespace touchstone

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return touchstone::AppendForEver(argv[1], std::stoi(argv[2]), argc > 3);
}
