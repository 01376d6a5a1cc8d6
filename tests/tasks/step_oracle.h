#pragma once
/// Takes a scratchpad apart again and checks the arithmetic it states, step by step, from the text alone.
#include "tasks/style.h"
#include "tests/tasks/oracle.h"

namespace lengthwise::oracle {

struct Step {
  std::string input, computation, output, variables, remaining;
};

/// The components between their markers; `format` says which there are.
inline Step read_step(const std::string& text, const Scratchpad& format) {
  Step step;
  std::string* part = nullptr;
  for (const std::string& token : split(text, ' ')) {
    if (part != &step.remaining) {
      if (token == "in" && format.input) part = &step.input;
      if (token == "comp" && format.computation) part = &step.computation;
      if (token == "out" && format.output) part = &step.output;
      if (token == "[" && format.variables) part = &step.variables;
      if (token == "re" && format.remaining) part = &step.remaining;
      if (token == "in" || token == "comp" || token == "out" || token == "[" || token == "]" || token == "re") continue;
    }
    if (part == nullptr) throw std::runtime_error("text before the first marker: " + text);
    *part += (part->empty() ? "" : " ") + token;
  }
  return step;
}

inline std::vector<Step> read_steps(const std::string& target, const Scratchpad& format) {
  const std::string start = "Thinking step by step: ", end = " . Thus, ";
  if (target.rfind(start, 0) != 0) throw std::runtime_error("no scratchpad: " + target);
  std::vector<Step> steps;
  for (const std::string& text : split(between(target, start, end), '#')) steps.push_back(read_step(text, format));
  return steps;
}

/// Throws with a description when a statement does not hold.
inline void require(bool holds, const std::string& what, size_t step) {
  if (!holds) throw std::runtime_error("step " + std::to_string(step + 1) + ": " + what);
}

/// The sides of a chain of equations: `5 + 7 + carry = 12 + 0 = 12` has three.
inline Strings sides(const std::string& text) {
  return split(text, '=');
}

inline void check_addition(const std::string& prompt, const std::vector<Step>& steps, const Scratchpad& format) {
  const Strings numbers = addends(prompt);
  const size_t places = std::max(numbers[0].size(), numbers[1].size());
  const auto digit = [&](size_t which, size_t place) {
    const std::string& digits = numbers[which];
    return place < digits.size() ? digits[digits.size() - 1 - place] - '0' : 0;
  };
  const auto rest = [&](size_t which, size_t place) -> std::string {
    if (place + 1 >= places) return "";
    const size_t size = numbers[which].size();
    return spaced(place + 1 < size ? numbers[which].substr(0, size - place - 1) : "0");
  };
  int carry = 0;
  for (size_t place = 0; place < steps.size(); ++place) {
    const Step& step = steps[place];
    const int a = digit(0, place), b = digit(1, place), total = a + b + carry;
    require(!format.input || step.input == std::to_string(a) + ", " + std::to_string(b), step.input, place);
    if (format.computation) {
      const Strings parts = sides(step.computation);
      require(parts.size() == 3, step.computation, place);
      require(parts[0] == std::to_string(a) + " + " + std::to_string(b) + " + carry", step.computation, place);
      const Strings middle = split(parts[1], '+');
      require(number(middle[0]) == a + b && number(middle[1]) == carry, step.computation, place);
      require(number(parts[2]) == total, step.computation, place);
    }
    require(!format.output || number(step.output) == total % 10, step.output, place);
    carry = total / 10;
    require(!format.variables || step.variables == "carry: " + std::to_string(carry), step.variables, place);
    const std::string remaining = trimmed(rest(0, place) + " + " + rest(1, place));
    require(!format.remaining || step.remaining == remaining, step.remaining, place);
  }
  require(carry == 0 && steps.size() >= places && steps.size() <= places + 1, "number of steps", steps.size());
}

inline void check_summation(const std::string& prompt, const std::vector<Step>& steps, const Scratchpad& format) {
  Strings left = summands(prompt);
  long long sum = 0;
  require(steps.size() == left.size(), "number of steps", steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string digit = left.front();
    left.erase(left.begin());
    const long long total = number(digit) + sum;
    require(!format.input || step.input == digit, step.input, i);
    const std::string computation = digit + " + sum = " + digit + " + " + std::to_string(sum) + " =";
    require(!format.computation || step.computation == computation, step.computation, i);
    require(!format.output || number(step.output) == total, step.output, i);
    sum = last_digit(total);
    if (format.variables) {
      const Strings parts = sides(between(step.variables, "sum:", "never"));
      require(parts.size() == 2 && number(parts[0]) == total && number(parts[1]) == sum, step.variables, i);
    }
    require(!format.remaining || split(step.remaining, '+') == left, step.remaining, i);
  }
}

inline void check_polynomial(const std::string& prompt, const std::vector<Step>& steps, const Scratchpad& format) {
  Strings left = terms(prompt);
  const long long x = number(between(prompt, "=", " in "));
  long long sum = 0;
  require(steps.size() == left.size(), "number of steps", steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string term = left.front();
    left.erase(left.begin());
    const long long value = term_value(term, x);
    const long long coefficient = std::stoll(term);
    require(!format.input || without(step.input, " ") == term, step.input, i);
    if (format.computation) {
      const Strings parts = sides(without(step.computation, " "));
      const std::string degree = term.substr(term.find("x**") + 3);
      require(parts.size() == 2, step.computation, i);
      require(parts[0] == std::to_string(coefficient) + "*" + std::to_string(x) + "**" + degree, step.computation, i);
      const size_t star = parts[1].find('*');
      require(std::stoll(parts[1]) == coefficient, step.computation, i);
      require(std::stoll(parts[1].substr(star + 1)) == term_value("1x**" + degree, x), step.computation, i);
    }
    require(!format.output || number(step.output) == value, step.output, i);
    const long long next = last_digit(sum + value);
    const std::string statement =
        "sum:" + std::to_string(sum) + "+" + std::to_string(value) + "=" + std::to_string(next);
    require(!format.variables || without(step.variables, " ") == statement, step.variables, i);
    sum = next;
    require(!format.remaining || split(without(step.remaining, " "), '+') == left, step.remaining, i);
  }
}

inline void check_parity(const std::string& prompt, const std::vector<Step>& steps, const Scratchpad& format) {
  const std::string all = bits(prompt);
  require(steps.size() == all.size(), "number of steps", steps.size());
  std::string parity = "0";
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string bit(1, all[i]);
    require(!format.input || step.input == bit, step.input, i);
    const std::string computation = bit + " ** par = " + bit + " ** " + parity;
    require(!format.computation || step.computation == computation, step.computation, i);
    parity = bit == parity ? "0" : "1";
    require(!format.output || step.output == parity, step.output, i);
    require(!format.variables || step.variables == "par: " + parity, step.variables, i);
    require(!format.remaining || bits(step.remaining) == all.substr(i + 1), step.remaining, i);
  }
}

inline void check_sort(const std::string& name, const std::string& prompt, const std::vector<Step>& steps,
                       const Scratchpad& format) {
  const bool brackets = released(prompt);
  const bool symbols = name == "sort" && brackets;
  const char separator = name == "sort" && !brackets ? ' ' : ',';
  Strings left = sort_items(name, prompt);
  require(steps.size() == left.size(), "number of steps", steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string front = left.front();
    size_t least = 0;
    for (size_t j = 1; j < left.size(); ++j) {
      if (sorts_before(symbols, left[j], left[least])) least = j;
    }
    require(!format.input || step.input == front, step.input, i);
    require(!format.computation || step.computation == "The minimum of the unsorted portion", step.computation, i);
    require(!format.output || step.output == left[least], step.output, i);
    left[least] = front;
    left.erase(left.begin());
    const std::string list = brackets ? between(step.remaining, "[", "]") : step.remaining;
    require(!format.remaining || split(list, separator) == left, step.remaining, i);
  }
}

inline void check_lego(const std::string& prompt, const std::vector<Step>& steps, const Scratchpad& format) {
  const char separator = released(prompt) ? ',' : ';';
  Strings left = clauses(prompt);
  std::string value = "+1";
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::string clause = left.front();
    left.erase(left.begin());
    require(!format.input || step.input == clause.substr(0, 1), step.input, i);
    const std::string computation = clause.substr(2) + "=" + clause[2] + value;
    require(!format.computation || without(step.computation, " ") == (i == 0 ? "" : computation), step.computation, i);
    value = (clause[2] == '-') == (value == "-1") ? "+1" : "-1";
    require(!format.output || step.output == value, step.output, i);
    const Strings rest = split(without(step.remaining, " "), separator);
    require(!format.remaining || rest == left, step.remaining, i);
    require((clause[0] == prompt[prompt.size() - 2]) == (i + 1 == steps.size()), "stops at the wrong variable", i);
  }
}

/// What is wrong with the scratchpad of a target, or "".
inline std::string fault(const std::string& name, const std::string& prompt, const std::string& target,
                         const Scratchpad& format) {
  try {
    const std::vector<Step> steps = read_steps(target, format);
    if (name == "addition") return check_addition(prompt, steps, format), "";
    if (name == "summation") return check_summation(prompt, steps, format), "";
    if (name == "polynomial") return check_polynomial(prompt, steps, format), "";
    if (name == "parity") return check_parity(prompt, steps, format), "";
    if (name.rfind("sort", 0) == 0) return check_sort(name, prompt, steps, format), "";
    if (name == "lego") return check_lego(prompt, steps, format), "";
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing checks the steps of " + name + "; add a check of them here, in " __FILE__;
}

}  // namespace lengthwise::oracle
