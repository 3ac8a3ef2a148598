/** Logistic regression that starts from what is known elsewhere and moves as far as its rows are worth. Pure. */

export interface Row {
  readonly x: readonly number[];
  readonly y: boolean;
  readonly weight: number;
}

/** Newton steps; the loss is convex and the prior keeps it steep, so it stands still long before. */
const STEPS = 25;
const STILL = 1e-7;

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/**
 * Intercept and coefficients that maximise the likelihood of the rows under a normal prior around `prior`, whose precision is
 * the worth of so many rows. With no rows it answers the prior. No coefficient comes out negative: evidence that speaks for
 * something never speaks against it because a sample was small. `prior` holds the intercept first; its coefficients are >= 0.
 */
export function fitLogistic(rows: readonly Row[], prior: readonly number[], precision: number): number[] {
  const free = prior.map(() => true);
  for (;;) {
    const found = newton(rows, prior, precision, free);
    const below = found.findIndex((value, i) => i > 0 && value < 0);
    if (below < 0) return found;
    free[below] = false;
  }
}

/** Coefficients that are not free are 0. */
function newton(rows: readonly Row[], prior: readonly number[], precision: number, free: readonly boolean[]): number[] {
  const size = prior.length;
  const at = prior.map((value, i) => (free[i] ? value : 0));
  // What is not free is never seen, so that its coefficient has no reason to move.
  const inputs = rows.map(({ x }) => prior.map((_, i) => (free[i] ? (i === 0 ? 1 : x[i - 1]!) : 0)));
  for (let step = 0; step < STEPS; step++) {
    const gradient = at.map((value, i) => (free[i] ? precision * (prior[i]! - value) : 0));
    const curvature = at.map((_, i) => at.map((_, j) => (i === j ? precision : 0)));
    for (let r = 0; r < rows.length; r++) {
      const input = inputs[r]!;
      const { y, weight } = rows[r]!;
      let z = 0;
      for (let i = 0; i < size; i++) z += at[i]! * input[i]!;
      const p = sigmoid(z);
      const pull = weight * ((y ? 1 : 0) - p);
      const bend = weight * p * (1 - p);
      for (let i = 0; i < size; i++) {
        const byInput = bend * input[i]!;
        const line = curvature[i]!;
        gradient[i]! += pull * input[i]!;
        for (let j = 0; j < size; j++) line[j]! += byInput * input[j]!;
      }
    }
    const move = solve(curvature, gradient);
    let moved = 0;
    for (let i = 0; i < size; i++) {
      at[i]! += move[i]!;
      moved += Math.abs(move[i]!);
    }
    if (moved < STILL) break;
  }
  return at;
}

/** Gauss' elimination; the matrix is positive definite (the prior's precision is on its diagonal), so no pivot is near 0. */
function solve(matrix: number[][], right: readonly number[]): number[] {
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
