import type { Considered } from "./decision.js";

/**
 * The wire's shape of a candidate as JSON text, the same that `describeCandidate` describes. Looking for somebody is the
 * commonest question of all, and most of its answer is known before it is asked.
 */
export function candidateText(c: Considered, reasonsJson: string): string {
  const { instance, capability, addressJson, capabilityJson } = c.offer;
  const version = capability.version === undefined ? "" : `,"version":${JSON.stringify(capability.version)}`;
  const p50 = c.p50 === undefined ? "" : `,"p50Ms":${numberText(c.p50 / 1000)}`;
  const success = c.success === undefined ? "" : `,"successRate":${numberText(c.success / 1000)}`;
  const said = instance.facts === undefined ? "" : `,"selfReported":${JSON.stringify(instance.facts)}`;
  return (
    `{${addressJson},"capability":${capabilityJson}${version},"match":${numberText(c.match)}` +
    `,"score":${numberText(c.score / 1000)},"reasons":${reasonsJson},"facts":{"state":"${c.state}"${p50}${success}` +
    `,"running":${c.running},"queued":${c.queued},"load":${numberText(c.load / 1000)}` +
    `,"costTier":"${c.offer.costTier}","health":${numberText(c.health / 1000)}${said}}}`
  );
}

/** JSON knows no infinity. */
function numberText(n: number): string {
  return Number.isFinite(n) ? String(n) : "null";
}
