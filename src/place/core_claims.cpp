#include "place/core_claims.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace pipedream::place {
namespace {

using namespace std::chrono_literals;

constexpr int kTaken = -1;
constexpr int kRefused = -2;
constexpr auto kPatience = 1s;
constexpr auto kBetweenLooks = 1ms;

// Takes the name of a socket, which the system frees with the process. Linux keeps names that begin
// with a zero byte apart from files. Returns the socket, kTaken if another one has the name, or
// kRefused if the system gives no such name.
int take_name(const std::string& name) {
  const std::string all = std::string(1, '\0') + "pipedream-" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, all.data(), all.size());
  const int taken = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (taken < 0) return kRefused;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + all.size());
  if (::bind(taken, reinterpret_cast<const sockaddr*>(&address), size) == 0) return taken;
  const bool by_another = errno == EADDRINUSE;
  ::close(taken);
  return by_another ? kTaken : kRefused;
}

void free_name(int socket) {
  if (socket >= 0) ::close(socket);
}

// Goes on without the name if another process has it for too long, for example because it is
// stopped.
int take_name_soon(const std::string& name) {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  int taken = take_name(name);
  while (taken == kTaken && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(kBetweenLooks);
    taken = take_name(name);
  }
  return taken;
}

}  // namespace

CoreClaims::CoreClaims(const Units& units) : choosing_(take_name_soon("chooses-cores")) {
  for (const int unit : units) {
    const int claim = take_name("core-" + std::to_string(unit));
    if (claim == kTaken) of_others_.push_back(unit);
    if (claim >= 0) held_[unit] = claim;
  }
}

CoreClaims::~CoreClaims() { keep_only({}); }

void CoreClaims::keep_only(const Units& units) {
  for (auto claim = held_.begin(); claim != held_.end();) {
    const bool kept = std::find(units.begin(), units.end(), claim->first) != units.end();
    if (!kept) free_name(claim->second);
    claim = kept ? std::next(claim) : held_.erase(claim);
  }
  free_name(choosing_);
  choosing_ = -1;
}

}  // namespace pipedream::place
