#include "transport/in_process.h"

#include <memory>
#include <string>

#include "transport/contract_testing.h"

namespace pipedream::transport {
namespace {

PD_HOLD_TO_CONTRACTS(InProcess, on_threads("in_process", connect_in_process));

TEST(InProcess, HandsOverTheSameMemoryAndLetsGoOfIt) {
  const Endpoints ends = connect_in_process(2);
  auto owner = std::make_shared<const std::string>("not copied");
  const std::weak_ptr<const std::string> watched = owner;
  ends[0]->send(kB, 0, {{}, std::as_bytes(std::span(*owner)), owner});
  const void* const sent = owner->data();
  owner.reset();
  EXPECT_FALSE(watched.expired()) << "under way";
  {
    const Message message = next_message(*ends[1], kA, 0);
    EXPECT_EQ(message.bytes.data(), sent);
  }
  EXPECT_TRUE(watched.expired()) << "the transport must not keep what was received";
}

TEST(InProcess, AMessageThatIsThereNeedsNoTime) {
  const Endpoints ends = connect_in_process(2);
  ends[0]->send(kB, 0, make_message({}, "here"));
  EXPECT_EQ(text_of(ends[1]->wait(ends[1]->receive(kA, 0), Deadline::min())), "here");
}

TEST(InProcessDeathTest, ATicketIsUsedOnce) {
  const Endpoints ends = connect_in_process(2);
  ends[0]->send(kB, 0, make_message({}, "once"));
  const Ticket ticket = ends[1]->receive(kA, 0);
  EXPECT_EQ(text_of(ends[1]->wait(ticket, soon())), "once");
  EXPECT_DEATH((void)ends[1]->wait(ticket, soon()), "asked != asked_.end\\(\\)");
}

TEST(InProcessDeathTest, TagsAndWorkersHaveBounds) {
  const Endpoints ends = connect_in_process(2);
  EXPECT_DEATH(ends[0]->send(kB, -1, {}), "tag >= 0 && tag < kTagLimit");
  EXPECT_DEATH(ends[0]->send(kB, kTagLimit, {}), "tag >= 0 && tag < kTagLimit");
  EXPECT_DEATH(ends[0]->send(kC, 0, {}), "worker.value < workers\\(\\)");
}

}  // namespace
}  // namespace pipedream::transport
