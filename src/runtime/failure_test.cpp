#include "runtime/failure.h"

#include <new>

#include <gtest/gtest.h>

#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/testing.h"
#include "transport/transport.h"

namespace pipedream::runtime {
namespace {

template <class E>
std::exception_ptr failure(const E& error) {
  return std::make_exception_ptr(error);
}

// The message of a failure after it was turned into text and thrown again, which must be a `Kind`.
template <class Kind>
std::string travelled(const std::exception_ptr& from) {
  return test::message_of<Kind>([&] { throw_reason(to_reason(from)); });
}

template <class Kind>
std::string told_at(const std::exception_ptr& from) {
  return test::message_of<Kind>([&] {
    try {
      std::rethrow_exception(from);
    } catch (...) {
      rethrow_at("here: ");
    }
  });
}

template <class Kind>
void expect_kept() {
  EXPECT_EQ(travelled<Kind>(failure(Kind("why"))), "why");
  EXPECT_EQ(told_at<Kind>(failure(Kind("why"))), "here: why");
}

TEST(Failure, EveryKindArrivesAsItself) {
  expect_kept<WorkerLost>();
  expect_kept<IoError>();
  expect_kept<BadFile>();
  expect_kept<CannotMeet>();
  expect_kept<BadUsage>();
  expect_kept<BadValue>();
  expect_kept<TrainingStopped>();
  expect_kept<Error>();
}

TEST(Failure, WhatIsNotAnErrorOfOursIsABug) {
  EXPECT_EQ(travelled<Error>(failure(std::logic_error("odd"))), "odd");
  EXPECT_EQ(told_at<Error>(failure(std::logic_error("odd"))), "here: odd");
  EXPECT_EQ(travelled<Error>(failure(7)), kNoException);
  EXPECT_EQ(told_at<Error>(failure(7)), std::string("here: ") + kNoException);
}

TEST(Failure, TooLittleMemoryIsARequestThatCannotBeMet) {
  EXPECT_EQ(travelled<CannotMeet>(failure(std::bad_alloc())),
            "there is not enough memory: try a smaller `batch` or model");
}

TEST(Failure, LibtorchsMessageComesWithoutItsStack) {
  std::exception_ptr caught;
  try {
    (void)at::zeros({2}).add(at::zeros({3}));
  } catch (...) {
    caught = std::current_exception();
  }
  const std::string message = travelled<Error>(caught);
  EXPECT_NE(message.find("must match"), std::string::npos) << message;
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
}

TEST(Failure, AnothersFailureGetsNoPlaceOfOurs) {
  EXPECT_EQ(told_at<transport::Aborted>(failure(transport::Aborted("Bworker 3, F1: why"))),
            "Bworker 3, F1: why");
}

// MPI's reasons begin with the letter M, which means too little memory in reasons of our own.
TEST(Failure, AReasonOfTheTransportIsALostWorkersWord) {
  EXPECT_EQ(test::message_of<WorkerLost>([] { throw_reason("MPI failed: no route"); }),
            "MPI failed: no route");
  EXPECT_TRUE(reason_is_lost("MPI failed: no route"));
  EXPECT_TRUE(reason_is_lost(to_reason(failure(WorkerLost("why")))));
  EXPECT_FALSE(reason_is_lost(to_reason(failure(IoError("why")))));
}

TEST(Failure, WithoutAReasonTheRunWasStopped) {
  EXPECT_EQ(test::message_of<WorkerLost>([] { throw_reason(""); }), "the run was stopped");
}

}  // namespace
}  // namespace pipedream::runtime
