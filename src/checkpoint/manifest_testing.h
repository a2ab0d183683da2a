// A manifest for tests.
#pragma once

#include "checkpoint/manifest.h"

namespace pipedream::checkpoint {

// A manifest of step `step`, without files.
[[nodiscard]] inline Manifest manifest_of(std::int64_t step) {
  Manifest manifest;
  manifest.run = "00112233445566778899aabbccddeeff";
  manifest.position = {
      .step = step, .samples = 32 * step, .epoch = 9, .samples_of_epoch = 1536, .minibatch = 150};
  manifest.loss = 0.1;
  manifest.held_out_loss = 0.25;
  manifest.seed = 7;
  manifest.model = "gpt";
  manifest.model_options = {{"hidden", "64"}, {"layers", "2"}};
  manifest.model_facts = {{"gelu", "tanh"}};
  manifest.data = "text:a \"file\"\n\xff.txt";  // a name that is no UTF-8
  manifest.data_samples = 4096;
  manifest.batch = 32;
  manifest.precision = "fp32";
  manifest.optimiser = "adam";
  manifest.learning_rate = 0.001;
  manifest.plan = "{\"format\": \"pipedream-plan\"}\n";
  return manifest;
}

}  // namespace pipedream::checkpoint
