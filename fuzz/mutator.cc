#include "fuzz/mutator.h"

#include <algorithm>

#include "core/text.h"
#include "data/example_source.h"
#include "data/jsonl.h"
#include "data/vocabulary.h"
#include "fuzz/fuzz_text.h"
#include "tasks/registry.h"

namespace lengthwise::fuzz {
namespace {

constexpr size_t kHead = 2;        // bytes before the text of an input
constexpr size_t kLongest = 4096;  // of a text; repeating would otherwise feed on itself

std::string seed_of(size_t kind, std::string_view text) {
  std::string input{static_cast<char>(kind), '\0'};
  input += text;
  return input;
}

void add_seeds_of(size_t number, const Task& task, std::vector<std::string>& seeds) {
  for (const Wording wording : {Wording::printed, Wording::released}) {
    DataConfig config;
    config.task = task.info().name;
    config.wording = wording;
    config.train_count = 24;
    config.test_count = 8;
    const auto source = make_source(resolve(config));
    Example example;
    Vocabulary vocabulary(cut_of(wording));
    for (const Split split : {Split::train, Split::test}) {
      for (int64_t i = 0; i < source->count(split); ++i) {
        source->get(split, i, example);
        seeds.push_back(seed_of(kFirstTask + number, example.prompt));
        if (i % 8 != 0) continue;
        std::string line;
        append_jsonl(line, example);
        seeds.push_back(seed_of(kJsonl, trim(line)));
        if (vocabulary.size() < 40) vocabulary.add(example.target);
      }
    }
    seeds.push_back(seed_of(kVocabulary, vocabulary.to_json()));
  }
}

/// A place in a text, its end included.
size_t place_in(const std::string& text, Rng& rng) {
  return static_cast<size_t>(rng.below(text.size() + 1));
}

/// A stretch of pieces of a text: where it begins and how long it is in bytes.
std::pair<size_t, size_t> stretch_of(const std::string& text, Rng& rng) {
  const std::vector<Piece> pieces = split_pieces(text);
  if (pieces.empty()) return {0, 0};
  const size_t first = rng.below(pieces.size());
  const size_t last = std::min<size_t>(pieces.size() - 1, first + (rng.coin() ? 0 : rng.below(6)));
  const auto begin = static_cast<size_t>(pieces[first].text.data() - text.data());
  const auto end = static_cast<size_t>(pieces[last].text.data() - text.data()) + pieces[last].text.size();
  return {begin, end - begin};
}

char interesting_byte(Rng& rng) {
  static constexpr char kBytes[] = "\0\t\n \"'()*+,-./0123456789:;<=?[\\]_{}aAzZ\x7f\x80\xbf\xc3\xe2\xf0\xff";
  return rng.coin() ? kBytes[rng.below(sizeof(kBytes) - 1)] : static_cast<char>(rng.below(256));
}

/// Without checksums: damage would end there.
constexpr const char* kManifestSeed =
    R"({"format":"lengthwise-text","version":1,"lengthwise":"0.1.0","tokenizer":{"kind":"sentencepiece",)"
    R"("checksum":"crc32c:00000000","texts":["a","<0xE9>","\u2581the"]},"splits":{"train":{"documents":2,"bytes":9,)"
    R"("tokens":13,"longest_document":7,"sources":[{"file":"b.txt.xz","bytes":7,"checksum":"crc32c:00000001",)"
    R"("text_bytes":9}],"starts":{"file":"train.starts","bytes":16,"checksum":"crc32c:00000002"},"shards":[)"
    R"({"file":"train-00000.tokens","bytes":26,"checksum":"crc32c:00000003"}]},"validation":{"documents":0,"bytes":0,)"
    R"("tokens":0,"longest_document":0,"sources":[],"starts":{"file":"v.starts","bytes":0,"checksum":"x"},"shards":[]},)"
    R"("test":{"documents":0,"bytes":0,"tokens":0,"longest_document":0,"sources":[],)"
    R"("starts":{"file":"t.starts","bytes":0,"checksum":"x"},"shards":[]}}})";
constexpr const char* kPerplexitySeed =
    R"({"format":"lengthwise-perplexity","version":1,"rows":[{"selection":"best","step":9,"encoding":"rope",)"
    R"("protocol":"sliding","window":8,"stride":4,"documents":"apart","split":"test","corpus":"b.txt",)"
    R"("corpus_checksum":"crc32c:00000000","tokenizer":"bytes","parameters":12,"trained_context":4,"batch_size":2,)"
    R"("precision":"fp32","tokens":7,"bytes":6,"correct":1,"nats":9.5,"positions":[)"
    R"({"from":1,"to":1,"tokens":3,"nats":4.5},{"from":2,"to":8,"tokens":4,"nats":5}]}]})";

}  // namespace

Mutator::Mutator(uint64_t seed) : rng_(Rng(seed).stream("fuzz")) {
  for (size_t number = 0; number < tasks().size(); ++number) add_seeds_of(number, *tasks()[number], seeds_);
  for (int copies = 0; copies < 40; ++copies) {
    seeds_.push_back(seed_of(kManifest, kManifestSeed));
    seeds_.push_back(seed_of(kPerplexity, kPerplexitySeed));
    seeds_.push_back(seed_of(kScores,
                             "split,category,encoding,seed,accuracy\r\n\"rsc, 2x\",primitive,T5's \"\"Bias,1,.5\n"
                             "mc,primitive,NoPE,1,1e-3\n\nmc,,NoPE,2,0.986\n"));
    seeds_.push_back(seed_of(kScores,
                             "split,encoding,seed,accuracy,set,length,count,correct\nsort,nope,1,0.5,test,4,10,5\n"
                             "sort,nope,1,0.9,validation,3,10,9\n"));
  }
}

std::string Mutator::input(uint64_t index) const {
  Rng rng = rng_.at(index);
  const std::string& seed = seeds_[rng.below(seeds_.size())];
  std::string text = seed.substr(kHead);
  if (rng.below(50) == 0) {
    text.assign(rng.below(200), '\0');
    for (char& c : text) c = interesting_byte(rng);
  }
  for (uint64_t left = rng.below(5); left > 0; --left) damage(text, rng);
  if (text.size() > kLongest) text.resize(kLongest);
  std::string input = seed.substr(0, kHead);
  // Now and then what reads the text is not what it was written for.
  if (rng.below(20) == 0) input[0] = static_cast<char>(rng.below(kFirstTask + tasks().size()));
  if (rng.coin()) input[1] = static_cast<char>(rng.below(32));
  return input + text;
}

void Mutator::damage(std::string& text, Rng& rng) const {
  switch (rng.below(12)) {
    case 0:  // a flipped bit
      if (!text.empty()) text[rng.below(text.size())] ^= static_cast<char>(1 << rng.below(8));
      break;
    case 1:  // another byte
      if (!text.empty()) text[rng.below(text.size())] = interesting_byte(rng);
      break;
    case 2:  // one byte more
      text.insert(place_in(text, rng), 1, interesting_byte(rng));
      break;
    case 3: {  // one byte less
      if (!text.empty()) text.erase(rng.below(text.size()), 1);
      break;
    }
    case 4: {  // pieces less
      const auto [begin, size] = stretch_of(text, rng);
      text.erase(begin, size);
      break;
    }
    case 5: {  // pieces elsewhere
      const auto [begin, size] = stretch_of(text, rng);
      const std::string moved = text.substr(begin, size);
      text.erase(begin, size);
      text.insert(place_in(text, rng), rng.coin() ? " " + moved + " " : moved);
      break;
    }
    case 6: {  // pieces once more, or many times
      const auto [begin, size] = stretch_of(text, rng);
      const std::string again = (rng.coin() ? " " : "") + text.substr(begin, size);
      std::string copies;
      for (uint64_t n = rng.coin() ? 1 : rng.below(100); n > 0 && copies.size() < kLongest; --n) copies += again;
      text.insert(begin + size, copies);
      break;
    }
    case 7: {  // pieces of another input
      const std::string other = seeds_[rng.below(seeds_.size())].substr(kHead);
      const auto [begin, size] = stretch_of(other, rng);
      text.insert(place_in(text, rng), " " + other.substr(begin, size) + " ");
      break;
    }
    case 8:  // the end cut off
      text.resize(place_in(text, rng));
      break;
    case 9: {  // the end of another input
      const std::string other = seeds_[rng.below(seeds_.size())].substr(kHead);
      text.resize(place_in(text, rng));
      text += other.substr(place_in(other, rng));
      break;
    }
    case 10: {  // a number that is long, huge, negative or padded with zeros
      static const char* const kNumbers[] = {
          "0",          "-1",    "00",  "99999999999999999999", "2147483648", "1e9", "-0",
          "4294967296", "1 2 3", "1.5", "9223372036854775807"};
      text.insert(place_in(text, rng), kNumbers[rng.below(std::size(kNumbers))]);
      break;
    }
    default:  // white space more or less
      if (const size_t space = text.find(' ', place_in(text, rng)); space != std::string::npos && rng.coin()) {
        text.erase(space, 1);
      } else {
        text.insert(place_in(text, rng), 1, " \t\n\r"[rng.below(4)]);
      }
  }
}

}  // namespace lengthwise::fuzz
