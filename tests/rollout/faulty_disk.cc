#include "tests/rollout/faulty_disk.h"

#include <sqlite3.h>

#include <cstring>

#include "base/result.h"

namespace touchstone {
namespace {

std::atomic<int> fail_code{0};
std::atomic<int> writes_left{0};
std::atomic<int> refused_count{0};

int Refuse() {
  const int code = fail_code;
  if (code == 0 || writes_left.fetch_sub(1) > 0) return SQLITE_OK;
  ++refused_count;
  return code;
}

// SQLite allocates this much for each file: our part, then that of the real one.
struct File {
  sqlite3_file base;
  sqlite3_file* Real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File* Ours(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Ours(file)->Real(); }

int Close(sqlite3_file* f) { return Real(f)->pMethods->xClose(Real(f)); }
int Read(sqlite3_file* f, void* to, int n, sqlite3_int64 at) { return Real(f)->pMethods->xRead(Real(f), to, n, at); }
int Write(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  const int refused = Refuse();
  return refused != SQLITE_OK ? refused : Real(f)->pMethods->xWrite(Real(f), from, n, at);
}
int Truncate(sqlite3_file* f, sqlite3_int64 size) {
  const int refused = Refuse();
  return refused != SQLITE_OK ? refused : Real(f)->pMethods->xTruncate(Real(f), size);
}
int Sync(sqlite3_file* f, int flags) {
  const int refused = Refuse();
  return refused != SQLITE_OK ? refused : Real(f)->pMethods->xSync(Real(f), flags);
}
int FileSize(sqlite3_file* f, sqlite3_int64* size) { return Real(f)->pMethods->xFileSize(Real(f), size); }
int Lock(sqlite3_file* f, int level) { return Real(f)->pMethods->xLock(Real(f), level); }
int Unlock(sqlite3_file* f, int level) { return Real(f)->pMethods->xUnlock(Real(f), level); }
int CheckReservedLock(sqlite3_file* f, int* out) { return Real(f)->pMethods->xCheckReservedLock(Real(f), out); }
int FileControl(sqlite3_file* f, int op, void* arg) { return Real(f)->pMethods->xFileControl(Real(f), op, arg); }
int SectorSize(sqlite3_file* f) { return Real(f)->pMethods->xSectorSize(Real(f)); }
int Characteristics(sqlite3_file* f) { return Real(f)->pMethods->xDeviceCharacteristics(Real(f)); }
int ShmMap(sqlite3_file* f, int page, int size, int extend, void volatile** to) {
  return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, to);
}
int ShmLock(sqlite3_file* f, int offset, int n, int flags) {
  return Real(f)->pMethods->xShmLock(Real(f), offset, n, flags);
}
void ShmBarrier(sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); }
int ShmUnmap(sqlite3_file* f, int remove) { return Real(f)->pMethods->xShmUnmap(Real(f), remove); }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = Characteristics,
    .xShmMap = ShmMap,
    .xShmLock = ShmLock,
    .xShmBarrier = ShmBarrier,
    .xShmUnmap = ShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* real_vfs = nullptr;

int Open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  const int code = real_vfs->xOpen(real_vfs, name, Real(file), flags, out_flags);
  if (Real(file)->pMethods != nullptr) file->pMethods = &kMethods;
  return code;
}

}  // namespace

void FaultyDisk::Install() {
  if (real_vfs != nullptr) return;
  real_vfs = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs vfs;
  vfs = *real_vfs;
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  vfs.zName = "faulty-disk";
  vfs.xOpen = Open;
  TOUCHSTONE_CHECK(sqlite3_vfs_register(&vfs, /*makeDflt=*/1) == SQLITE_OK, "sqlite3_vfs_register");
}

void FaultyDisk::FailWrites(int code, int after) {
  refused_count = 0;
  writes_left = after;
  fail_code = code;
}

void FaultyDisk::Heal() { fail_code = 0; }
int FaultyDisk::refused() { return refused_count; }

}  // namespace touchstone
