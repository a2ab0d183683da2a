#include "checkpoint/folder.h"
#include "library/handles.h"
#include "model/weights_file.h"
#include "train/resume.h"

namespace pipedream {
inline namespace v1 {
namespace {

Checkpoint public_form(const checkpoint::Found& found) {
  Checkpoint form;
  form.path = found.path;
  form.step = found.step;
  form.damage = checkpoint::damage_of(found).value_or(checkpoint::Damage{}).why;
  const auto* manifest = std::get_if<checkpoint::Manifest>(&found.content);
  if (manifest == nullptr) return form;
  form.epoch = manifest->position.epoch;
  form.loss = manifest->loss;
  form.held_out_loss = manifest->held_out_loss;
  form.bytes = static_cast<std::int64_t>(checkpoint::bytes_of(*manifest));
  return form;
}

}  // namespace

std::vector<Checkpoint> checkpoints(const std::filesystem::path& folder) {
  std::vector<Checkpoint> all;
  for (const checkpoint::Found& found : checkpoint::find_checkpoints(folder))
    all.push_back(public_form(found));
  return all;
}

Weights load_checkpoint(const std::filesystem::path& path) {
  return train::weights_of(train::one_checkpoint(path)).tensors;
}

}  // namespace v1
}  // namespace pipedream
