// The flag --serve: a page that browsers show while a training runs.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "core/units.h"
#include "page/curves.h"
#include "page/live.h"
#include "page/page.h"
#include "train/trainer.h"

namespace pipedream::cli {

// The page of one training. Used by one thread at a time. News go out once a second at most, so
// that they cost the training nothing.
class LivePage {
 public:
  // Listens at `address` (page/live_address.h), shows a page that waits for the training to begin,
  // and names the address on stderr. Throws CannotMeet if nothing can listen there.
  LivePage(const std::string& address, const std::string& model);

  // The training begins, or goes on with another plan. Run::metrics has the lines of the steps
  // before.
  void begin(const std::string& title, page::Run run);
  void add(const train::Step& step);
  void add(const train::Evaluation& evaluation);
  // The training has ended, or was stopped, with this result (docs/formats.md#train).
  void end(const nlohmann::ordered_json& result, bool was_stopped);

 private:
  // Tells the news, unless others went out within the last second. `now`: since the training began.
  void tell_at(Seconds now);
  [[nodiscard]] std::string line();  // of the news, with the curves as they are

  page::LiveServer server_;
  page::Curves curves_;
  page::News news_;
  std::optional<Seconds> told_;  // when news went out last, since the training began
};

}  // namespace pipedream::cli
