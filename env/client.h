// The other end of `touchstone serve` in C++: the calls of docs/wire.md as functions.
#ifndef TOUCHSTONE_ENV_CLIENT_H_
#define TOUCHSTONE_ENV_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "env/messages.h"
#include "env/serve/calls.h"

namespace touchstone {

struct ClientOptions {
  std::string endpoint = "tcp://127.0.0.1:5555";
  std::string name;                              // by which the server knows this client again; empty: a fresh one
  std::string server_key;                        // public key of a server with CURVE; empty: none
  std::string key_file;                          // own pair, of `touchstone keys new`
  std::chrono::milliseconds timeout{3'600'000};  // of one call, connecting again and waiting for a busy server included
  bool wait_when_busy = true;                    // false: `busy` is the answer
};

// A client. One thread at a time. Calls block until the answer is there; a connection that is lost is made again and
// the call asked again under its id, so that nothing is done twice. An Error is the request's fault or the
// environment's (wire::IsRequestsFault); what a candidate did never is one. kDeadline: no answer in `timeout`.
class Client {
 public:
  // What a submitted call came to.
  struct Finished {
    std::string id;
    std::variant<StepReply, ScoreReply, Error> outcome;
  };

  // kInvalidArgument names the option. Whether a server is there shows with the first call.
  static Result<std::unique_ptr<Client>> Connect(ClientOptions options);
  virtual ~Client() = default;

  // The request's key is filled in: the client's name, and a fresh request id where it has none. Who sets the id can
  // ask again after a crash of its own.
  virtual Result<ResetReply> Reset(ResetRequest request) = 0;
  virtual Result<StepReply> Step(StepRequest request) = 0;
  virtual Result<ScoreReply> Score(ScoreRequest request) = 0;
  virtual Result<ValidateReply> Validate(ValidateRequest request) = 0;
  virtual Result<bool> Close(const std::string& session) = 0;

  // Many in flight: returns the id as soon as the request is accepted.
  virtual Result<std::string> Submit(StepRequest request) = 0;
  virtual Result<std::string> Submit(ScoreRequest request) = 0;
  // What is finished, of `ids` or of all, first finished first; waits up to `wait` for the first one. What one call
  // returned is acknowledged by the next one: a client that dies in between gets it again.
  virtual Result<std::vector<Finished>> Collect(const std::vector<std::string>& ids, int max,
                                                std::chrono::milliseconds wait) = 0;
  virtual Result<bool> Cancel(const std::string& id) = 0;

  virtual Result<wire::DescribeReply> Describe() = 0;
  virtual Result<wire::SampleReply> Sample(SelectionRequest request) = 0;
  virtual Result<wire::HealthReply> Health() = 0;
  virtual Result<std::string> Metrics() = 0;

  virtual const std::string& name() const = 0;
  // The last error that a server sent, with field and limit.
  virtual const wire::CallError& last_error() const = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_CLIENT_H_
