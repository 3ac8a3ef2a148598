import type { Concepts } from "./concepts.js";
import { gramsOf, normalise, TEXT_READ_MAX } from "./text.js";

/** What a card says in words of one capability. */
export interface CardText {
  name: string;
  description?: string | undefined;
  operation?: string | undefined;
  objectType?: string | undefined;
  tags?: readonly string[] | undefined;
  examples?: readonly string[] | undefined;
}

/** All texts of a card that count, its name first. */
export function textsOf(card: CardText): string[] {
  return [card.name, descriptionOf(card), ...(card.examples ?? [])]
    .filter((text) => text !== "")
    .map((text) => text.slice(0, TEXT_READ_MAX));
}

/** Where a card has no description, the words of its tags stand in; but not its name again, as of "skills" that are words. */
export function descriptionOf({ name, description = "", tags = [] }: CardText): string {
  if (description !== "") return description;
  const words = tags.map(normalise).filter((tag) => tag !== "" && tag !== normalise(name));
  return words.join(", ");
}

/** The sum of a card's texts, each as a vector of length 1, so that a long one does not drown the others. In normal form. */
export function prototypeOf(plain: readonly string[]): Map<number, number> {
  const sum = new Map<number, number>();
  for (const text of plain) {
    const weights = weightsOf(text);
    let squares = 0;
    for (const weight of weights.values()) squares += weight * weight;
    const length = Math.sqrt(squares);
    for (const [key, weight] of weights) sum.set(key, (sum.get(key) ?? 0) + weight / length);
  }
  return sum;
}

/** The pieces of one text. What is said twice counts more, but not twice. */
export function weightsOf(plain: string): Map<number, number> {
  const counts = gramsOf(plain);
  for (const [key, count] of counts) if (count > 1) counts.set(key, 1 + Math.log(count));
  return counts;
}

/** The concepts of a card's texts. */
export function conceptsOf(plain: readonly string[], concepts: Concepts): Map<number, number> {
  const sum = new Map<number, number>();
  for (const text of plain)
    for (const [concept, weight] of concepts.in(text)) sum.set(concept, (sum.get(concept) ?? 0) + weight);
  for (const [concept, weight] of sum) sum.set(concept, Math.log(1 + weight));
  return sum;
}

/** The mean direction of vectors of length 1 or 0. */
export function centroidOf(vectors: readonly Float32Array[], dims: number): Float32Array {
  const sum = new Float32Array(dims);
  for (const vector of vectors) for (let i = 0; i < dims; i++) sum[i] = sum[i]! + vector[i]!;
  let squares = 0;
  for (const x of sum) squares += x * x;
  if (squares > 0) for (let i = 0; i < dims; i++) sum[i] = sum[i]! / Math.sqrt(squares);
  return sum;
}

/** The cosine of two vectors of length 1; below zero counts as zero. */
export function cosineOf(a: Float32Array, b: Float32Array): number {
  // Four sums, since each addition would otherwise wait for the one before.
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  const { length } = a;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    sum0 += a[i]! * b[i]!;
    sum1 += a[i + 1]! * b[i + 1]!;
    sum2 += a[i + 2]! * b[i + 2]!;
    sum3 += a[i + 3]! * b[i + 3]!;
  }
  for (; i < length; i++) sum0 += a[i]! * b[i]!;
  return Math.max(sum0 + sum1 + sum2 + sum3, 0);
}
