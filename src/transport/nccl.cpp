#include "transport/nccl.h"

#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "core/check.h"
#include "core/error.h"

namespace pipedream::transport {
namespace {

void check_cuda(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // told here; nobody else is to find it
  throw WorkerLost("CUDA failed to " + std::string(what) + ": " + cudaGetErrorString(code));
}

// In progress is what calls that do not wait answer.
void check_nccl(ncclResult_t code, ncclComm_t comm = nullptr) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw WorkerLost("NCCL failed: " + std::string(ncclGetErrorString(code)) + ": " +
                   ncclGetLastError(comm));
}

// The calling thread's GPU from now on: threads that use lanes do nothing else. To go back to
// another would take memory there.
void use_gpu(int device) { check_cuda(cudaSetDevice(device), "use the worker's GPU"); }

// Above compute: the other end waits.
class LaneStream {
 public:
  LaneStream() {
    int least = 0, greatest = 0;
    check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "tell its priorities");
    check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
               "make a stream");
  }
  ~LaneStream() { (void)cudaStreamDestroy(stream_); }
  LaneStream(const LaneStream&) = delete;
  LaneStream& operator=(const LaneStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Comes when all is done that the stream was given before.
class LaneEvent {
 public:
  explicit LaneEvent(const LaneStream& stream) {
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event");
    const cudaError_t recorded = cudaEventRecord(event_, stream.get());
    if (recorded != cudaSuccess) (void)cudaEventDestroy(event_);
    check_cuda(recorded, "record an event");
  }
  ~LaneEvent() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  LaneEvent(LaneEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  LaneEvent& operator=(LaneEvent&&) = delete;

  [[nodiscard]] bool has_come() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();  // it counts as one
      return false;
    }
    check_cuda(state, "move bytes");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A communicator whose calls do not wait: each is made once NCCL has finished with the one before,
// opening included, and is followed by an event once it is on the stream.
class NcclLane final : public Lane {
 public:
  // On that GPU.
  NcclLane(int device, const ncclUniqueId& id, int members, int place) : device_(device) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check_nccl(ncclCommInitRankConfig(&comm_, members, id, place, &config));
  }
  // Not ncclCommDestroy: this ends kernels that wait for other members.
  ~NcclLane() override {
    (void)cudaSetDevice(device_);
    (void)ncclCommAbort(comm_);
    (void)cudaStreamSynchronize(stream_.get());
  }

  void send(std::span<const std::byte> bytes) override {
    waiting_.push_back([=](ncclComm_t comm, cudaStream_t stream) {
      return ncclSend(bytes.data(), bytes.size(), ncclUint8, 1, comm, stream);
    });
  }
  void receive(std::span<std::byte> into) override {
    waiting_.push_back([=](ncclComm_t comm, cudaStream_t stream) {
      return ncclRecv(into.data(), into.size(), ncclUint8, 0, comm, stream);
    });
  }
  void copy(std::span<const std::byte> bytes, std::span<std::byte> into) override {
    PD_CHECK(bytes.size() == into.size());
    waiting_.push_back([=](ncclComm_t comm, cudaStream_t stream) {
      check_nccl(ncclGroupStart());
      // What fails in a group is told at its end, which must come.
      (void)ncclSend(bytes.data(), bytes.size(), ncclUint8, 0, comm, stream);
      (void)ncclRecv(into.data(), into.size(), ncclUint8, 0, comm, stream);
      return ncclGroupEnd();
    });
  }
  void sum(std::span<float> values) override {
    waiting_.push_back([=](ncclComm_t comm, cudaStream_t stream) {
      return ncclAllReduce(values.data(), values.data(), values.size(), ncclFloat32, ncclSum, comm,
                           stream);
    });
  }

  std::uint64_t done() override;

 private:
  using Call = std::function<ncclResult_t(ncclComm_t, cudaStream_t)>;

  // Whether NCCL has finished with the last call.
  [[nodiscard]] bool is_settled() const {
    ncclResult_t state = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(comm_, &state), comm_);
    check_nccl(state, comm_);
    return state != ncclInProgress;
  }
  void mark_called() {
    use_gpu(device_);
    running_.emplace_back(stream_);
    called_ = false;
  }
  void call_next() {
    const Call next = std::move(waiting_.front());
    waiting_.pop_front();
    check_nccl(next(comm_, stream_.get()), comm_);
    called_ = true;
  }

  int device_;
  LaneStream stream_;
  ncclComm_t comm_ = nullptr;
  std::deque<Call> waiting_;
  bool called_ = false;            // NCCL is at one
  std::deque<LaneEvent> running_;  // on the stream
  std::uint64_t done_ = 0;
};

std::uint64_t NcclLane::done() {
  while (is_settled()) {
    if (called_) mark_called();
    if (waiting_.empty()) break;
    call_next();
  }
  for (; !running_.empty() && running_.front().has_come(); ++done_) running_.pop_front();
  return done_;
}

class NcclLanes final : public Lanes {
 public:
  explicit NcclLanes(NcclOptions options) : options_(std::move(options)) {}

  std::vector<std::byte> new_name() override {
    ncclUniqueId id;
    check_nccl(ncclGetUniqueId(&id));
    const auto bytes = std::as_bytes(std::span(id.internal));
    return {bytes.begin(), bytes.end()};
  }
  std::unique_ptr<Lane> open(std::span<const std::byte> name, int members, int place) override {
    ncclUniqueId id;
    PD_CHECK(name.size() == sizeof id.internal);
    std::memcpy(id.internal, name.data(), name.size());
    use_gpu(options_.device);
    return std::make_unique<NcclLane>(options_.device, id, members, place);
  }
  DeviceMemory allocate(std::size_t bytes) override { return options_.allocate(bytes); }

 private:
  NcclOptions options_;
};

}  // namespace

bool has_nccl() { return true; }

std::unique_ptr<Lanes> make_nccl_lanes(const NcclOptions& options) {
  return std::make_unique<NcclLanes>(options);
}

}  // namespace pipedream::transport
