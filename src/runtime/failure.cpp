#include "runtime/failure.h"

#include "core/error.h"
#include "model/out_of_memory.h"
#include "transport/transport.h"

namespace pipedream::runtime {
namespace {

// The kinds of failures that users can react to, and kBug for all others. The letters travel in the
// text of to_reason().
enum class Reaction : char {
  kLost = 'L',
  kIo = 'I',
  kFile = 'F',
  kRequest = 'R',
  kUsage = 'U',
  kValue = 'V',
  kStopped = 'S',
  kMemory = 'M',
  kBug = 'B'
};

// The first character of every text of to_reason(). Reasons of a transport's own, such as MPI's,
// do not begin with it.
constexpr char kMark = '\x01';

bool is_ours(const std::string& reason) { return reason.size() >= 2 && reason[0] == kMark; }

struct Failure {
  Reaction kind;
  std::string text;
};

// The exception that is being handled, which must not be transport::Aborted.
Failure current() {
  try {
    throw;
  } catch (const WorkerLost& error) {
    return {Reaction::kLost, error.what()};
  } catch (const IoError& error) {
    return {Reaction::kIo, error.what()};
  } catch (const BadFile& error) {
    return {Reaction::kFile, error.what()};
  } catch (const CannotMeet& error) {
    return {Reaction::kRequest, error.what()};
  } catch (const BadUsage& error) {
    return {Reaction::kUsage, error.what()};
  } catch (const BadValue& error) {
    return {Reaction::kValue, error.what()};
  } catch (const TrainingStopped& error) {
    return {Reaction::kStopped, error.what()};
  } catch (const std::bad_alloc&) {
    return {Reaction::kMemory, model::kOutOfMemory};
  } catch (const c10::Error& error) {
    if (model::is_out_of_memory(error)) return {Reaction::kMemory, model::kOutOfMemory};
    return {Reaction::kBug, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {Reaction::kBug, error.what()};
  } catch (...) {
    return {Reaction::kBug, kNoException};
  }
}

[[noreturn]] void raise(const Failure& failure) {
  switch (failure.kind) {
    case Reaction::kLost:
      throw WorkerLost(failure.text);
    case Reaction::kIo:
      throw IoError(failure.text);
    case Reaction::kFile:
      throw BadFile(failure.text);
    case Reaction::kRequest:
    case Reaction::kMemory:
      throw CannotMeet(failure.text);
    case Reaction::kUsage:
      throw BadUsage(failure.text);
    case Reaction::kValue:
      throw BadValue(failure.text);
    case Reaction::kStopped:
      throw TrainingStopped(failure.text);
    case Reaction::kBug:
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
    return std::string{kMark, static_cast<char>(found.kind)} + found.text;
  }
}

bool reason_is_lost(const std::string& reason) {
  return !is_ours(reason) || reason[1] == static_cast<char>(Reaction::kLost);
}

void throw_reason(const std::string& reason) {
  if (!is_ours(reason)) throw WorkerLost(reason.empty() ? "the run was stopped" : reason);
  raise({static_cast<Reaction>(reason[1]), reason.substr(2)});
}

}  // namespace pipedream::runtime
