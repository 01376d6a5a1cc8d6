/// How long it takes to make data, on one thread: drawing the problems of a task, putting them into words and encoding
/// them, for 100,000 training examples (or as many as the task has) without a scratchpad and with the full one.
#include <benchmark/benchmark.h>

#include "data/data_set.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

DataConfig config_of(const std::string& task, const std::string& scratchpad) {
  DataConfig config;
  config.task = task;
  config.train_count = 100'000;
  config.validation_count = 0;
  config.test_count = 0;
  from_text(scratchpad, config.scratchpad);
  return config;
}

/// Counters: `examples` made in one iteration, and `tokens` a second.
void make_data(benchmark::State& state, const std::string& task, const std::string& scratchpad) {
  const DataConfig config = config_of(task, scratchpad);
  const Vocabulary vocabulary(find_task(task), config.wording);
  int64_t examples = 0;
  int64_t tokens = 0;
  for (auto _ : state) {
    const auto source = make_source(resolve(config));
    const TokenSet set = build_token_set(*source, Split::train, vocabulary, frame_of(config), 1);
    benchmark::DoNotOptimize(set.tokens.data());
    examples = set.size();
    tokens = static_cast<int64_t>(set.tokens.size());
  }
  state.counters["examples"] = static_cast<double>(examples);
  state.counters["tokens"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsIterationInvariantRate);
}

/// Encoding alone: `tokens` a second.
void encode(benchmark::State& state, const std::string& task, const std::string& scratchpad) {
  const DataConfig config = config_of(task, scratchpad);
  const auto source = make_source(resolve(config));
  const Vocabulary vocabulary(find_task(task), config.wording);
  std::vector<std::string> texts;
  Example example;
  for (int64_t i = 0; i < 1000; ++i) {
    source->get(Split::train, i, example);
    texts.push_back(example.prompt);
    texts.push_back(example.target);
  }
  std::vector<int32_t> ids;
  for (auto _ : state) {
    ids.clear();
    for (const std::string& text : texts) vocabulary.encode(text, ids);
    benchmark::DoNotOptimize(ids.data());
  }
  state.counters["tokens"] =
      benchmark::Counter(static_cast<double>(ids.size()), benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    for (const char* scratchpad : {"none", "full"}) {
      if (scratchpad != std::string("none") && !info.scratchpad) continue;
      const auto add = [&](const std::string& kind, auto function) {
        return benchmark::RegisterBenchmark((kind + "/" + info.name + "/" + scratchpad).c_str(), function, info.name,
                                            scratchpad);
      };
      add("make", make_data)->Iterations(1)->Unit(benchmark::kMillisecond);
      add("encode", encode)->MinTime(0.05)->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace lengthwise

int main(int argc, char** argv) {
  lengthwise::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
