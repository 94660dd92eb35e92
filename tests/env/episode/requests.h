#ifndef TOUCHSTONE_TESTS_ENV_EPISODE_REQUESTS_H_
#define TOUCHSTONE_TESTS_ENV_EPISODE_REQUESTS_H_

#include <string>
#include <utility>

#include "env/messages.h"

namespace touchstone {

inline ResetRequest ResetOf(RequestKey key, std::string task) {
  ResetRequest request;
  request.key = std::move(key);
  request.tasks = {std::move(task)};
  return request;
}

inline StepRequest StepOf(RequestKey key, std::string session, std::string source) {
  StepRequest request;
  request.key = std::move(key);
  request.session = std::move(session);
  request.action.source = std::move(source);
  return request;
}

inline ScoreRequest ScoreOf(RequestKey key, std::string task, std::string source) {
  ScoreRequest request;
  request.key = std::move(key);
  request.task = std::move(task);
  request.action.source = std::move(source);
  return request;
}

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_ENV_EPISODE_REQUESTS_H_
