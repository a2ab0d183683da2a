// The main function that all benchmarks with Google Benchmark share.
#pragma once

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace pipedream::bench {

// Runs all registered benchmarks with the flags of Google Benchmark, and returns the exit code.
// --json stands for --benchmark_format=json, because the other benchmarks have a flag --json too.
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
