import { createColors } from "picocolors";

/** Meaning, not colour: what is good, bad, doubtful, or in the background. */
export interface Paint {
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  doubt(text: string): string;
  name(text: string): string;
}

export function createPaint(enabled: boolean): Paint {
  const colors = createColors(enabled);
  return {
    strong: colors.bold,
    dim: colors.dim,
    good: colors.green,
    bad: colors.red,
    doubt: colors.yellow,
    name: colors.cyan,
  };
}

/** NO_COLOR (no-color.org) and --no-color win over a terminal, FORCE_COLOR over the lack of one. */
export function wantsColor(options: {
  color: boolean;
  env: Readonly<Record<string, string | undefined>>;
  isTty: boolean;
}): boolean {
  const { color, env, isTty } = options;
  if (!color || (env["NO_COLOR"] ?? "") !== "") return false;
  if ((env["FORCE_COLOR"] ?? "") !== "") return env["FORCE_COLOR"] !== "0";
  return isTty && env["TERM"] !== "dumb";
}

/** States of instances and tasks, each in the colour of what it means. */
export function paintState(state: string, paint: Paint): string {
  switch (state) {
    case "online":
    case "completed":
    case "chosen":
      return paint.good(state);
    case "offline":
    case "dead":
    case "failed":
      return paint.bad(state);
    case "suspect":
    case "draining":
    case "stalled":
      return paint.doubt(state);
    case "canceled":
      return paint.dim(state);
    default:
      return state;
  }
}
