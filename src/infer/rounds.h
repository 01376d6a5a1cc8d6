#pragma once
/// Generation of many answers in batches, of which none waits long for a few sequences that do not end.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lengthwise {

/// Appends to the answers of up to `batch` texts, as generate_greedy (greedy.h) does, up to `limit` tokens with the
/// text.
using GenerateBatch = std::function<void(std::span<const std::vector<int32_t>> texts, int64_t limit,
                                         std::span<std::vector<int32_t>> answers)>;

/// The same, told which of all texts these are.
using GenerateNumbered =
    std::function<void(std::span<const size_t> numbers, std::span<const std::vector<int32_t>> texts, int64_t limit,
                       std::span<std::vector<int32_t>> answers)>;

/// Completes all answers, batch after batch. A batch is left when it has written 32 tokens; what has not ended by then
/// goes on together with what is left of other batches, for four times as many tokens in every further round.
/// `after_batch(done)`: how many answers are complete.
void generate_in_rounds(std::span<const std::vector<int32_t>> prompts, int64_t batch, int64_t limit,
                        std::span<std::vector<int32_t>> answers, const GenerateBatch& generate,
                        const std::function<void(int64_t)>& after_batch);
void generate_in_rounds(std::span<const std::vector<int32_t>> prompts, int64_t batch, int64_t limit,
                        std::span<std::vector<int32_t>> answers, const GenerateNumbered& generate,
                        const std::function<void(int64_t)>& after_batch);

}  // namespace lengthwise
