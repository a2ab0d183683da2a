// Holds the MPI transport to the contracts, between processes. Run under mpirun; all ranks run the
// same tests in the same order.
#include "transport/mpi.h"

#include <string>

#include "transport/by_lanes.h"
#include "transport/contract_testing.h"
#include "transport/emulated.h"
#include "transport/lanes_testing.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;

// MPI starts once in a process, so all tests share what main() sets here.
MpiWorld* world = nullptr;
Transport* control = nullptr;

// Returns when all ranks have called it, so that no rank is more than one test ahead of the others.
void meet() {
  for (int rank = 1; rank < world->size(); ++rank) {
    if (world->rank() == 0) (void)next_message(*control, WorkerId{rank}, 0);
    if (world->rank() == rank) control->send(kA, 0, {});
  }
  for (int rank = 1; rank < world->size(); ++rank) {
    if (world->rank() == 0) control->send(WorkerId{rank}, 1, {});
    if (world->rank() == rank) (void)next_message(*control, kA, 1);
  }
}

using Wrap = std::unique_ptr<Transport> (*)(std::unique_ptr<Transport>);

Backend on_ranks(std::string name, Wrap wrap) {
  const auto run = [wrap](int workers, int channels, const Body& body) {
    Endpoints mine;
    for (int channel = 0; channel < channels; ++channel) mine.push_back(wrap(world->connect()));
    if (world->rank() < workers) run_guarded(body, mine);
    meet();
  };
  return {std::move(name), world->size(), run};
}

std::unique_ptr<Transport> as_it_is(std::unique_ptr<Transport> end) { return end; }

std::unique_ptr<Transport> over_a_fast_link(std::unique_ptr<Transport> end) {
  const Links links{.bytes_per_second = 1e9, .latency = 50us};
  auto queues = std::make_shared<LinkQueues>(links, end->workers());
  return connect_emulated(std::move(end), std::move(queues));
}

// The lanes stay unused: they carry messages in device memory, and the contracts here send none.
std::unique_ptr<Transport> beside_unused_lanes(std::unique_ptr<Transport> end) {
  return connect_by_lanes(std::move(end),
                          std::make_unique<HostLanes>(std::make_shared<HostLanesExchange>()));
}

PD_HOLD_TO_CONTRACTS(Mpi, on_ranks("mpi", as_it_is));
PD_HOLD_TO_CONTRACTS(EmulatedMpi, on_ranks("emulated_over_mpi", over_a_fast_link));
PD_HOLD_TO_CONTRACTS(LanesMpi, on_ranks("beside_lanes_over_mpi", beside_unused_lanes));

TEST(MpiWorld, KnowsThatItWasLaunched) { EXPECT_TRUE(launched_by_mpirun()); }

TEST(MpiWorld, KnowsWhichRanksShareAHost) {
  EXPECT_EQ(world->hosts(), std::vector<int>(static_cast<std::size_t>(world->size()), 0));
  EXPECT_EQ(world->here(), world->size());
}

TEST(MpiWorld, StartsOnlyOnce) {
  EXPECT_EQ(message_of<CannotMeet>([] { const MpiWorld again; }),
            "MPI starts once in a process, and has been started before");
}

TEST(MpiWorld, ReceivedBytesAreAlignedForVectors) {
  const auto end = world->connect();
  const WorkerId next{(world->rank() + 1) % world->size()};
  const WorkerId before{(world->rank() + world->size() - 1) % world->size()};
  for (const std::size_t size : {1U, 100U, 100'001U}) {
    end->send(next, 0, make_message({}, std::string(size, 'x')));
    const Message message = next_message(*end, before, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.bytes.data()) % 64, 0U);
  }
  meet();
}

TEST(MpiWorld, ARankThatConnectsLaterMissesNothing) {
  if (world->rank() == 1) control->send(kA, 2, {});
  const auto early = world->rank() == 0 ? world->connect() : nullptr;
  if (world->rank() == 0) {
    early->send(kB, 0, make_message({}, "ahead"));
    (void)next_message(*control, kB, 2);
    control->send(kB, 2, {});
  } else if (world->rank() == 1) {
    (void)next_message(*control, kA, 2);  // sent after "ahead"
  }
  const auto late = world->rank() == 0 ? nullptr : world->connect();
  if (world->rank() == 1) {
    EXPECT_EQ(next_text(*late, kA, 0), "ahead");
  }
  meet();
}

}  // namespace
}  // namespace pipedream::transport

int main(int count, char** arguments) {
  namespace transport = pipedream::transport;
  transport::MpiWorld world;
  const auto control = world.connect();
  transport::world = &world;
  transport::control = control.get();
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
