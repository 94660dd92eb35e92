#include "sandbox/box/mounts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

namespace touchstone {
namespace {

constexpr char kStage[] = "/tmp";  // exists everywhere; what is below stays reachable through the trees opened before

struct Tree {
  UniqueFd fd;
  std::string target;  // relative to the new root
  bool folder = false;
  bool device = false;
};

Error BindError(const Bind& bind, const char* step) {
  return ErrnoError(errno == ENOENT || errno == ENOTDIR ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable,
                    "bind " + bind.source + ": " + step);
}

// A detached copy of what lies at bind.source, with everything mounted below it.
Result<Tree> OpenTree(const Bind& bind) {
  Tree tree;
  tree.target = (bind.target.empty() ? bind.source : bind.target).substr(1);
  tree.fd = UniqueFd(::open_tree(AT_FDCWD, bind.source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
  if (!tree.fd.valid()) return BindError(bind, "open_tree");
  struct stat info {};
  if (::fstat(tree.fd.get(), &info) != 0) return BindError(bind, "fstat");
  tree.folder = S_ISDIR(info.st_mode);
  return tree;
}

int OpenInRoot(int root, const std::string& path, uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how)));
}

// Makes the folders on the way to `path` and, unless something is there already, a folder or an empty file at its end.
bool MakePlace(int root, const std::string& path, bool folder) {
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (part.empty() || ::mkdirat(root, part.c_str(), 0755) == 0 || errno == EEXIST) continue;
    if (errno != EROFS) return false;
  }
  if (folder) return ::mkdirat(root, path.c_str(), 0755) == 0 || errno == EEXIST || errno == EROFS;
  const UniqueFd file(::openat(root, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444));
  return file.valid() || errno == EEXIST || errno == EROFS;
}

Status Attach(int root, const Tree& tree) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (tree.device) {
    attributes.attr_set |= MOUNT_ATTR_NOEXEC;
  } else {
    attributes.attr_set |= MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
  }
  if (::mount_setattr(tree.fd.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) != 0) {
    return ErrnoError("making /" + tree.target + " read-only");
  }
  if (!MakePlace(root, tree.target, tree.folder)) return ErrnoError("making a place for /" + tree.target);
  const UniqueFd place(OpenInRoot(root, tree.target, O_PATH));
  if (!place.valid()) return ErrnoError(ErrorCode::kInvalidArgument, "no place for /" + tree.target);
  if (::move_mount(tree.fd.get(), "", place.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return ErrnoError("mounting /" + tree.target);
  }
  return {};
}

Status MountTmpfs(const char* target, const Limits& limits, uid_t uid) {
  const std::string owner = std::to_string(uid);
  const std::string options = "mode=0700,uid=" + owner + ",gid=" + owner + ",size=" + std::to_string(limits.tmp_bytes) +
                              ",nr_inodes=" + std::to_string(limits.tmp_inodes);
  if (::mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return ErrnoError(std::string("mounting ") + target);
  }
  return {};
}

struct Node {
  const char* path;
  unsigned minor;
};
constexpr Node kNodes[] = {{"dev/null", 3}, {"dev/zero", 5}, {"dev/full", 7}, {"dev/random", 8}, {"dev/urandom", 9}};

Status MakeLinks() {
  constexpr const char* kLinks[][2] = {{"/proc/self/fd", "dev/fd"},
                                       {"/proc/self/fd/0", "dev/stdin"},
                                       {"/proc/self/fd/1", "dev/stdout"},
                                       {"/proc/self/fd/2", "dev/stderr"}};
  for (const auto& link : kLinks) {
    if (::symlink(link[0], link[1]) != 0) return ErrnoError(std::string("symlink /") + link[1]);
  }
  return {};
}

}  // namespace

Result<UniqueFd> BuildRoot(const Policy& policy, const Limits& limits, const RootOptions& options) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return ErrnoError("making mounts private");
  std::vector<Tree> trees;
  for (const Bind& bind : policy.binds) {
    auto tree = OpenTree(bind);
    if (tree.ok()) {
      trees.push_back(std::move(tree).value());
    } else if (!bind.optional || tree.error().code() != ErrorCode::kInvalidArgument) {
      return tree.error();
    }
  }
  std::vector<Tree> nodes;
  for (const Node& node : kNodes) {
    if (options.make_nodes) break;
    TOUCHSTONE_ASSIGN(Tree tree, OpenTree(Bind{std::string("/") + node.path, "", false}));
    tree.device = true;
    nodes.push_back(std::move(tree));
  }

  if (::mount("tmpfs", kStage, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=1m,nr_inodes=4096") != 0) {
    return ErrnoError("mounting the root");
  }
  if (::chdir(kStage) != 0) return ErrnoError("chdir");
  const UniqueFd root(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return ErrnoError("opening the root");
  const mode_t mask = ::umask(0);
  for (const char* folder : {"dev", "dev/shm", "tmp", "proc"}) {
    if (::mkdir(folder, 0755) != 0) return ErrnoError(std::string("mkdir /") + folder);
  }
  for (const Node& node : kNodes) {
    if (options.make_nodes && ::mknod(node.path, S_IFCHR | 0666, makedev(1, node.minor)) != 0) {
      return ErrnoError(std::string("mknod /") + node.path);
    }
  }
  ::umask(mask);
  for (const Tree& node : nodes) TOUCHSTONE_RETURN_IF_ERROR(Attach(root.get(), node));
  TOUCHSTONE_RETURN_IF_ERROR(MakeLinks());
  TOUCHSTONE_RETURN_IF_ERROR(MountTmpfs("tmp", limits, options.uid));
  TOUCHSTONE_RETURN_IF_ERROR(MountTmpfs("dev/shm", limits, options.uid));
  if (policy.mount_proc &&
      ::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2,subset=pid") != 0) {
    return ErrnoError("mounting /proc");
  }
  for (const Tree& tree : trees) TOUCHSTONE_RETURN_IF_ERROR(Attach(root.get(), tree));
  UniqueFd tmp(::open("tmp", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!tmp.valid()) return ErrnoError("opening /tmp");

  // The new root goes below the old one's place and the old one is dropped: nothing of the host can be named any more.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return ErrnoError("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) return ErrnoError("dropping the old root");
  if (::chdir("/") != 0) return ErrnoError("chdir");
  if (::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, nullptr) != 0) {
    return ErrnoError("making the root read-only");
  }
  return tmp;
}

}  // namespace touchstone
