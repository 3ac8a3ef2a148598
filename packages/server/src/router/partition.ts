import { hashOf } from "../collections/hash-index.js";
import type { Considered } from "./decision.js";

/**
 * Whose a `partitionKey` is, among those who may take the message now or could but for being full (ROUTE-11): the highest of
 * everybody's random weights for this key, which is rendezvous hashing (Thaler & Ravishankar 1998), by weight as
 * −w / ln u (Schindelhauer & Schomaker 2005). When somebody comes or goes, only keys of his are moved.
 */
export function ownerOf(key: string, all: readonly Considered[]): Considered | undefined {
  let owner: Considered | undefined;
  let highest = Number.NEGATIVE_INFINITY;
  for (const each of all) {
    if (each.verdict !== "lower_score" && each.verdict !== "full") continue;
    const rank = rankOf(key, each.offer.instance.record.instanceId, each.offer.capability.weight ?? 100);
    if (rank <= highest) continue;
    highest = rank;
    owner = each;
  }
  return owner;
}

/** Of several whose weight is nothing the keys are shared evenly; beside any other weight it is next to none. */
const WEIGHT_LEAST = 1e-6;

/** A share of keys that grows with the weight. */
export function rankOf(key: string, instanceId: string, weight: number): number {
  // Between 0 and 1, and neither.
  const chance = (mixed(hashOf(key) ^ Math.imul(hashOf(instanceId), 0x9e3779b1)) + 0.5) / 0x1_0000_0000;
  return -Math.max(weight, WEIGHT_LEAST) / Math.log(chance);
}

/** Every bit of the hash depends on every bit of the number: the last step of MurmurHash3 (Appleby 2011). */
function mixed(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
