#pragma once
/// The first experiment of the clockwork paper (arXiv 1402.3511, section 4.1): a network reads the same number at every
/// time and learns to put out one waveform, sample by sample; nothing but its state tells it where it is.
///
/// The paper takes 320 samples of recorded music; here waveforms are drawn: sums of sinusoids of random frequencies,
/// phases and sizes, which swell and fade, scaled to the largest value 1. One network per waveform; its error is the
/// normalised mean squared error, mean (y - target)^2 / mean (target - its mean)^2: 1 for a network that puts out the
/// mean.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lengthwise {

struct WaveformOptions {
  int64_t samples = 320;
  int64_t parameters = 1000;  ///< of each network, as nearly as its units allow
  int64_t steps = 500;        ///< of AdamW without decay; the rate falls to 0
  double lr = 0.01;
  std::vector<int64_t> periods = {1, 2, 4, 8, 16, 32, 64, 128, 256};  ///< the paper's nine modules
};

/// Samples of one waveform, of mean 0 or nearly.
std::vector<double> draw_waveform(uint64_t seed, int64_t samples);

/// The networks that are compared: cwrnn, rnn, lstm.
std::vector<std::string> waveform_networks();

struct WaveformFit {
  int64_t units = 0;
  int64_t parameters = 0;
  double error = 0;  ///< normalised mean squared error after the last step
  std::vector<double> samples;
};

/// Fits a network of this kind to a waveform. `progress(step)` is called after every step.
WaveformFit fit_waveform(const std::string& network, const std::vector<double>& target, const WaveformOptions& options,
                         uint64_t seed, const std::function<void(int64_t)>& progress = nullptr);

}  // namespace lengthwise
