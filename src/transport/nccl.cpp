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
  (void)cudaGetLastError();  // clears the error, which is reported here and nowhere else
  throw WorkerLost("CUDA failed to " + std::string(what) + ": " + cudaGetErrorString(code));
}

// Throws on failure. ncclInProgress is none: calls that do not wait return it.
void check_nccl(ncclResult_t code, ncclComm_t comm = nullptr) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw WorkerLost("NCCL failed: " + std::string(ncclGetErrorString(code)) + ": " +
                   ncclGetLastError(comm));
}

// Makes `device` the calling thread's GPU, for good: threads that use lanes do nothing else.
// Switching back to another GPU would take memory there.
void use_gpu(int device) { check_cuda(cudaSetDevice(device), "use the worker's GPU"); }

// A stream with a higher priority than compute, because the other end of the lane waits for it.
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

// An event that comes when all work given to the stream before it is done.
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
      (void)cudaGetLastError();  // clears it: "not ready" is recorded as an error
      return false;
    }
    check_cuda(state, "move bytes");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// A lane by a non-blocking communicator. Each call to NCCL is made when NCCL has finished with the
// one before it, the first when the communicator is open. When a call's work is on the stream, an
// event is recorded behind it.
class NcclLane final : public Lane {
 public:
  // Requires that `device` is the calling thread's GPU.
  NcclLane(int device, const ncclUniqueId& id, int members, int place) : device_(device) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check_nccl(ncclCommInitRankConfig(&comm_, members, id, place, &config));
  }
  // ncclCommAbort ends kernels that wait for other members; ncclCommDestroy would not.
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
      // A failure within a group is returned by ncclGroupEnd(), which must be called.
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

  // Whether NCCL has finished with the last call. Throws if it failed.
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
  std::deque<Call> waiting_;       // not made yet
  bool called_ = false;            // a call was made and has no event yet
  std::deque<LaneEvent> running_;  // for each operation on the stream, its end
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
