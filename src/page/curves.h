// The curves of a training, from the lines of its metrics (docs/formats.md#run-folder).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace pipedream::page {

// Returns {"steps": [{"samples", "seconds", "loss"}], "evaluations": [{"samples", "seconds",
// "held_out_loss", "accuracy", "perplexity"}]}. Seconds are those of training, without evaluations,
// over all runs of the training. Of many steps, the means of neighbours are returned. Lines that
// cannot be read, such as the last one of a training that still runs, are left out.
[[nodiscard]] nlohmann::ordered_json curves_of(const std::string& metrics);

}  // namespace pipedream::page
