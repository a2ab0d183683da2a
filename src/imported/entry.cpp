#include "imported/entry.h"

#include "imported/network.h"

namespace pipedream::imported {

bool is_file_name(const std::string& name) {
  return name.ends_with(".pt2") || name.find('/') != std::string::npos;
}

model::NetworkEntry entry_of(const std::filesystem::path& file) {
  constexpr std::int64_t kBatch = 32;
  const auto model = std::make_shared<const Model>(file);
  std::vector<std::string> losses{to_text(model->default_loss())};
  for (const std::string& loss : loss_names())
    if (loss != losses.front()) losses.push_back(loss);
  model::NetworkEntry entry;
  entry.name = model->name();
  entry.about = "a PyTorch model from " + file.string();
  entry.options = {model::choice_option("loss", std::move(losses), "what training makes smaller")};
  entry.batch = model->fixed_batch().value_or(kBatch);
  entry.make = [model](const model::Options& options, std::int64_t batch) {
    model::Network network = model->network(loss_named(options.choice("loss")), batch);
    network.options = options.texts();
    return network;
  };
  entry.file = std::filesystem::absolute(file).string();
  entry.notes = model->notes();
  return entry;
}

}  // namespace pipedream::imported
