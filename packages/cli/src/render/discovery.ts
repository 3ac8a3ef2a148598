import type { Candidate, Discovery } from "@agent-reach/protocol";
import { type Paint, paintState } from "./paint.js";
import { renderTable } from "./table.js";
import { explainVerdict } from "./verdict.js";

const summary: Readonly<Record<Discovery["verdict"], string>> = {
  match: "",
  ambiguous: "Several capabilities fit about equally well; name one with --capability.",
  no_match: "Nobody offers this.",
  unavailable: "Somebody offers this, but nobody is able right now.",
};

/** `explain` adds what is known of each candidate, and who was left out and why. */
export function renderDiscovery(discovery: Discovery, options: { explain: boolean }, paint: Paint): string {
  const parts: string[] = [];
  if (summary[discovery.verdict] !== "") parts.push(`${paint.doubt(summary[discovery.verdict])}\n`);
  if (discovery.candidates.length > 0)
    parts.push(options.explain ? explained(discovery.candidates, paint) : short(discovery.candidates, paint));
  if (discovery.misses.length > 0 && (options.explain || discovery.candidates.length === 0))
    parts.push(leftOut(discovery, paint));
  if (discovery.notes !== undefined) parts.push(`${discovery.notes.map((note) => paint.dim(note)).join("\n")}\n`);
  return parts.join("\n");
}

function short(candidates: readonly Candidate[], paint: Paint): string {
  const rows = candidates.map((each) => [
    paint.name(each.agentId),
    each.capability,
    paintState(each.facts.state, paint),
    percent(each.match),
    each.score.toFixed(2),
    each.reasons.join(", "),
  ]);
  return renderTable(["AGENT", "CAPABILITY", "STATE", "MATCH", "SCORE", "BECAUSE"], rows, paint);
}

function explained(candidates: readonly Candidate[], paint: Paint): string {
  const rows = candidates.map((each) => [
    paint.name(each.agentId),
    each.instanceId,
    [each.capability, each.version].filter(Boolean).join("@"),
    percent(each.match),
    each.score.toFixed(2),
    each.facts.p50Ms === undefined ? "-" : `${Math.round(each.facts.p50Ms)} ms`,
    each.facts.successRate === undefined ? "-" : percent(each.facts.successRate),
    `${each.facts.running}/${each.facts.queued}`,
    percent(each.facts.load),
    each.facts.costTier,
    each.facts.health.toFixed(2),
    each.reasons.join(", "),
  ]);
  const head = [
    "AGENT",
    "INSTANCE",
    "CAPABILITY",
    "MATCH",
    "SCORE",
    "P50",
    "SUCCESS",
    "RUNNING/QUEUED",
    "LOAD",
    "COST",
    "HEALTH",
    "BECAUSE",
  ];
  return renderTable(head, rows, paint);
}

function leftOut({ misses }: Discovery, paint: Paint): string {
  const rows = misses.map((miss) => [
    paint.name(miss.agentId),
    miss.capability,
    percent(miss.match),
    miss.why === undefined ? "does not fit well enough" : explainVerdict(miss.why),
  ]);
  return renderTable(["LEFT OUT", "CAPABILITY", "MATCH", "WHY"], rows, paint);
}

const percent = (share: number): string => `${Math.round(share * 100)}%`;
