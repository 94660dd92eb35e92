// Who may connect: CURVE keys and the list of clients.
#ifndef TOUCHSTONE_ENV_SERVE_CURVE_H_
#define TOUCHSTONE_ENV_SERVE_CURVE_H_

#include <zmq.hpp>

#include <map>
#include <string>
#include <thread>

#include "base/result.h"

namespace touchstone {

struct KeyPair {
  std::string public_key;  // Z85, 40 characters
  std::string secret_key;
};

KeyPair NewKeyPair();

// A file of two lines, "public KEY" and "secret KEY", for its owner only (0600). kInvalidArgument: the file is there
// already, or cannot be written.
Status WriteKeyPair(const std::string& path, const KeyPair& pair);
// kNotFound; kInvalidArgument (names file and line): it is no key file, or others may read it.
Result<KeyPair> ReadKeyPair(const std::string& path);

// Public key → the client's name. A line each: "KEY NAME"; names are 1 to 32 letters, digits, '_', '-', '.'; an empty
// line or one that begins with '#' says nothing. Errors name file and line.
Result<std::map<std::string, std::string>> ReadAllowedClients(const std::string& path);

// Answers ZeroMQ's question whether a key may connect (ZAP, RFC 27), and ties the client's name to its connection. Ends
// when the context is shut down.
class Gatekeeper {
 public:
  // One for each context, made before its sockets are bound.
  Gatekeeper(zmq::context_t& context, std::map<std::string, std::string> allowed);
  ~Gatekeeper() { thread_.join(); }

 private:
  void Run();

  const std::map<std::string, std::string> allowed_;
  zmq::socket_t socket_;
  std::thread thread_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_SERVE_CURVE_H_
