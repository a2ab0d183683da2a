#include "runtime/failure.h"

#include <string_view>

#include <c10/util/Exception.h>

#include "core/error.h"
#include "transport/transport.h"

namespace pipedream::runtime {
namespace {

// The kinds that decide what the user is told to do; every other failure is a bug.
enum class Kind : char {
  kLost = 'L',
  kIo = 'I',
  kFile = 'F',
  kRequest = 'R',
  kUsage = 'U',
  kStopped = 'S',
  kMemory = 'M',
  kBug = 'B'
};

struct Failure {
  Kind kind;
  std::string text;
};

// Requires an exception being handled that is not Aborted.
Failure current() {
  try {
    throw;
  } catch (const WorkerLost& error) {
    return {Kind::kLost, error.what()};
  } catch (const IoError& error) {
    return {Kind::kIo, error.what()};
  } catch (const BadFile& error) {
    return {Kind::kFile, error.what()};
  } catch (const CannotMeet& error) {
    return {Kind::kRequest, error.what()};
  } catch (const BadUsage& error) {
    return {Kind::kUsage, error.what()};
  } catch (const TrainingStopped& error) {
    return {Kind::kStopped, error.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::kMemory, "there is not enough memory: try a smaller --batch or model"};
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    // libtorch's allocator has no exception of its own.
    const bool memory = text.find("DefaultCPUAllocator: can't allocate memory") != text.npos;
    return {memory ? Kind::kMemory : Kind::kBug, text};
  } catch (const std::exception& error) {
    return {Kind::kBug, error.what()};
  }
}

[[noreturn]] void raise(const Failure& failure) {
  switch (failure.kind) {
    case Kind::kLost:
      throw WorkerLost(failure.text);
    case Kind::kIo:
      throw IoError(failure.text);
    case Kind::kFile:
      throw BadFile(failure.text);
    case Kind::kRequest:
    case Kind::kMemory:
      throw CannotMeet(failure.text);
    case Kind::kUsage:
      throw BadUsage(failure.text);
    case Kind::kStopped:
      throw TrainingStopped(failure.text);
    case Kind::kBug:
      break;
  }
  throw Error(failure.text);
}

}  // namespace

void rethrow_at(const std::string& where) {
  try {
    throw;
  } catch (const transport::Aborted&) {
    throw;
  } catch (...) {
    Failure failure = current();
    failure.text = where + failure.text;
    raise(failure);
  }
}

std::string to_reason(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    const Failure found = current();
    return static_cast<char>(found.kind) + found.text;
  }
}

bool reason_is_lost(const std::string& reason) {
  return !reason.empty() && reason[0] == static_cast<char>(Kind::kLost);
}

void throw_reason(const std::string& reason) {
  // A channel that was left unfinished has a reason that did not come from to_reason().
  constexpr std::string_view kKinds = "LIFRUSMB";
  if (reason.empty() || kKinds.find(reason[0]) == kKinds.npos)
    throw WorkerLost(reason.empty() ? "the run was stopped" : reason);
  raise({static_cast<Kind>(reason[0]), reason.substr(1)});
}

}  // namespace pipedream::runtime
