// Shows a page to browsers while its training runs (docs/page.md: While it trains). Built without
// cpp-httplib, it says so (live_absent.cpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "page/live_address.h"

namespace pipedream::page {

// Serves one page and the news about it, on threads of its own, until it is destroyed. Answers only
// reads, of "/" and of "/news", which is a stream of server-sent events. show() and tell()
// never wait for a browser; end() and the destructor wait for seconds at most.
class LiveServer {
 public:
  // Throws CannotMeet if the address cannot be used.
  LiveServer(const LiveAddress& address, std::string page);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  // Where it listens. The port is never 0.
  [[nodiscard]] const LiveAddress& address() const;
  // Takes the place of the page, for browsers that ask from now on.
  void show(std::string page);
  // Gives every browser the newest news: one line. A browser that is slow misses older news.
  void tell(std::string news);
  // Gives every browser the last news, and ends when they have it, or after a second.
  void end(std::string news);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace pipedream::page
