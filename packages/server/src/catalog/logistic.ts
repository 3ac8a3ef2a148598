/** Logistic regression that starts from what is known elsewhere and moves as far as its rows are worth. Pure. */

export interface Row {
  /** As many numbers as there are coefficients; a 1 where there is an intercept. */
  readonly x: readonly number[];
  readonly y: boolean;
  readonly weight: number;
}

export interface Prior {
  readonly coefficients: readonly number[];
  /** How many rows the prior is worth. */
  readonly worth: number;
  /** So many of the first coefficients may be negative; of the others none is, nor are they in the prior. */
  readonly signed: number;
}

/** Newton steps: the loss is convex and the prior keeps it curved, so that it stands still after five to ten. */
const STEPS = 25;
const STILL = 1e-6;

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/**
 * The coefficients that maximise the likelihood of the rows under a normal prior; without rows, the prior's. An unsigned
 * coefficient that would come out negative is 0, and the others are fitted without it: what speaks for something must not
 * speak against it because a sample was small.
 */
export function fitLogistic(rows: readonly Row[], prior: Prior): number[] {
  const free = prior.coefficients.map(() => true);
  for (;;) {
    const found = newton(rows, prior, free);
    const below = found.findIndex((value, i) => i >= prior.signed && value < 0);
    if (below < 0) return found;
    free[below] = false;
  }
}

/** Coefficients that are not free are 0: their column is never seen, and their prior draws them nowhere. */
function newton(rows: readonly Row[], prior: Prior, free: readonly boolean[]): number[] {
  const size = free.length;
  const at = prior.coefficients.map((value, i) => (free[i] ? value : 0));
  const inputs = new Float64Array(rows.length * size);
  rows.forEach(({ x }, r) => {
    for (let i = 0; i < size; i++) if (free[i]) inputs[r * size + i] = x[i]!;
  });
  for (let step = 0; step < STEPS; step++) {
    const gradient = at.map((value, i) => (free[i] ? prior.worth * (prior.coefficients[i]! - value) : 0));
    const curvature = at.map((_, i) => at.map((_, j) => (i === j ? prior.worth : 0)));
    for (let r = 0; r < rows.length; r++) {
      const from = r * size;
      const { y, weight } = rows[r]!;
      let z = 0;
      for (let i = 0; i < size; i++) z += at[i]! * inputs[from + i]!;
      const p = sigmoid(z);
      const pull = weight * ((y ? 1 : 0) - p);
      const bend = weight * p * (1 - p);
      for (let i = 0; i < size; i++) {
        const input = inputs[from + i]!;
        const line = curvature[i]!;
        gradient[i]! += pull * input;
        for (let j = 0; j < size; j++) line[j]! += bend * input * inputs[from + j]!;
      }
    }
    const move = solve(curvature, gradient);
    for (let i = 0; i < size; i++) at[i]! += move[i]!;
    if (move.every((by) => Math.abs(by) < STILL)) break;
  }
  return at;
}

/** Gauss' elimination. The matrix is positive definite, for the prior's worth is on its diagonal, so no pivot is near 0. */
function solve(matrix: readonly number[][], right: readonly number[]): number[] {
  const size = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let i = 0; i < size; i++) {
    for (let r = 0; r < size; r++) {
      if (r === i) continue;
      const factor = rows[r]![i]! / rows[i]![i]!;
      for (let c = i; c <= size; c++) rows[r]![c]! -= factor * rows[i]![c]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
