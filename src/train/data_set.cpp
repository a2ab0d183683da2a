#include "train/data_set.h"

#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "train/idx.h"
#include "train/synthetic.h"
#include "train/text.h"

namespace pipedream::train {

Data open_data(const std::string& spec, const model::Network& network, std::uint64_t seed) {
  if (spec.empty() || spec == "synthetic") return open_synthetic(network, seed);
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string path = colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (kind != "idx" && kind != "text") {
    const std::vector<std::string> kinds{"synthetic", "idx", "text"};
    throw BadUsage("there is no data set '" + printable(spec) + "'" + suggestion(kind, kinds));
  }
  if (path.empty())
    throw BadUsage("the data set '" + kind + "' needs a " + (kind == "idx" ? "folder" : "file") +
                   ": write " + (kind == "idx" ? "idx:DIR" : "text:FILE"));
  return kind == "idx" ? open_idx(path, network) : open_text(path, network);
}

}  // namespace pipedream::train
