import type { Verdict } from "@agent-reach/protocol";

/** Why a candidate was not taken, to be read after its name. A verdict of a newer node is said as it is. */
const words: Readonly<Record<Verdict, string>> = {
  chosen: "was chosen",
  lower_score: "scored lower",
  offline: "is offline",
  suspect: "is suspect: its heartbeats or its connection are missing",
  draining: "is draining: it takes no new work",
  breaker_open: "failed too often lately, so its breaker is open",
  full: "is full: it runs as many tasks as it may",
  policy: "is not allowed by policy",
  health: "is not healthy enough",
  version: "has no version that was asked for",
  label: "lacks a label that was asked for",
  cool_down: "is cooling down after it came and went too often",
  not_matched: "does not offer what was asked for",
};

export function explainVerdict(verdict: string): string {
  return Object.hasOwn(words, verdict) ? words[verdict as Verdict] : verdict.replaceAll("_", " ");
}
