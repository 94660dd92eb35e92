#ifndef TOUCHSTONE_TESTS_ROLLOUT_FAULTY_DISK_H_
#define TOUCHSTONE_TESTS_ROLLOUT_FAULTY_DISK_H_

#include <atomic>

namespace touchstone {

// Stands between SQLite and the disk for the whole process, and refuses when told to.
class FaultyDisk {
 public:
  // Takes the place of SQLite's default; before any database is opened.
  static void Install();

  // After `after` more writes, syncs and truncations that come well, each of them fails with `code`, an extended
  // result code of SQLite. Reading goes on.
  static void FailWrites(int code, int after = 0);
  static void Heal();
  // Those refused since the last FailWrites().
  static int refused();
};

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ROLLOUT_FAULTY_DISK_H_
