// Takes the place of live_httplib.cpp in builds without cpp-httplib.
#include "core/error.h"
#include "page/live.h"

namespace pipedream::page {

class LiveServer::State {
 public:
  LiveAddress address;
};

LiveServer::LiveServer(const LiveAddress&, std::string) {
  throw CannotMeet(
      "this pipedream was built without cpp-httplib, so it cannot serve a page: install the "
      "library "
      "(Debian: libcpp-httplib-dev) and build it again, or use --html");
}
LiveServer::~LiveServer() = default;
const LiveAddress& LiveServer::address() const { return state_->address; }
void LiveServer::show(std::string) {}
void LiveServer::tell(std::string) {}
void LiveServer::end(std::string) {}

}  // namespace pipedream::page
