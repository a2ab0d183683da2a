#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/error.h"
#include "core/property_testing.h"
#include "profile/profile_file.h"
#include "profile/profile_testing.h"
#include "profile/working_testing.h"

namespace pipedream::profile {
namespace {

using test::any_of_range;
using test::any_text;

// Returns a number of any magnitude, at most 2^(bits − 1).
std::int64_t any_count(int bits) {
  return any_of_range<std::int64_t>(0, (std::int64_t{1} << any_of_range(0, bits)) + 1);
}

Nanos any_time() { return Nanos(any_count(44)); }  // the sum over all layers stays within the limit

std::string any_of(const std::vector<std::string>& texts) {
  return texts[any_of_range<std::size_t>(0, texts.size())];
}

// Returns a random profile. Its layers have zero to two outputs, and every edge leads to a layer
// that was declared later.
Profile any_profile() {
  Profile profile;
  profile.model = any_text();
  if (any_of_range(0, 2) == 1) profile.batch = 1 + any_count(29);
  if (any_of_range(0, 2) == 1) profile.threads = any_of_range(1, 1 << 20);
  if (any_of_range(0, 2) == 1) profile.workers = any_of_range(1, 1 << 20);
  if (any_of_range(0, 2) == 1) profile.whole = any_time();
  if (any_of_range(0, 2) == 1) profile.device = any_of({"cpu", "cuda", "cuda:0", "cuda:15"});
  if (any_of_range(0, 2) == 1) profile.precision = any_of({"fp32", "bf16"});
  profile.input = any_time();
  graph::Builder builder;
  std::vector<std::size_t> outputs_of;
  for (int i = any_of_range(1, 13); i > 0; --i) {
    std::vector<graph::Builder::Output> outputs;
    for (int k = any_of_range(0, 3); k > 0; --k) {
      std::vector<std::int64_t> shape;
      for (int side = any_of_range(0, 4); side > 0; --side) shape.push_back(any_count(40));
      outputs.push_back({any_text() + "." + std::to_string(k), shape, Bytes{any_count(48)},
                         any_of_range(0, 4) == 0});
    }
    // The point keeps apart "1" + "1" and "" + "11".
    const std::string name = any_text() + "." + std::to_string(i);
    const auto outputs_count = outputs.size();
    LayerCost cost;
    if (any_of_range(0, 4) == 0) {
      builder.add_input(name, std::move(outputs));
      outputs_of.push_back(outputs_count);
    } else {
      const LayerId layer = builder.add_layer(name, any_text(), std::move(outputs));
      for (std::size_t from = 0; from < outputs_of.size(); ++from)
        for (std::size_t k = 0; k < outputs_of[from]; ++k)
          if (any_of_range(0, 3) == 0) {
            builder.add_edge(id_at<LayerId>(from), k, layer);
            cost.keeps_input.push_back(any_of_range(0, 2) == 1);
          }
      if (any_of_range(0, 2) == 1) cost.keeps_input.clear();  // not known
      outputs_of.push_back(outputs_count);
      cost.forward = any_time();
      cost.backward = any_time();
      if (any_of_range(0, 2) == 1)
        cost.fixed_forward = Nanos(any_of_range<std::int64_t>(0, cost.forward.count() + 1));
      if (any_of_range(0, 2) == 1)
        cost.fixed_backward = Nanos(any_of_range<std::int64_t>(0, cost.backward.count() + 1));
      if (any_of_range(0, 2) == 1) cost.update = any_time();
      if (any_of_range(0, 2) == 1) cost.averaging = any_time();
      cost.weights = Bytes{any_count(48)};
      cost.stash = Bytes{any_count(48)};
      if (any_of_range(0, 2) == 1) cost.working = any_working(Bytes{any_count(48)});
      if (any_of_range(0, 2) == 1) cost.forward_working = any_working(Bytes{any_count(48)});
    }
    profile.costs.push_back(cost);
  }
  profile.graph = std::move(builder).build();
  return profile;
}

RC_GTEST_PROP(ProfileProperty, WhatIsWrittenIsReadBackAsTheSame, ()) {
  const Profile profile = any_profile();
  RC_LOG() << to_json(profile);
  RC_ASSERT(difference(parse_profile_json(to_json(profile), "p.json"), profile) == "");
}

// A file that is cut short or has one byte changed is either read or refused with BadFile.
RC_GTEST_PROP(ProfileProperty, ADamagedFileIsReadOrRefused, ()) {
  std::string text = to_json(any_profile());
  const auto at = any_of_range<std::size_t>(0, text.size());
  if (any_of_range(0, 2) == 1)
    text.resize(at);
  else
    text[at] = static_cast<char>(any_of_range(0, 256));
  try {
    (void)parse_profile(text, "p.json");
  } catch (const BadFile& bad) {
    const std::string what = bad.what();
    RC_ASSERT(what.find("p.json") == 0U);
    RC_ASSERT(what.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace pipedream::profile
