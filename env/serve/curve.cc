#include "env/serve/curve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zmq.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace touchstone {
namespace {

constexpr size_t kKeyCharacters = 40;
constexpr size_t kKeyBytes = 32;
constexpr size_t kMaxNameBytes = 32;

bool IsKey(const std::string& text) {
  uint8_t bytes[kKeyBytes];
  return text.size() == kKeyCharacters && ::zmq_z85_decode(bytes, text.c_str()) != nullptr;
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

Error At(const std::string& path, int line, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument, path + ":" + std::to_string(line) + ": " + what);
}

}  // namespace

KeyPair NewKeyPair() {
  char public_key[kKeyCharacters + 1];
  char secret_key[kKeyCharacters + 1];
  TOUCHSTONE_CHECK(::zmq_curve_keypair(public_key, secret_key) == 0, "libzmq was built without CURVE");
  return {public_key, secret_key};
}

Status WriteKeyPair(const std::string& path, const KeyPair& pair) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return ErrnoError(ErrorCode::kInvalidArgument, path);
  const std::string text = "public " + pair.public_key + "\nsecret " + pair.secret_key + "\n";
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::fsync(file.get()) != 0) {
    const Error error = ErrnoError(ErrorCode::kInvalidArgument, path);
    ::unlink(path.c_str());
    return error;
  }
  return {};
}

Result<KeyPair> ReadKeyPair(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error(ErrorCode::kNotFound, "no key file " + path);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error(ErrorCode::kInvalidArgument, path + ": others than its owner may use it; chmod 600 it");
  }
  KeyPair pair;
  std::string name;
  if (!(file >> name >> pair.public_key) || name != "public" || !IsKey(pair.public_key)) {
    return At(path, 1, "is not 'public' and a key");
  }
  if (!(file >> name >> pair.secret_key) || name != "secret" || !IsKey(pair.secret_key)) {
    return At(path, 2, "is not 'secret' and a key");
  }
  char derived[kKeyCharacters + 1];
  if (::zmq_curve_public(derived, pair.secret_key.c_str()) != 0 || derived != pair.public_key) {
    return At(path, 2, "does not belong to the public key");
  }
  return pair;
}

Result<std::map<std::string, std::string>> ReadAllowedClients(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error(ErrorCode::kNotFound, "no list of clients " + path);
  std::map<std::string, std::string> allowed;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string key;
    std::string name;
    std::string more;
    if (!(words >> key) || key[0] == '#') continue;
    words >> name;
    if (!IsKey(key)) return At(path, number, "'" + key + "' is not a public key (40 characters of Z85)");
    if (!IsName(name)) return At(path, number, "name: must be 1 to 32 letters, digits, '_', '-' or '.'");
    if (words >> more) return At(path, number, "'" + more + "': there is more than a key and a name");
    if (!allowed.emplace(key, name).second) return At(path, number, "the key is there twice");
  }
  return allowed;
}

Gatekeeper::Gatekeeper(zmq::context_t& context, std::map<std::string, std::string> allowed)
    : allowed_(std::move(allowed)), socket_(context, zmq::socket_type::rep) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
  thread_ = std::thread([this] { Run(); });
}

void Gatekeeper::Run() {
  while (true) {
    try {
      // Version, request id, domain, address, identity, mechanism, credentials.
      std::vector<std::string> frames;
      zmq::message_t frame;
      do {
        (void)socket_.recv(frame);
        frames.push_back(frame.to_string());
      } while (frame.more());
      std::string user;
      if (frames.size() == 7 && frames[5] == "CURVE" && frames[6].size() == kKeyBytes) {
        char key[kKeyCharacters + 1];
        ::zmq_z85_encode(key, reinterpret_cast<const uint8_t*>(frames[6].data()), kKeyBytes);
        if (const auto found = allowed_.find(key); found != allowed_.end()) user = found->second;
      }
      const std::string request_id = frames.size() > 1 ? frames[1] : "";
      const std::string replies[] = {
          "1.0", request_id, user.empty() ? "400" : "200", user.empty() ? "not allowed" : "OK", user, ""};
      for (size_t i = 0; i < std::size(replies); ++i) {
        const bool more = i + 1 < std::size(replies);
        socket_.send(zmq::buffer(replies[i]), more ? zmq::send_flags::sndmore : zmq::send_flags::none);
      }
    } catch (const zmq::error_t& error) {
      if (error.num() == EINTR) continue;
      return;
    }
  }
}

}  // namespace touchstone
