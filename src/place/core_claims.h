// Cores that processes of this machine have claimed for their computation. That a core is claimed
// is known at once, and that it is busy only later. So trainings that start at the same moment take
// different cores (docs/runtime.md: Cores).
#pragma once

#include <map>

#include "core/thread.h"

namespace pipedream::place {

// The claims of this process. They end with the object, and with the process. Linux only; elsewhere
// everything can be claimed by everyone. Processes in different containers do not see each other's
// claims, as far as these have network namespaces of their own.
class CoreClaims {
 public:
  // Claims those of `units` that no other object has claimed. Waits for up to a second while
  // another process chooses its cores.
  explicit CoreClaims(const Units& units);
  ~CoreClaims();
  CoreClaims(const CoreClaims&) = delete;
  CoreClaims& operator=(const CoreClaims&) = delete;

  // Returns those of the constructor's units that others have claimed.
  [[nodiscard]] const Units& of_others() const { return of_others_; }

  // Gives back all claims but those of `units`, and lets the next process choose.
  void keep_only(const Units& units);

 private:
  std::map<int, int> held_;  // hardware thread → the socket that claims it
  Units of_others_;
  int choosing_ = -1;  // the socket that lets one process choose at a time
};

}  // namespace pipedream::place
