#include "report/timeline_words.h"

#include <fmt/format.h>

#include "core/match.h"

namespace pipedream::report {
namespace {

class Words {
 public:
  explicit Words(bool with_microbatches) : with_microbatches_(with_microbatches) {}

  std::string operator()(const schedule::Load& l) const {
    return fmt::format("loading of {}, for stage {}", text_of(l.item), l.stage.value);
  }
  std::string operator()(const schedule::Forward& f) const { return computed("forward", f); }
  std::string operator()(const schedule::Recompute& r) const {
    return computed("recomputation", r);
  }
  std::string operator()(const schedule::Backward& b) const { return computed(name_of(b.part), b); }
  std::string operator()(const schedule::Send& s) const {
    if (s.kind == schedule::Kind::kGradient)
      return fmt::format("send of the gradient of value {} of {}, from stage {} to worker {}",
                         s.value.value, text_of(s.item), s.user.value, s.peer.value);
    return fmt::format("send of value {} of {}, to stage {} on worker {}", s.value.value,
                       text_of(s.item), s.user.value, s.peer.value);
  }
  std::string operator()(const schedule::Recv& r) const {
    if (r.kind == schedule::Kind::kGradient)
      return fmt::format("receive of the gradient of value {} of {}, from stage {} on worker {}",
                         r.value.value, text_of(r.item), r.user.value, r.peer.value);
    return fmt::format("receive of value {} of {}, for stage {} from worker {}", r.value.value,
                       text_of(r.item), r.user.value, r.peer.value);
  }
  std::string operator()(const schedule::Reduce& r) const {
    return fmt::format(
        "averaging of gradients over the replicas of stage {}, for weight version {}",
        r.stage.value, r.update.value);
  }
  std::string operator()(const schedule::Await& a) const {
    return fmt::format("wait for the averaging of stage {}, for weight version {}", a.stage.value,
                       a.update.value);
  }
  std::string operator()(const schedule::Push& p) const {
    return fmt::format("push of the gradients of {}, stage {}, to the parameter servers",
                       text_of(p.item), p.stage.value);
  }
  std::string operator()(const schedule::Pull& p) const {
    return fmt::format("fetch of the weights of stage {} from the parameter servers, number {}",
                       p.stage.value, p.to.value);
  }
  std::string operator()(const schedule::Update& u) const {
    const std::string minibatches = u.first == u.last
                                        ? fmt::format("minibatch {}", u.first)
                                        : fmt::format("minibatches {} to {}", u.first, u.last);
    return fmt::format("update of stage {} from weight version {} to {}, with the gradients of {}",
                       u.stage.value, u.from.value, u.to.value, minibatches);
  }

 private:
  static const char* name_of(schedule::BackwardPart part) {
    switch (part) {
      case schedule::BackwardPart::kInput:
        return "backward, input gradient only,";
      case schedule::BackwardPart::kWeight:
        return "backward, weight gradient only,";
      case schedule::BackwardPart::kFull:
        break;
    }
    return "backward";
  }
  [[nodiscard]] std::string text_of(const schedule::Item& item) const {
    std::string text = fmt::format("minibatch {}", item.minibatch);
    if (with_microbatches_) text += fmt::format(", microbatch {}", item.microbatch);
    return text;
  }
  template <class Computed>
  [[nodiscard]] std::string computed(const char* what, const Computed& op) const {
    return fmt::format("{} of {}, stage {}, with weight version {}", what, text_of(op.item),
                       op.stage.value, op.weights.value);
  }

  bool with_microbatches_;
};

}  // namespace

std::string words_of(const schedule::Op& op, bool with_microbatches) {
  return std::visit(Words(with_microbatches), op);
}

}  // namespace pipedream::report
