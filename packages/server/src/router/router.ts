import type { Verdict } from "@agent-reach/protocol";
import { satisfies } from "semver";
import type { Resolved } from "../catalog/found.js";
import type { MessageLog } from "../journal/journal.js";
import type { System } from "../ports/system.js";
import type { LiveInstance, Offer } from "../registry/instance.js";
import { Affinity } from "./affinity.js";
import { admits } from "./breaker.js";
import { Breakers } from "./breakers.js";
import { type Considered, Decision, LISTED_MAX, thousandths } from "./decision.js";
import { ownerOf } from "./partition.js";
import { nearTo, score, shareOf, type Weights, weightsOf } from "./score.js";

/** What a message demands of whoever gets it, beyond the capability. */
export interface Demands {
  version?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  resources?: Readonly<Record<string, unknown>> | undefined;
  weights?: unknown;
  maxLatencyMs?: number | undefined;
  sessionRef?: string | undefined;
  partitionKey?: string | undefined;
  /** Nothing comes of the decision, so nothing is remembered of it. */
  dryRun?: boolean | undefined;
}

export interface RouterSettings {
  weights: Weights;
  healthMin: number;
}

export interface BreakerSettings {
  enabled: boolean;
}

/** Assumed where nothing at all was measured in a group, ms: neither better nor worse than a fast agent. */
const UNMEASURED_P50_MS = 500;
/** How long the share of a new or returned instance grows (ROUTE-11), and from what part of it on, which is Envoy's default. */
const SLOW_START_MS = 30_000;
const SLOW_START_LEAST = 0.1;

/**
 * Who should do it. Looks at every offer of the resolved capability, leaves out with a reason who cannot, and chooses
 * among the best at random by weight. It also keeps the breakers, since what became of attempts decides who gets the next.
 */
export class Router {
  readonly breakers: Breakers;
  private readonly affinity = new Affinity();

  constructor(
    private readonly system: System,
    private readonly settings: RouterSettings,
    breaker: BreakerSettings = { enabled: true },
  ) {
    this.breakers = new Breakers(system, breaker.enabled);
  }

  /** How many sessions have a home. */
  get sessions(): number {
    return this.affinity.size;
  }

  decide(
    resolved: Resolved,
    demands: Demands,
    request: Record<string, unknown> | undefined,
    log: MessageLog,
    attempt: number,
    excluded?: ReadonlySet<string>,
    preferred?: (offer: Offer) => boolean,
  ): Decision {
    const { system } = this;
    const now = system.monotonic();
    const decision = new Decision(log, attempt, system.now() - log.startedAt, request, resolved.reasons);
    const all = this.consider(resolved, demands, now, excluded);
    decision.panic = this.panics(all);
    const { sessionRef, partitionKey } = demands;
    const owner = partitionKey === undefined ? undefined : ownerOf(partitionKey, all);
    const home = owner ?? (sessionRef === undefined ? undefined : this.affinity.homeAmong(sessionRef, all));
    const stays = home !== undefined && (home === owner || preferred?.(home.offer) !== false);
    if (stays && home.verdict === "full") decision.waitsFor = home.offer.instance;
    const chosen = !stays ? this.choose(all, attempt, preferred) : home.verdict === "full" ? undefined : home;
    if (chosen !== undefined) {
      chosen.verdict = "chosen";
      decision.chosen = chosen.offer;
      decision.probe = isProbed(chosen.offer);
      if (sessionRef !== undefined && demands.dryRun !== true) this.affinity.keep(sessionRef, chosen.offer.instance);
    }
    decision.list(all, chosen);
    decision.took = thousandths(system.monotonic() - now);
    return decision;
  }

  /** Everybody who offers it, each with a verdict: `lower_score` for the able ones, else what stands against them. */
  consider(resolved: Resolved, demands: Demands, now: number, excluded?: ReadonlySet<string>): Considered[] {
    const weights = weightsOf(demands.weights, this.settings.weights);
    const { offers, gone, match } = resolved;
    // One of a kind is the usual case; a literal array of one is a sixth of what `push` would set aside.
    if (offers.length === 1 && gone.length === 0)
      return [this.look(offers[0]!, match, weights, demands, now, excluded)];
    const all: Considered[] = [];
    for (const offer of offers) all.push(this.look(offer, match, weights, demands, now, excluded));
    this.scoreByMedian(all, weights);
    for (const offer of gone) {
      if (all.length >= LISTED_MAX && all.length > offers.length) break;
      all.push({
        offer,
        verdict: "offline",
        match,
        score: 0,
        p50: undefined,
        success: undefined,
        load: 0,
        health: 0,
        running: 0,
        queued: 0,
        state: "offline",
      });
    }
    return all;
  }

  private look(
    offer: Offer,
    match: number,
    weights: Weights,
    demands: Demands,
    now: number,
    excluded: ReadonlySet<string> | undefined,
  ): Considered {
    const { instance } = offer;
    const p50Ms = offer.measured.p50Ms();
    const successRate = offer.measured.successRate(now);
    const measuredLoad = instance.loadScore(now);
    // Until enough was measured the agent's own word stands in, where it gave one (LIVE-11).
    const expectedMs = successRate === undefined ? (instance.said.p50Ms ?? p50Ms) : p50Ms;
    const expectedRate = successRate ?? instance.said.successRate ?? 1;
    const load = successRate === undefined ? Math.max(measuredLoad, instance.said.load ?? 0) : measuredLoad;
    const itself = instance.healthScore();
    const health = itself * (successRate ?? 1);
    return {
      offer,
      // A probe is there to find out whether the outcomes so far still hold.
      verdict: this.verdictOn(offer, demands, now, isProbed(offer) ? itself : health, expectedMs, excluded),
      match,
      score: thousandths(score(weights, expectedMs ?? UNMEASURED_P50_MS, expectedRate, offer.costTier, load)),
      p50: p50Ms === undefined ? undefined : thousandths(p50Ms),
      success: successRate === undefined ? undefined : thousandths(successRate),
      load: thousandths(load),
      health: thousandths(health),
      running: instance.running,
      queued: instance.selfQueued,
      state: instance.record.state,
    };
  }

  /**
   * Panic routing, after Envoy's panic threshold: where everybody able has bad outcomes lately, these tell nobody apart, and to
   * leave all of them out would make an outage of a fault. Then whoever is well by its own word and its probe may get it; one
   * that fails most of the time is for its breaker to stop. Nobody panics while somebody better is only full.
   */
  private panics(all: readonly Considered[]): boolean {
    let held = false;
    for (const { verdict, offer } of all) {
      if (verdict === "lower_score" || verdict === "full") return false;
      if (verdict === "health" && this.isWellItself(offer)) held = true;
    }
    if (!held) return false;
    for (const c of all)
      if (c.verdict === "health" && this.isWellItself(c.offer))
        c.verdict = c.offer.instance.room > 0 ? "lower_score" : "full";
    return true;
  }

  private isWellItself({ instance }: Offer): boolean {
    return instance.healthScore() >= this.settings.healthMin;
  }

  /** Whoever has not been measured starts from the group's median (ROUTE-2). */
  private scoreByMedian(all: Considered[], weights: Weights): void {
    const measured = all
      .filter((c) => c.p50 !== undefined)
      .map((c) => c.p50!)
      .sort((a, b) => a - b);
    if (measured.length === 0 || measured.length === all.length) return;
    const medianMs = measured[measured.length >> 1]! / 1000;
    for (const c of all) {
      const { said } = c.offer.instance;
      if (c.p50 !== undefined || said.p50Ms !== undefined) continue;
      const successRate = c.success === undefined ? (said.successRate ?? 1) : c.success / 1000;
      c.score = thousandths(score(weights, medianMs, successRate, c.offer.costTier, c.load / 1000));
    }
  }

  private verdictOn(
    offer: Offer,
    demands: Demands,
    now: number,
    health: number,
    p50Ms: number | undefined,
    excluded: ReadonlySet<string> | undefined,
  ): Verdict {
    const { instance, capability } = offer;
    const { state } = instance.record;
    if (state !== "online") return state;
    if (instance.link === undefined) return "suspect";
    if (demands.version !== undefined && !matchesVersion(capability.version, demands.version)) return "version";
    if (capability.weight === 0 && demands.version === undefined) return "version";
    if (demands.labels !== undefined && !hasLabels(instance, offer, demands.labels)) return "label";
    if (demands.resources !== undefined && !hasResources(instance, demands.resources)) return "label";
    if (demands.maxLatencyMs !== undefined && p50Ms !== undefined && p50Ms > demands.maxLatencyMs) return "not_matched";
    if (excluded?.has(instance.record.instanceId) || instance.coolDownUntil > now) return "cool_down";
    if (!admits(offer.breaker, now)) return "breaker_open";
    if (health < this.settings.healthMin) return "health";
    if (instance.room <= 0) return "full";
    return "lower_score";
  }

  private choose(
    all: Considered[],
    attempt: number,
    preferred: ((offer: Offer) => boolean) | undefined,
  ): Considered | undefined {
    if (all.length === 1) return all[0]!.verdict === "lower_score" ? all[0] : undefined;
    const able = all.filter((c) => c.verdict === "lower_score");
    const fit = preferred === undefined ? able : preferOf(able, (c) => preferred(c.offer));
    if (attempt > 1) return leastLoaded(preferOf(fit, (c) => !isProbed(c.offer)));
    // By its score one that failed of late would not be chosen for long, and nobody would know that it is well again.
    return fit.find((c) => isProbed(c.offer)) ?? this.draw(fit);
  }

  /** At random by weight among those who are about as good as the best. */
  private draw(able: Considered[]): Considered | undefined {
    if (able.length <= 1) return able[0];
    let best = Number.NEGATIVE_INFINITY;
    for (const c of able) if (c.score > best) best = c.score;
    const floor = nearTo(best);
    let total = 0;
    const now = this.system.now();
    for (const c of able) if (c.score >= floor) total += chanceOf(c, best, now);
    // Traffic that is pinned to versions of weight 0 is spread evenly.
    if (total === 0) {
      const near = able.filter((c) => c.score >= floor);
      return near[Math.floor(this.system.random() * near.length)];
    }
    let ticket = this.system.random() * total;
    let last: Considered | undefined;
    for (const c of able) {
      if (c.score < floor) continue;
      last = c;
      ticket -= chanceOf(c, best, now);
      if (ticket <= 0) return c;
    }
    return last;
  }
}

/**
 * Less for whoever has just come (ROUTE-11), since caches are cold then and much is compiled. What an agent does for others, as
 * it says, takes its room as well. `now`: wall ms.
 */
function chanceOf({ offer: { capability, instance }, score }: Considered, best: number, now: number): number {
  const { capacity, record, running, otherRunning } = instance;
  const room = 1 - (running + otherRunning) / capacity;
  const age = now - record.since;
  // A clock that went back says nothing about age.
  const warm = age >= SLOW_START_MS || age < 0 ? 1 : Math.max(SLOW_START_LEAST, age / SLOW_START_MS);
  return shareOf((capability.weight ?? 100) * warm, room, score, best);
}

function preferOf(able: Considered[], preferred: (c: Considered) => boolean): Considered[] {
  const first = able.filter(preferred);
  return first.length > 0 ? first : able;
}

/** Whoever gets something now gets it as a probe. */
function isProbed({ breaker }: Offer): boolean {
  return breaker.state === "half_open";
}

/** RES-2: what went wrong once goes where there is most room, and not by chance into the next queue. */
function leastLoaded(able: readonly Considered[]): Considered | undefined {
  let least = able[0];
  for (const c of able) if (c.load < least!.load || (c.load === least!.load && c.score > least!.score)) least = c;
  return least;
}

function matchesVersion(has: string | undefined, wanted: string): boolean {
  return has !== undefined && (has === wanted || satisfies(has, wanted, { loose: true }));
}

function hasLabels(instance: LiveInstance, offer: Offer, wanted: Readonly<Record<string, string>>): boolean {
  for (const [key, value] of Object.entries(wanted)) {
    if ((offer.capability.labels?.[key] ?? instance.card.labels?.[key]) !== value) return false;
  }
  return true;
}

/** A number asks for at least as much; anything else for the same. */
function hasResources(instance: LiveInstance, wanted: Readonly<Record<string, unknown>>): boolean {
  const has = instance.card.resources ?? {};
  return Object.entries(wanted).every(([key, value]) =>
    typeof value === "number" ? typeof has[key] === "number" && (has[key] as number) >= value : has[key] === value,
  );
}
