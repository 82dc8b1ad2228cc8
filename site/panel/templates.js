// Mechanisms to begin with. Each has a bug to find, which stands where its mend belongs.

/** @typedef {"javascript" | "python"} Language */

/** @typedef {typeof templates[number]} Template */

/**
 * texts: of the form's fields, where the others get their defaults; hint: where to look; fault: what is wrong;
 * in: in each language the code, the part of it that is wrong, and what belongs there.
 */
export const templates = [
  {
    name: "noisy count", texts: {},
    hint: "By how much can one person change the count, and how much noise does that take?",
    fault: "One person changes the count by 1, so epsilon = 1 takes Laplace noise of scale 1 / epsilon. The scale is 0.6 / epsilon: enough for epsilon = 1.67 only.",
    in: {
      javascript: [`// How many people said yes, with Laplace noise.
// Claim: epsilon = 1
const epsilon = 1;

function mechanism(rows, random) {
  let count = 0;
  for (const row of rows)
    if (row[0] > 0.5) count++;
  const scale = 0.6 / epsilon;
  return count + random.laplace(scale);
}
`, "0.6 / epsilon", "1 / epsilon"],
      python: [`# How many people said yes, with Laplace noise.
# Claim: epsilon = 1
epsilon = 1.0

def mechanism(rows, random):
    count = 0
    for row in rows:
        if row[0] > 0.5:
            count += 1
    scale = 0.6 / epsilon
    return count + random.laplace(scale)
`, "0.6 / epsilon", "1.0 / epsilon"],
    },
  },
  {
    name: "mean", texts: { domain: "0:3", relation: "replace" },
    hint: "The noise assumes values from 0 to 1. Which values do the rows hold?",
    fault: "Nothing keeps the values in the range from 0 to 1 that the noise assumes. A row may hold 3 and move the mean by 3 / n. Clamp each value before adding it.",
    in: {
      javascript: [`// The mean of values from 0 to 1. The number of rows is public.
// Claim: epsilon = 1
const epsilon = 1;

function mechanism(rows, random) {
  const n = rows.length;
  let sum = 0;
  for (const row of rows) {
    const value = row[0];
    sum += value;
  }
  return sum / n + random.laplace(1 / (n * epsilon));
}
`, "value = row[0]", "value = Math.min(1, row[0])"],
      python: [`# The mean of values from 0 to 1. The number of rows is public.
# Claim: epsilon = 1
epsilon = 1.0

def mechanism(rows, random):
    n = len(rows)
    total = 0.0
    for row in rows:
        value = row[0]
        total += value
    return total / n + random.laplace(1 / (n * epsilon))
`, "value = row[0]", "value = min(1.0, row[0])"],
    },
  },
  {
    name: "randomised response", texts: { rows: "1", relation: "replace", integer: "true" },
    hint: "How likely is the true answer overall? The second coin may show it too.",
    fault: "Whoever does not tell the truth flips a fair coin, which shows the truth half of the time. So the answer is true with probability (1 + p) / 2, which is epsilon = 1.86. Return the other answer there.",
    in: {
      javascript: [`// One person's answer to a yes-or-no question: the truth with probability p.
// Claim: epsilon = 1
const epsilon = 1;
const p = Math.exp(epsilon) / (1 + Math.exp(epsilon));

function mechanism(rows, random) {
  const truth = rows[0][0];
  if (random.uniform() < p) return truth;
  return random.integer(2);
}
`, "return random.integer(2)", "return 1 - truth"],
      python: [`# One person's answer to a yes-or-no question: the truth with probability p.
# Claim: epsilon = 1
import math

epsilon = 1.0
p = math.exp(epsilon) / (1 + math.exp(epsilon))

def mechanism(rows, random):
    truth = rows[0][0]
    if random.uniform() < p:
        return truth
    return random.integer(2)
`, "return random.integer(2)", "return 1 - truth"],
    },
  },
  {
    name: "report noisy max", texts: { rows: "8", relation: "l-infinity", samples: "20000" },
    hint: "The proof of this mechanism is about which count is the largest. What does this one release?",
    fault: "It releases the largest noisy count, not its index. One person moves all eight counts, and all eight hide behind their maximum: that is epsilon = 4. Return the index.",
    in: {
      javascript: [`// Which of eight counts is the largest? A row is a count; one person may change
// each of them by 1.
// Claim: epsilon = 1
const epsilon = 1;

function mechanism(rows, random) {
  const noisy = rows.map((row) => row[0] + random.laplace(2 / epsilon));
  const largest = Math.max(...noisy);
  return largest;
}
`, "return largest", "return noisy.indexOf(largest)"],
      python: [`# Which of eight counts is the largest? A row is a count; one person may change
# each of them by 1.
# Claim: epsilon = 1
epsilon = 1.0

def mechanism(rows, random):
    noisy = [row[0] + random.laplace(2 / epsilon) for row in rows]
    largest = max(noisy)
    return largest
`, "return largest", "return noisy.index(largest)"],
    },
  },
  {
    name: "sparse vector", texts: { rows: "5", relation: "l-infinity", domain: "-2:2" },
    hint: "How often is noise drawn, and how often does the proof require it?",
    fault: "All answers get the same noise, drawn once above the loop. The first answer above the threshold then shows which answers are larger than those before it. Each answer needs noise of its own.",
    in: {
      javascript: [`// Which of five answers is the first above 0? A row is an answer; one person may
// change each of them by 1. -1: none is.
// Claim: epsilon = 1
const epsilon = 1;

function mechanism(rows, random) {
  const threshold = 0 + random.laplace(2 / epsilon);
  const noise = random.laplace(4 / epsilon);
  for (let i = 0; i < rows.length; i++)
    if (rows[i][0] + noise > threshold) return i;
  return -1;
}
`, "rows[i][0] + noise", "rows[i][0] + random.laplace(4 / epsilon)"],
      python: [`# Which of five answers is the first above 0? A row is an answer; one person may
# change each of them by 1. -1: none is.
# Claim: epsilon = 1
epsilon = 1.0

def mechanism(rows, random):
    threshold = 0 + random.laplace(2 / epsilon)
    noise = random.laplace(4 / epsilon)
    for i in range(len(rows)):
        if rows[i][0] + noise > threshold:
            return i
    return -1
`, "rows[i][0] + noise", "rows[i][0] + random.laplace(4 / epsilon)"],
    },
  },
];

/** The template that a text is, unchanged. @param {string} code */
export const templateOf = (code) => templates.find((t) => Object.values(t.in).some(([text]) => text === code)) ?? null;
