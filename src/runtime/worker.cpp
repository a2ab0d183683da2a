#include "runtime/worker.h"

#include <algorithm>

#include <c10/util/Exception.h>

#include "core/check.h"
#include "core/error.h"
#include "core/match.h"
#include "runtime/tensor_message.h"

namespace pipedream::runtime {
namespace {

using schedule::Item;
using schedule::Kind;

// One stream of messages per value and kind; within it the order of items is that of the programs.
int tag_of(ValueId value, Kind kind) { return value.value * 2 + (kind == Kind::kGradient ? 1 : 0); }

std::map<StageId, Stage> make_stages(const schedule::Program& program,
                                     const model::Network& network, const plan::Plan& plan,
                                     const RunOptions& options) {
  std::map<StageId, Stage> stages;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& workers = plan.stages[s].workers;
    const auto id = id_at<StageId>(s);
    if (std::find(workers.begin(), workers.end(), program.worker) != workers.end())
      stages.try_emplace(id, network, plan, id, options.seed, options.device);
  }
  return stages;
}

// " (minibatch 3)" of an op, for messages.
std::string minibatch_text(const schedule::Op& op) {
  const auto minibatch = schedule::minibatch_of(op);
  return minibatch ? " (minibatch " + std::to_string(*minibatch) + ")" : "";
}

}  // namespace

Worker::Worker(const schedule::Program& program, const model::Network& network,
               const plan::Plan& plan, const RunOptions& options, transport::Transport& transport,
               std::chrono::steady_clock::time_point run_began)
    : program_(program),
      network_(network),
      options_(options),
      transport_(transport),
      run_began_(run_began),
      stages_(make_stages(program, network, plan, options)) {
  for (const auto& [id, stage] : stages_) optimisers_[id] = options.make_optimiser();
}

void Worker::run() {
  const auto now = [&] {
    return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now() - run_began_);
  };
  for (const schedule::Op& op : program_.ops) {
    const Nanos start = now();
    const auto where = [&] {
      return "worker " + std::to_string(program_.worker.value) + ", " +
             schedule::to_text(op, true) + minibatch_text(op) + ": ";
    };
    // The kind of failure stays what it was: it decides what the user is told to do.
    try {
      run_op(op);
    } catch (const WorkerLost& error) {
      throw WorkerLost(where() + error.what());
    } catch (const IoError& error) {
      throw IoError(where() + error.what());
    } catch (const BadFile& error) {
      throw BadFile(where() + error.what());
    } catch (const CannotMeet& error) {
      throw CannotMeet(where() + error.what());
    } catch (const c10::Error& error) {
      throw Error(where() + error.what_without_backtrace());
    } catch (const std::exception& error) {
      throw Error(where() + error.what());
    }
    events_.push_back({program_.worker, op, start, now()});
  }
}

void Worker::run_op(const schedule::Op& op) {
  std::visit([this](const auto& each) { run_op(each); }, op);
}

template <class Other>
void Worker::run_op(const Other&) {
  throw CannotMeet("this kind of op can be simulated, but not run yet");
}

void Worker::run_op(const schedule::Load& load) {
  const Stage& stage = stages_.at(load.stage);
  for (const model::InputSpec& input : network_.inputs) {
    const ValueId value = network_.graph.layer(input.layer).outputs[0];
    const auto& wanted = stage.loaded();
    if (std::find(wanted.begin(), wanted.end(), value) != wanted.end())
      values_[{Kind::kActivation, load.item}][value] =
          options_.load(input, load.item).to(options_.device);
  }
}

at::Tensor Worker::take(Kind kind, const Item& item, ValueId value) {
  const Key key{kind, item};
  if (const auto coming = coming_.find(key); coming != coming_.end()) {
    if (const auto ticket = coming->second.find(value); ticket != coming->second.end()) {
      const auto message =
          transport_.wait(ticket->second, std::chrono::steady_clock::now() + options_.patience);
      coming->second.erase(ticket);
      if (coming->second.empty()) coming_.erase(coming);
      return to_tensor(message);
    }
  }
  Values& here = values_.at(key);
  at::Tensor taken = std::move(here.at(value));
  here.erase(value);
  if (here.empty()) values_.erase(key);
  return taken;
}

void Worker::run_op(const schedule::Forward& forward) {
  Stage& stage = stages_.at(forward.stage);
  Values inputs;
  for (const auto* list : {&stage.taken(), &stage.loaded()})
    for (const ValueId value : *list) inputs[value] = take(Kind::kActivation, forward.item, value);
  for (auto& [value, tensor] : stage.forward(forward.item, forward.weights, inputs)) {
    if (value == network_.loss)
      losses_[forward.item] = tensor.item<double>();
    else
      values_[{Kind::kActivation, forward.item}][value] = tensor;
  }
}

void Worker::run_op(const schedule::Backward& backward) {
  PD_CHECK(backward.part == schedule::Part::kFull);
  Stage& stage = stages_.at(backward.stage);
  Values gradients;
  for (const ValueId value : stage.given())
    gradients[value] = take(Kind::kGradient, backward.item, value);
  for (auto& [value, tensor] : stage.backward(backward.item, backward.weights, gradients))
    values_[{Kind::kGradient, backward.item}][value] = tensor;
}

void Worker::run_op(const schedule::Send& send) {
  transport_.send(send.peer, tag_of(send.value, send.kind),
                  to_message(take(send.kind, send.item, send.value)));
}

void Worker::run_op(const schedule::Recv& recv) {
  coming_[{recv.kind, recv.item}][recv.value] =
      transport_.receive(recv.peer, tag_of(recv.value, recv.kind));
}

void Worker::run_op(const schedule::Update& update) {
  WeightStore& weights = stages_.at(update.stage).weights();
  PD_CHECK(weights.newest() == update.from);
  Optimiser& optimiser = *optimisers_.at(update.stage);
  weights.update(update.to,
                 [&](std::size_t parameter, const at::Tensor& from, const at::Tensor& gradient,
                     const at::Tensor& to) { optimiser.step(parameter, from, gradient, to); });
}

}  // namespace pipedream::runtime
