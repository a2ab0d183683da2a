// The test suites that every backend passes, and what their tests are written with. The tests are
// in transport_test.cpp, abort_test.cpp, all_reduce_test.cpp and collective_test.cpp; each
// backend's test file runs them by PD_HOLD_TO_CONTRACTS. Only *_test.cpp files include this.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/testing.h"
#include "transport/transport.h"

namespace pipedream::transport {

using test::message_of;
using Endpoints = std::vector<std::unique_ptr<Transport>>;
using Body = std::function<void(Endpoints&)>;

constexpr WorkerId kA{0}, kB{1}, kC{2};

// A deadline that only a broken backend misses.
inline Deadline soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

inline Message make_message(std::vector<std::int64_t> header, std::string text) {
  const auto owner = std::make_shared<const std::string>(std::move(text));
  return {std::move(header), std::as_bytes(std::span(*owner)), owner};
}

inline std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

inline Message next_message(Transport& me, WorkerId from, int tag) {
  return me.wait(me.receive(from, tag), soon());
}

inline std::string next_text(Transport& me, WorkerId from, int tag) {
  return text_of(next_message(me, from, tag));
}

// A transport to test. run() calls `body` once on each of `workers` workers, with one endpoint for
// each of `channels` channels, and returns when all have finished. Workers are threads of this
// process, or they are processes, and then this process is one of them.
struct Backend {
  std::string name;
  int most_workers = 0;
  std::function<void(int workers, int channels, const Body& body)> run;
};
inline void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

inline void run_guarded(const Body& body, Endpoints& endpoints) {
  try {
    body(endpoints);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "thrown: " << error.what();
  }
}

// A backend whose workers are threads. `connect` returns the endpoints of one channel, by worker.
inline Backend on_threads(std::string name, const std::function<Endpoints(int)>& connect) {
  const auto run = [connect](int workers, int channels, const Body& body) {
    std::vector<Endpoints> endpoints(static_cast<std::size_t>(workers));
    for (int channel = 0; channel < channels; ++channel) {
      Endpoints connected = connect(workers);
      for (std::size_t worker = 0; worker < endpoints.size(); ++worker)
        endpoints[worker].push_back(std::move(connected[worker]));
    }
    std::vector<std::jthread> threads;
    for (Endpoints& own : endpoints) threads.emplace_back([&] { run_guarded(body, own); });
  };
  return {std::move(name), 16, run};
}

inline std::string name_of(const testing::TestParamInfo<Backend>& backend) {
  return backend.param.name;
}

// A test hands run() a function that each worker calls with its endpoint. Assertions are in that
// function, made by the worker that has the value to check.
class TransportContract : public testing::TestWithParam<Backend> {
 protected:
  static void run(int workers, const std::function<void(Transport&)>& body) {
    run_with_channels(workers, 1, [&](Endpoints& own) { body(*own.front()); });
  }
  static void run_with_channels(int workers, int channels, const Body& body) {
    if (workers > GetParam().most_workers) GTEST_SKIP() << "needs " << workers << " workers";
    GetParam().run(workers, channels, body);
  }
};
class SumContract : public TransportContract {};
class ReducerContract : public TransportContract {};

// Runs all contract tests on `backend`. Used in the test file of each backend.
#define PD_HOLD_TO_CONTRACTS(prefix, backend)                                             \
  INSTANTIATE_TEST_SUITE_P(prefix, TransportContract, testing::Values(backend), name_of); \
  INSTANTIATE_TEST_SUITE_P(prefix, SumContract, testing::Values(backend), name_of);       \
  INSTANTIATE_TEST_SUITE_P(prefix, ReducerContract, testing::Values(backend), name_of)

}  // namespace pipedream::transport
