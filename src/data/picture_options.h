// How the pictures of a data set are read and changed, as users say it.
#pragma once

#include <string>

namespace pipedream::data {

struct PictureOptions {
  std::string augment;          // random changes while training (data/augment.h); empty: none
  std::string pixel_mean;       // "0.5,0.5,0.5" or "0.5" for all channels; empty: ImageNet's
  std::string pixel_deviation;  // likewise
  bool skip_bad = false;        // leave out files that cannot be decoded
};

}  // namespace pipedream::data
