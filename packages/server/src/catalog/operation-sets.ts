import { agreement, type Operation, type OperationReading, onlyLooks } from "./operations.js";

/** How strongly the operation counts: where the card names it, and where it is read from name and description. */
const POWER = { named: 0.45, read: 0.2 };

/** The few combinations of operations that cards have, so that a request is compared with each of them once. */
export class OperationSets {
  private readonly sets: { operations: readonly Operation[]; power: number }[] = [];
  private readonly places = new Map<string, number>();
  /** How much they count in this catalog, as a share of what they count usually. */
  strength = 1;

  /** The number of a combination. */
  of(operations: readonly Operation[], isNamed: boolean): number {
    const power = isNamed ? POWER.named : POWER.read;
    const key = `${power} ${operations.join(" ")}`;
    let at = this.places.get(key);
    if (at === undefined) {
      at = this.sets.push({ operations, power }) - 1;
      this.places.set(key, at);
    }
    return at;
  }

  /** What to multiply a score with, of each combination by its number. */
  factors(reading: OperationReading): number[] {
    return this.sets.map(({ operations, power }) => agreement(reading, operations) ** (power * this.strength));
  }

  onlyLooks(reading: OperationReading, set: number): boolean {
    return onlyLooks(reading, this.sets[set]!.operations);
  }
}
