import { ReachError } from "@agent-reach/protocol";
import type { Near, Resolved, Wanted } from "./found.js";

export function noRoute(reason: string, message: string, details: Record<string, unknown>): ReachError {
  return new ReachError("NO_ROUTE", message, { details: { reason, ...details } });
}

export function unknownAgent(agentId: string): ReachError {
  const message = `no agent ${agentId} has registered in the last 24 h; check the id, or discover by capability.`;
  return noRoute("unknown_agent", message, { agentId });
}

export function ambiguous(wanted: Wanted, found: readonly Resolved[]): ReachError {
  const nearest = found.slice(0, 3).map((r) => ({ capability: r.name, match: r.match }));
  return noRoute(
    "ambiguous",
    `"${wanted.capability ?? wanted.intent}" may mean ${list(found.map((r) => r.name))}; say which capability.`,
    { nearest },
  );
}

/** `synonymOf`: what the words are a synonym of, which nobody offers; `waiting`: so many capabilities are not learnt yet. */
export function nobody(
  wanted: Wanted,
  nearest: readonly Near[],
  synonymOf: string | undefined,
  waiting: number,
): ReachError {
  const phrase = wanted.capability ?? wanted.intent ?? "";
  const hint =
    nearest.length === 0
      ? "nothing like it is registered"
      : `the nearest ${nearest.length === 1 ? "is" : "are"} ${list(nearest.map((m) => m.capability))}`;
  const isSynonym = `"${phrase}" is a synonym of "${synonymOf}", and nobody offers "${synonymOf}"`;
  const details = { ...(synonymOf !== undefined && { synonymOf }), nearest };
  if (wanted.capability !== undefined) {
    const said = synonymOf === undefined ? `nobody offers "${phrase}"` : isSynonym;
    return noRoute("unknown_capability", `${said}; ${hint}.`, { capability: phrase, ...details });
  }
  const remedy =
    waiting > 0
      ? `What has just been registered is not all learnt yet (${waiting} to go): ask again in a moment, or by name.`
      : synonymOf === undefined
        ? "Ask by capability, or add a synonym."
        : "Ask by capability, or have the synonym stand for one that is offered.";
  const said =
    synonymOf === undefined ? `nobody can be told to do "${phrase}"` : `${isSynonym}, nor what means the same`;
  const { notes = [] } = wanted.advice ?? {};
  const told = notes.length === 0 ? {} : { notes };
  return noRoute("no_match", `${said}; ${hint}. ${remedy}`, { ...details, ...told });
}

export function list(names: readonly string[]): string {
  const shown = names
    .slice(0, 5)
    .map((n) => `"${n}"`)
    .join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
