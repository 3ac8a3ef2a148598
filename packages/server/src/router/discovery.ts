import type { Discovery, Params, Verdict } from "@agent-reach/protocol";
import { ReachError } from "@agent-reach/protocol";
import type { Catalog } from "../catalog/catalog.js";
import type { Resolved } from "../catalog/found.js";
import type { System } from "../ports/system.js";
import { candidateText } from "./candidate-text.js";
import type { Considered } from "./decision.js";
import type { Router } from "./router.js";

/** Capabilities that compete in one answer: the best by match; all their able instances count (ROUTE-2). */
const CAPABILITIES_MAX = 3;
const MISSES_MAX = 10;
const TOP_K = 3;

type Looked = Parameters<Catalog["find"]>[0];

/** Answers `discover`, as JSON text: who can do it now, with the facts to choose by; and if nobody, why (CAT-6, CAT-8). */
export class Discoverer {
  constructor(
    private readonly catalog: Catalog,
    private readonly router: Router,
    private readonly system: System,
  ) {}

  /** A promise only where reading the words takes longer than a look into the index. */
  discover(tenant: string, query: Params<"discover">): string | Promise<string> {
    const { capability, agentId, intent, tags, matching } = query;
    if (
      capability === undefined &&
      agentId === undefined &&
      intent === undefined &&
      (tags === undefined || tags.length === 0)
    ) {
      throw new ReachError(
        "INVALID_REQUEST",
        "nothing is looked for: give a capability, tags, an intent or an agentId.",
        { path: "capability" },
      );
    }
    const wanted = { tenant, capability, agentId, intent, tags };
    const reading = this.catalog.consult(wanted, { isLocal: matching === "local" });
    if (reading === undefined) return this.answer(wanted, query);
    return reading.then((advice) => this.answer({ ...wanted, advice }, query));
  }

  private answer(
    wanted: Looked,
    { labels, resources, version, weights, maxLatencyMs, input, topK }: Params<"discover">,
  ): string {
    const { capability, intent, tags } = wanted;
    const decisionId = this.system.newId();
    const { verdict, resolved: found, behind = [], nearest, fit, notes } = this.catalog.find(wanted);
    const said = { decisionId, fit, notes };
    if (found.length === 0) {
      const near = nearest ?? this.catalog.misses(capability ?? intent ?? (tags ?? []).join(" "));
      const misses = near.map((m) => ({ ...m, why: "not_matched" as Verdict }));
      return answer("", "no_match", misses, said);
    }
    if (verdict === "ambiguous") {
      const misses = found.slice(0, CAPABILITIES_MAX).flatMap((r) => this.missOf(r));
      return answer("", "ambiguous", misses, said);
    }
    const demands = { version, labels, resources, weights, maxLatencyMs };
    const now = this.system.monotonic();
    const able: { considered: Considered; reasons: readonly string[] }[] = [];
    const misses: Discovery["misses"] = [];
    for (const resolved of found.slice(0, CAPABILITIES_MAX)) {
      for (const considered of this.router.consider(resolved, demands, now)) {
        const violation = input === undefined ? undefined : considered.offer.contract.checkInput?.(input);
        // A full instance is able, only not at once: whoever looks may well want to wait for it.
        const fine = (considered.verdict === "lower_score" || considered.verdict === "full") && violation === undefined;
        if (fine) able.push({ considered, reasons: resolved.reasons });
        else if (misses.length < MISSES_MAX) {
          const { agentId, instanceId } = considered.offer.instance.record;
          misses.push({
            agentId,
            instanceId,
            capability: resolved.name,
            match: resolved.match,
            why: violation === undefined ? considered.verdict : "not_matched",
          });
        }
      }
    }
    for (const resolved of behind) misses.push(...this.missOf(resolved));
    const candidates = topOf(able, topK ?? TOP_K).map(({ considered, reasons }) =>
      candidateText(considered, JSON.stringify(reasons)),
    );
    return answer(candidates.join(","), able.length > 0 ? "match" : "unavailable", misses, said);
  }

  private missOf(resolved: Resolved): Discovery["misses"] {
    const offer = resolved.offers[0] ?? resolved.gone[0];
    return offer === undefined
      ? []
      : [
          {
            agentId: offer.instance.record.agentId,
            capability: resolved.name,
            match: resolved.match,
            why: "not_matched",
          },
        ];
  }
}

function answer(
  candidates: string,
  verdict: Discovery["verdict"],
  misses: Discovery["misses"],
  { decisionId, fit, notes }: { decisionId: string; fit: number | undefined; notes: readonly string[] | undefined },
): string {
  const missed = misses.length === 0 ? "[]" : JSON.stringify(misses);
  const fits = fit === undefined ? "" : `,"fit":${fit.toFixed(4)}`;
  const told = notes === undefined || notes.length === 0 ? "" : `,"notes":${JSON.stringify(notes)}`;
  return `{"candidates":[${candidates}],"verdict":"${verdict}","misses":${missed}${fits}${told},"decisionId":"${decisionId}"}`;
}

/** The k best by score, in order, without sorting all of a large group. */
function topOf<T extends { considered: Considered }>(all: T[], k: number): T[] {
  if (all.length <= k * 4) return all.sort(byScore).slice(0, k);
  const best: T[] = [];
  for (const each of all) {
    if (best.length === k && each.considered.score <= best[k - 1]!.considered.score) continue;
    best.push(each);
    best.sort(byScore);
    if (best.length > k) best.pop();
  }
  return best;
}

function byScore(a: { considered: Considered }, b: { considered: Considered }): number {
  return b.considered.match - a.considered.match || b.considered.score - a.considered.score;
}
