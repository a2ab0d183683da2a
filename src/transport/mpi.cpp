#include "transport/mpi.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "transport/mpi_engine.h"
#include "transport/peer_memory.h"
#include "transport/process_memory.h"

namespace pipedream::transport {
namespace {

// The memory of the other processes of this host. An offer has the address of its values.
class HostMemory final : public PeerMemory {
 public:
  explicit HostMemory(const MpiEngine& engine) : engine_(engine) {}

  bool can_read(WorkerId other) const override {
    return engine_.readable_process(other.value) != 0;
  }
  Message offer(std::span<const float> values, std::shared_ptr<const void>) const override {
    return {
        {static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(values.data()))}, {}, nullptr};
  }
  std::span<const float> read(WorkerId from, const Message& offer, std::size_t first,
                              std::span<float> into) const override {
    const auto address =
        static_cast<std::uint64_t>(offer.header.at(0)) + std::uint64_t{first} * sizeof(float);
    if (!read_process(engine_.readable_process(from.value), address, std::as_writable_bytes(into)))
      throw WorkerLost("the memory of worker " + std::to_string(from.value) +
                       " cannot be read: its process is gone");
    return into;
  }

 private:
  const MpiEngine& engine_;
};

class MpiEndpoint final : public Transport {
 public:
  MpiEndpoint(MpiEngine& engine, std::int32_t channel)
      : engine_(engine), channel_(channel), inbox_(engine.inbox(channel)), memory_(engine) {}

  WorkerId me() const override { return {engine_.rank()}; }
  int workers() const override { return engine_.size(); }
  bool takes_device_memory() const override { return false; }
  const PeerMemory* peer_memory() const override { return &memory_; }

  void send(WorkerId to, int tag, Message message) override {
    const std::uint64_t number = sent_.next(to, tag);
    if (to == me()) {
      inbox_.put(to, tag, number, std::move(message));
      return;
    }
    PD_CHECK(!message.on_device);
    const Frame frame{.channel = channel_,
                      .tag = tag,
                      .number = number,
                      .bytes = message.bytes.size(),
                      .header = message.header};
    engine_.send(to, frame, std::move(message));
  }

  Ticket receive(WorkerId from, int tag) override { return inbox_.receive(from, tag); }
  Message wait(Ticket ticket, Deadline deadline) override { return inbox_.wait(ticket, deadline); }
  Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) override {
    return inbox_.wait_any(tickets, deadline);
  }
  void abort(const std::string& reason) noexcept override { engine_.abort(channel_, reason); }

 private:
  MpiEngine& engine_;
  std::int32_t channel_;
  Inbox& inbox_;
  HostMemory memory_;
  MessageNumbers sent_;
};

}  // namespace

std::string mpi_name() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(std::max(0, length)));
  return text.substr(0, text.find_first_of(",\n"));  // then follow details of the build
}

MpiWorld::MpiWorld() : engine_(std::make_unique<MpiEngine>()) {}
MpiWorld::~MpiWorld() = default;

int MpiWorld::rank() const { return engine_->rank(); }
int MpiWorld::size() const { return engine_->size(); }
const std::vector<int>& MpiWorld::hosts() const { return engine_->hosts(); }
const std::string& MpiWorld::host_name(int rank) const { return engine_->host_name(rank); }
void MpiWorld::set_patience(std::chrono::milliseconds patience) { engine_->set_patience(patience); }
void MpiWorld::note(std::span<const std::byte> what) { engine_->board().note(what); }
void MpiWorld::note_end() { engine_->board().note_end(); }
std::vector<LostProcess> MpiWorld::lost_here() const { return engine_->board().lost(); }
int MpiWorld::here() const {
  const int mine = hosts().at(static_cast<std::size_t>(rank()));
  return launched_here().value_or(
      static_cast<int>(std::count(hosts().begin(), hosts().end(), mine)));
}

void MpiWorld::abort(const std::string& reason) { engine_->abort_all(reason); }
bool MpiWorld::leave() { return engine_->leave(); }

std::unique_ptr<Transport> MpiWorld::connect() {
  return std::make_unique<MpiEndpoint>(*engine_, engine_->next_channel());
}

}  // namespace pipedream::transport
