#include "schedule/schedule.h"

#include <memory>

namespace pipedream::schedule {

Program program_of(const Generator& generator) {
  Program program{generator.worker, {}};
  for (std::int64_t piece = 0; piece < generator.pieces; ++piece)
    generator.append(piece, program.ops);
  return program;
}

std::vector<Program> programs_of(const Schedule& schedule) {
  std::vector<Program> programs;
  programs.reserve(schedule.generators.size());
  for (const Generator& generator : schedule.generators) programs.push_back(program_of(generator));
  return programs;
}

Schedule schedule_of(std::vector<Program> programs) {
  Schedule schedule;
  for (Program& program : programs) {
    const WorkerId worker = program.worker;
    const auto kept = std::make_shared<const std::vector<Op>>(std::move(program.ops));
    schedule.generators.push_back({worker, 1, [kept](std::int64_t, std::vector<Op>& ops) {
                                     ops.insert(ops.end(), kept->begin(), kept->end());
                                   }});
  }
  return schedule;
}

}  // namespace pipedream::schedule
