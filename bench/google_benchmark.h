// The main of what is measured with Google Benchmark.
#pragma once

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace pipedream::bench {

// Runs what is registered; --json is this project's name for Google's format. Gives the exit code.
inline int run_benchmarks(int count, char** arguments) {
  std::vector<std::string> flags(arguments, arguments + count);
  for (std::string& flag : flags)
    if (flag == "--json") flag = "--benchmark_format=json";
  std::vector<char*> pointers;
  for (std::string& flag : flags) pointers.push_back(flag.data());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace pipedream::bench
