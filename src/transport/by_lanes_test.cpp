#include "transport/by_lanes.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "transport/contract_testing.h"
#include "transport/emulated.h"
#include "transport/forwarding_testing.h"
#include "transport/in_process.h"
#include "transport/lanes_testing.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

Endpoints beside_lanes(Endpoints companions, const std::shared_ptr<HostLanesExchange>& exchange) {
  for (std::unique_ptr<Transport>& end : companions)
    end = connect_by_lanes(std::move(end), std::make_unique<HostLanes>(exchange));
  return companions;
}

Endpoints connect_lanes(int workers) {
  return beside_lanes(connect_in_process(workers), std::make_shared<HostLanesExchange>());
}

Message on_device(Message message) {
  message.on_device = true;
  return message;
}

// Marks each message that is sent as one in device memory.
class AllOnDevice final : public Forwarding {
 public:
  explicit AllOnDevice(std::unique_ptr<Transport> inner)
      : Forwarding(*inner), inner_(std::move(inner)) {}
  void send(WorkerId to, int tag, Message message) override {
    Forwarding::send(to, tag, on_device(std::move(message)));
  }

 private:
  std::unique_ptr<Transport> inner_;
};

Endpoints connect_lanes_for_all(int workers) {
  Endpoints ends = connect_lanes(workers);
  for (std::unique_ptr<Transport>& end : ends) end = std::make_unique<AllOnDevice>(std::move(end));
  return ends;
}

Endpoints connect_lanes_over_slow_links(int workers) {
  return connect_emulated(
      connect_lanes_for_all(workers),
      std::make_shared<LinkQueues>(Links{.bytes_per_second = 1e9, .latency = 50us}, workers));
}

PD_HOLD_TO_CONTRACTS(BesideLanes, on_threads("host_messages_beside_lanes", connect_lanes));
PD_HOLD_TO_CONTRACTS(ByLanes, on_threads("device_messages_by_lanes", connect_lanes_for_all));
PD_HOLD_TO_CONTRACTS(EmulatedByLanes,
                     on_threads("emulated_by_lanes", connect_lanes_over_slow_links));

TEST(ByLanes, ADevicesBytesTakeALaneAndArriveAsADevices) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  ends[0]->send(kB, 0, make_message({}, "the host's"));
  EXPECT_FALSE(next_message(*ends[1], kA, 0).on_device);
  EXPECT_EQ(exchange->opened(), 0U);
  ends[0]->send(kB, 0, on_device(make_message({}, "a device's")));
  const Message received = next_message(*ends[1], kA, 0);
  EXPECT_TRUE(received.on_device);
  EXPECT_EQ(text_of(received), "a device's");
  EXPECT_EQ(exchange->opened(), 1U);
}

TEST(ByLanes, EachDirectionOfAPairHasOneLane) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(3), exchange);
  for (int tag = 0; tag < 4; ++tag) {
    ends[0]->send(kB, tag, on_device(make_message({}, "there")));
    ends[1]->send(kA, tag, on_device(make_message({}, "back")));
    EXPECT_EQ(next_text(*ends[1], kA, tag), "there");
    EXPECT_EQ(next_text(*ends[0], kB, tag), "back");
  }
  EXPECT_EQ(exchange->opened(), 2U);
}

TEST(ByLanes, MessagesOfHostAndDeviceKeepTheirOrderUnderOneTag) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  exchange->hold(true);
  ends[0]->send(kB, 0, on_device(make_message({}, "a device's, slowly")));
  ends[0]->send(kB, 0, make_message({}, "the host's, at once"));
  const Ticket first = ends[1]->receive(kA, 0);
  EXPECT_EQ(next_text(*ends[1], kA, 0), "the host's, at once");
  exchange->hold(false);
  EXPECT_EQ(text_of(ends[1]->wait(first, soon())), "a device's, slowly");
}

TEST(ByLanes, NothingOfADeviceIsSentBeforeItIsReady) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  const auto text = std::make_shared<std::string>("not yet");
  const auto ready = std::make_shared<std::atomic<bool>>(false);
  Message message{{}, std::as_bytes(std::span(*text)), text};
  message.is_ready = [ready] { return ready->load(); };
  ends[0]->send(kB, 0, on_device(std::move(message)));
  const std::vector<Ticket> ticket{ends[1]->receive(kA, 0)};
  EXPECT_EQ(
      message_of<WorkerLost>([&] { (void)ends[1]->wait_any(ticket, steady_clock::now() + 20ms); }),
      "worker 0 sent nothing before the deadline");
  *text = "written";
  *ready = true;
  EXPECT_EQ(text_of(ends[1]->wait(ticket[0], soon())), "written");
}

TEST(ByLanes, TheSenderKeepsTheMemoryUntilItIsTaken) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  auto owner = std::make_shared<const std::string>("kept");
  const std::weak_ptr<const std::string> watched = owner;
  exchange->hold(true);
  ends[0]->send(kB, 0, on_device({{}, std::as_bytes(std::span(*owner)), owner}));
  owner.reset();
  EXPECT_FALSE(watched.expired()) << "under way";
  exchange->hold(false);
  const Message received = next_message(*ends[1], kA, 0);
  ends[0].reset();  // waits until it knows that B has received
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(text_of(received), "kept");
}

TEST(ByLanes, WhoLeavesIsWaitedForByNobody) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  exchange->hold(true);
  ends[0]->send(kB, 0, on_device(make_message({}, "never taken")));
  ends[1].reset();
  ends[0]->send(kB, 0, on_device(make_message({}, "nor this")));
  ends[0].reset();
}

TEST(ByLanes, AnAbortEndsWhatIsUnderWay) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(2), exchange);
  exchange->hold(true);
  ends[0]->send(kB, 0, on_device(make_message({}, "never there")));
  std::jthread other([&] { ends[0]->abort("enough"); });
  EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(*ends[1], kA, 0); }), "enough");
}

TEST(ByLanes, ABrokenLaneFailsAllWorkersWithItsReason) {
  const auto exchange = std::make_shared<HostLanesExchange>();
  const Endpoints ends = beside_lanes(connect_in_process(3), exchange);
  exchange->hold(true);
  ends[0]->send(kB, 0, on_device(make_message({}, "never there")));
  exchange->break_all("the link broke");
  for (const auto& end : ends)
    EXPECT_EQ(message_of<Aborted>([&] { (void)next_text(*end, kA, 1); }), "the link broke");
}

}  // namespace
}  // namespace pipedream::transport
