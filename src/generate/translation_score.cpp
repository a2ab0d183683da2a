#include "generate/translation_score.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "generate/codec.h"

namespace pipedream::generate {

text::BleuSums score_translations(Predictor& predictor, const data::Translation& task,
                                  const ScoredTranslations& of,
                                  const std::function<void(std::int64_t done)>& progress) {
  text::BleuSums sums;
  const Range writable{text::kFirstByte,
                       static_cast<std::int64_t>(of.vocabulary.size()) - text::kFirstByte};
  const Ends ends{.begin = text::kBeginning, .end = text::kEnd};
  const auto length = static_cast<std::size_t>(task.labels.shape[1]);
  for (std::int64_t first = 0; first < of.samples; first += of.batch) {
    std::vector<std::int64_t> samples(
        static_cast<std::size_t>(std::min(of.batch, of.samples - first)));
    std::iota(samples.begin(), samples.end(), first);
    const auto made = translate(predictor, task, of.data.load(task.source, samples).to(at::kLong),
                                writable, ends);
    const at::Tensor labels = of.data.load(task.labels, samples).to(at::kLong).contiguous();
    const std::span<const std::int64_t> words(labels.const_data_ptr<std::int64_t>(),
                                              samples.size() * length);
    for (std::size_t i = 0; i < samples.size(); ++i)
      sums += text::bleu_sums(decoded(made[i], of.vocabulary),
                              decoded(words.subspan(i * length, length), of.vocabulary));
    progress(first + static_cast<std::int64_t>(samples.size()));
  }
  return sums;
}

}  // namespace pipedream::generate
