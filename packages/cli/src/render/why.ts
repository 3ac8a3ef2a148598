import type { Decision } from "@agent-reach/protocol";
import { shortId } from "./id.js";
import type { Paint } from "./paint.js";
import { explainVerdict } from "./verdict.js";

type Considered = Decision["candidates"][number];

/** What became of the attempts, as far as it is known: by number. */
export type AttemptOutcomes = ReadonlyMap<number, string>;

const leftOutMax = 5;

/** ROUTE-7: one paragraph per attempt, in sentences: what was asked, who was chosen and why, who was left out and why. */
export function renderWhy(decisions: readonly Decision[], outcomes: AttemptOutcomes, paint: Paint): string {
  if (decisions.length === 0)
    return "No decision about this message is kept: it was never routed, or it is too long ago.\n";
  return [...decisions]
    .sort((a, b) => a.attempt - b.attempt || Date.parse(a.at) - Date.parse(b.at))
    .map((decision, index, all) => `${explainDecision(decision, all[index - 1], outcomes, paint)}\n`)
    .join("");
}

export function explainDecision(
  decision: Decision,
  previous: Decision | undefined,
  outcomes: AttemptOutcomes,
  paint: Paint,
): string {
  const sentences = [`${paint.strong(`Attempt ${decision.attempt}`)}: ${choice(decision, previous, paint)}.`];
  const others = leftOut(decision);
  if (others !== "") sentences.push(others);
  const outcome = outcomes.get(decision.attempt);
  if (outcome !== undefined && outcome !== "pending") sentences.push(`It ended: ${outcome.replaceAll("_", " ")}.`);
  return sentences.join(" ");
}

function choice(decision: Decision, previous: Decision | undefined, paint: Paint): string {
  const asked = askedFor(decision.request);
  const chosen = decision.candidates.find((each) => each.verdict === "chosen");
  if (chosen === undefined) {
    const agentId = decision.chosen?.agentId;
    return agentId === undefined ? `nobody could take ${asked}` : `${paint.name(agentId)} was chosen for ${asked}`;
  }
  const whom = `${paint.name(chosen.agentId)} (${shortId(chosen.instanceId)})`;
  return `${whom} was chosen for ${asked}${changed(chosen, decision, previous)}, ${reason(chosen, decision)}`;
}

/** With one able candidate there was no choice; with more, the facts that made its score. */
function reason(chosen: Considered, { attempt, candidates, probe, panic }: Decision): string {
  const rivals = candidates.filter((each) => each.verdict === "lower_score");
  const found = chosen.reasons.length === 0 ? "" : ` (found by ${chosen.reasons.join(", ")})`;
  if (probe === true) return `as a probe of whether it is well again${found}`;
  if (panic === true) {
    const { successRate = 0 } = chosen.facts;
    return `though only ${Math.round(successRate * 100)}% of its recent attempts succeeded, since nobody better is able${found}`;
  }
  if (rivals.length === 0) return `the only one able to${found}`;
  const { p50Ms, successRate, load, costTier } = chosen.facts;
  const facts = [
    p50Ms === undefined ? undefined : `p50 ${Math.round(p50Ms)} ms`,
    successRate === undefined ? undefined : `${Math.round(successRate * 100)}% success`,
    `load ${Math.round(load * 100)}%`,
    `cost ${costTier}`,
  ].filter((fact) => fact !== undefined);
  const how = attempt > 1 ? "as the least loaded of" : `with the best score of ${chosen.score.toFixed(3)} among`;
  return `${how} ${rivals.length + 1}${found}: ${facts.join(", ")}`;
}

/** What the attempt before ended in, and why another instance has it now. */
function changed(chosen: Considered, { previous: told }: Decision, previous: Decision | undefined): string {
  if (told !== undefined) {
    const { attempt, agentId, instanceId, outcome, code, verdict } = told;
    const ended = `attempt ${attempt} ended as ${outcome.replaceAll("_", " ")}${code === undefined ? "" : ` (${code})`}`;
    if (told.moved !== true) return `, the same instance as before, after ${ended}`;
    const why = verdict === undefined ? "no longer offers it" : becauseOf(verdict);
    return `, another instance than before: ${ended}, and ${agentId} (${shortId(instanceId)}) ${why}`;
  }
  const before =
    previous?.candidates.find((each) => each.verdict === "chosen")?.instanceId ?? previous?.chosen?.instanceId;
  if (before === undefined) return "";
  return before === chosen.instanceId ? ", the same instance as before" : ", another instance than before";
}

function leftOut({ candidates, omitted }: Decision): string {
  const others = candidates.filter((each) => each.verdict !== "chosen");
  if (others.length === 0) return "";
  const said = others
    .slice(0, leftOutMax)
    .map((each) => `${each.agentId} (${shortId(each.instanceId)}) ${explanationOf(each)}`);
  const more = others.length - said.length + (omitted ?? 0);
  if (more > 0) said.push(`${more} more were left out`);
  return `${said.join("; ")}.`;
}

/** An instance that a message has been to already is passed over; that is not the rest that an agent asks for. */
const becauseOf = (verdict: string): string => {
  if (verdict === "cool_down") return "is passed over";
  return verdict === "lower_score" ? "was not preferred" : explainVerdict(verdict);
};

const explanationOf = (candidate: Considered): string =>
  candidate.verdict === "lower_score" ? `scored ${candidate.score.toFixed(3)}` : explainVerdict(candidate.verdict);

function askedFor(request: Readonly<Record<string, unknown>>): string {
  const { capability, intent, target } = request as {
    capability?: unknown;
    intent?: unknown;
    target?: { agentId?: unknown };
  };
  if (typeof capability === "string") return capability;
  if (typeof intent === "string") return `"${intent}"`;
  return typeof target?.agentId === "string" ? `the capability of ${target.agentId}` : "this message";
}

/** The same question from the other side: what kept this agent from getting this message. */
export function explainWhyNot(agentId: string, decisions: readonly Decision[]): string | undefined {
  const newest = [...decisions].sort((a, b) => b.attempt - a.attempt);
  for (const decision of newest) {
    const own = decision.candidates.filter((each) => each.agentId === agentId);
    const best =
      own.find((each) => each.verdict === "chosen") ?? own.find((each) => each.verdict === "lower_score") ?? own[0];
    if (best === undefined) continue;
    if (best.verdict === "chosen") return `${agentId} was chosen, in attempt ${decision.attempt}.`;
    const chosen = decision.candidates.find((each) => each.verdict === "chosen");
    const winner =
      chosen === undefined ? "nobody was chosen" : `${chosen.agentId} was chosen with ${chosen.score.toFixed(3)}`;
    return `${agentId} was not chosen in attempt ${decision.attempt}: it ${explanationOf(best)}; ${winner}.`;
  }
  return undefined;
}
