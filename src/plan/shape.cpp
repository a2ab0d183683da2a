#include "plan/shape.h"

#include "core/check.h"

namespace pipedream::plan {
namespace {

StageShape stage_shape(const Predictor& predictor, const Layout& layout, std::size_t stage) {
  const Cuts& cuts = predictor.cuts();
  const std::size_t a = layout.ends[stage];
  const std::size_t b = layout.ends[stage + 1];
  const auto& workers = layout.workers[stage];
  const auto [limit, speed] = predictor.weakest(workers);
  const double averaging = workers.size() > 1 ? cuts.averaging(a, b) : 0;
  return {.forward = Seconds(cuts.forward(a, b) / speed),
          .backward = Seconds((cuts.backward(a, b) + averaging) / speed),
          .fixed_forward = Seconds(cuts.fixed_forward(a, b) / speed),
          .fixed_backward = Seconds(cuts.fixed_backward(a, b) / speed),
          .replicas = static_cast<int>(workers.size()),
          .size = cuts.size(a, b),
          .memory_limit = limit,
          .averaging = cost::exchange_time(predictor.links(), workers, cuts.weights(a, b),
                                           predictor.setting().exchange)};
}

// Returns the transfer of `flow` and adds it to `loads`; nullopt if both stages are on the same
// workers, so that nothing is sent.
std::optional<TransferShape> transfer_shape(const Predictor& predictor, const Layout& layout,
                                            const Cuts::Flow& flow, cost::LinkLoads& loads) {
  const auto& from = layout.workers[flow.from];
  const auto& to = layout.workers[flow.to];
  const auto level = loads.add_transfer(from, to, flow.bytes);
  if (!level) return std::nullopt;
  const cluster::Level& outermost = predictor.links().level(*level);
  TransferShape transfer{flow.from, flow.to, flow.bytes, to_seconds(outermost.latency),
                         flow.bytes / outermost.bandwidth.bytes_per_second};
  if (predictor.traits().shares_items()) {
    cost::LinkLoads alone(predictor.links());
    (void)alone.add_transfer(from, to, flow.bytes);
    transfer.seconds = alone.busiest().time.count();
  }
  return transfer;
}

}  // namespace

Predictor::Shape Predictor::shape_of(const Layout& layout) const {
  PD_CHECK(layout.ends.size() == layout.stages() + 1 && layout.ends.back() == cuts_.last());
  Shape shape;
  shape.layout = &layout;
  const auto first_replicas = static_cast<double>(layout.workers.front().size());
  cost::LinkLoads loads(links_);
  for (std::size_t s = 0; s < layout.stages(); ++s) {
    const auto& workers = layout.workers[s];
    // Gradients are averaged once per update. An update has `accumulate` rounds, of one minibatch
    // for each replica of the stage or, if replicas share items, for each one of the first stage.
    const double minibatches =
        accumulate() *
        (traits().shares_items() ? first_replicas : static_cast<double>(workers.size()));
    loads.add_exchange(workers, cuts_.weights(layout.ends[s], layout.ends[s + 1]),
                       setting_.exchange, 1 / minibatches);
    shape.stages.push_back(stage_shape(*this, layout, s));
  }
  for (const Cuts::Flow& flow : cuts_.flows(layout.ends))
    if (const auto transfer = transfer_shape(*this, layout, flow, loads))
      shape.transfers.push_back(*transfer);
  shape.busiest = loads.busiest();
  shape.bytes = loads.bytes_in_all();
  return shape;
}

}  // namespace pipedream::plan
