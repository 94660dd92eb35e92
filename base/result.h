// How the project reports its own failures.
//
// Three kinds of outcome never mix. An Error is *our* failure (a file that is missing, a kernel interface that is
// refused, a bad request): no reward may follow from it. The fate of a candidate is data and has types of its own
// (sandbox::Outcome, reward's Status). A broken invariant ends the process (TOUCHSTONE_CHECK).
#ifndef TOUCHSTONE_BASE_RESULT_H_
#define TOUCHSTONE_BASE_RESULT_H_

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace touchstone {

enum class ErrorCode {
  kInvalidArgument,  // What the caller or a file said cannot be: the message names the field and the limit.
  kNotFound,
  kUnavailable,  // It could work later, or elsewhere: a peer is gone, a host lacks a layer.
  kDeadline,
  kExhausted,  // A limit of ours was reached: uids, queue, disk.
  kCorrupt,    // Stored bytes are not what was written.
  kInternal,
  kClosed,    // It has ended: an episode, a session. The message says why.
  kConflict,  // It clashes with what is going on: a step is in flight, another turn is next.
};

std::string_view ToString(ErrorCode code);

class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // "not_found: no task 'ad'".
  std::string ToString() const;
  // The same error with what was being done in front: "reading tasks/add.yaml: …".
  Error Within(std::string_view what) const;

 private:
  ErrorCode code_;
  std::string message_;
};

// An error of the given code whose message ends in strerror(errno).
Error ErrnoError(ErrorCode code, std::string_view what);
inline Error ErrnoError(std::string_view what) { return ErrnoError(ErrorCode::kInternal, what); }

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression, std::string_view why);

// Ends the process when an invariant of ours does not hold. Nothing that comes from a wire, a file or a child may
// decide such a condition.
#define TOUCHSTONE_CHECK(condition, why) \
  ((condition) ? (void)0 : ::touchstone::CheckFailed(__FILE__, __LINE__, #condition, why))

// A T, or the Error that stood in its way. value() on an error ends the process: test ok() first.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  T& value() & { return Checked(), std::get<0>(state_); }
  const T& value() const& { return Checked(), std::get<0>(state_); }
  // By value: a reference into a temporary would dangle in `for (auto x : F().value())`.
  T value() && { return Checked(), std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void Checked() const { TOUCHSTONE_CHECK(ok(), error().ToString()); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return error_.index() == 0; }
  const Error& error() const { return std::get<1>(error_); }

 private:
  std::variant<std::monostate, Error> error_;
};

using Status = Result<void>;

// Returns from the enclosing function with the error of `expression`, if it has one.
#define TOUCHSTONE_RETURN_IF_ERROR(expression)                                                            \
  do {                                                                                                    \
    if (auto touchstone_status = (expression); !touchstone_status.ok()) return touchstone_status.error(); \
  } while (false)

#define TOUCHSTONE_CONCAT_INNER(a, b) a##b
#define TOUCHSTONE_CONCAT(a, b) TOUCHSTONE_CONCAT_INNER(a, b)

// `TOUCHSTONE_ASSIGN(auto x, F());` declares x with the value of F(), or returns F()'s error.
#define TOUCHSTONE_ASSIGN(declaration, expression) \
  TOUCHSTONE_ASSIGN_INNER(TOUCHSTONE_CONCAT(touchstone_result_, __LINE__), declaration, expression)
#define TOUCHSTONE_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                                    \
  if (!name.ok()) return name.error();                         \
  declaration = std::move(name).value()

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_RESULT_H_
