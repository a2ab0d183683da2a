#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <httplib.h>

#include "core/error.h"
#include "page/live.h"

namespace pipedream::page {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMostBrowsers = 8;   // that follow the news; each needs a thread
constexpr int kOtherThreads = 4;   // that answer everything else
constexpr seconds kStillHere{10};  // silence after which a browser is told that all is well
constexpr seconds kLongestGoodbye{2};

}  // namespace

// Lives as long as the listening thread or the LiveServer, whichever is longer.
class LiveServer::State : public std::enable_shared_from_this<State> {
 public:
  State(const LiveAddress& wanted, std::string page) : address_(wanted), page_(std::move(page)) {
    set_up();
    if (wanted.port == 0)
      address_.port = server_.bind_to_any_port(wanted.host);
    else if (!server_.bind_to_port(wanted.host, wanted.port))
      address_.port = -1;
    if (address_.port <= 0) fail(wanted);
  }

  void start() {
    std::thread listener([self = shared_from_this()] { self->listen(); });
    listener.detach();
    // A server that has not begun to listen cannot be stopped.
    while (!server_.is_running() && !has_ended()) std::this_thread::sleep_for(milliseconds(1));
    if (has_ended()) fail(address_);
  }

  // Ends the listening thread. A browser that takes or sends its bytes very slowly may hold it, and
  // does not hold the caller.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    server_.stop();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestGoodbye, [this] { return ended_; });
  }

  [[nodiscard]] const LiveAddress& address() const { return address_; }

  void show(std::string page) {
    const std::lock_guard lock(mutex_);
    page_ = std::move(page);
  }

  void tell(std::string news) {
    {
      const std::lock_guard lock(mutex_);
      news_ = std::move(news);
      ++number_;
    }
    changed_.notify_all();
  }

  void end(std::string news) {
    tell(std::move(news));
    std::unique_lock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, seconds(1), [this] { return browsers_ == 0; });
  }

 private:
  [[noreturn]] static void fail(const LiveAddress& wanted) {
    throw CannotMeet("`serve`: nothing can listen at " + url_of(wanted) +
                     ": another program may use the port, or the host is not this machine's; "
                     "choose another one, or 0 for any free port");
  }

  void listen() {
    try {
      (void)server_.listen_after_bind();
    } catch (const std::exception&) {
      // The system starts no more threads: nothing is served.
    }
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

  [[nodiscard]] bool has_ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  void set_up() {
    // Without SO_REUSEPORT, with which two trainings would share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.new_task_queue = [] { return new httplib::ThreadPool(kMostBrowsers + kOtherThreads); };
    // A silent connection would hold a thread, and the end of the training with it.
    server_.set_keep_alive_max_count(1);
    server_.set_keep_alive_timeout(1);
    server_.set_read_timeout(seconds(1));
    server_.set_write_timeout(seconds(1));
    server_.set_payload_max_length(1024);
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (is_meant(address_, request.get_header_value("Host")))
            return httplib::Server::HandlerResponse::Unhandled;
          response.status = 403;
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      const std::lock_guard lock(mutex_);
      response.set_content(page_, "text/html; charset=utf-8");
    });
    server_.Get("/news", [this](const httplib::Request&, httplib::Response& response) {
      give_news(response);
    });
  }

  void give_news(httplib::Response& response) {
    {
      const std::lock_guard lock(mutex_);
      if (browsers_ == kMostBrowsers) {
        response.status = 503;
        return;
      }
      ++browsers_;
    }
    response.set_header("Cache-Control", "no-store");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, seen = std::int64_t{0}](std::size_t, httplib::DataSink& sink) mutable {
          return give_next(sink, seen);
        },
        [this](bool) {
          {
            const std::lock_guard lock(mutex_);
            --browsers_;
          }
          changed_.notify_all();
        });
  }

  // Waits for news newer than number `seen`, and sends it. Returns whether the stream goes on.
  bool give_next(httplib::DataSink& sink, std::int64_t& seen) {
    std::string text = ": still here\n\n";
    bool is_last = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kStillHere, [&] { return number_ > seen || ends_ || stops_; });
      if (stops_) return false;
      if (number_ > seen) text = "data: " + news_ + "\n\n";
      seen = number_;
      is_last = ends_;
    }
    if (!sink.write(text.data(), text.size())) return false;
    if (is_last) sink.done();
    return true;
  }

  LiveAddress address_;
  httplib::Server server_;
  std::mutex mutex_;  // guards what follows
  std::string page_;
  std::condition_variable changed_;
  std::string news_;
  std::int64_t number_ = 0;  // of the newest news, from 1
  int browsers_ = 0;         // that follow the news
  bool ends_ = false;        // the newest news is the last
  bool stops_ = false;       // streams end at once
  bool ended_ = false;       // nothing listens any more
};

LiveServer::LiveServer(const LiveAddress& address, std::string page)
    : state_(std::make_shared<State>(address, std::move(page))) {
  state_->start();
}
LiveServer::~LiveServer() { state_->stop(); }
const LiveAddress& LiveServer::address() const { return state_->address(); }
void LiveServer::show(std::string page) { state_->show(std::move(page)); }
void LiveServer::tell(std::string news) { state_->tell(std::move(news)); }
void LiveServer::end(std::string news) { state_->end(std::move(news)); }

}  // namespace pipedream::page
