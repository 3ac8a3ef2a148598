import type { Choice, Chooser } from "../ports/chooser.js";
import type { FineStage } from "./fine-stage.js";
import type { Answer } from "./meaning.js";
import type { Nearness } from "./passages.js";

/** What is known of a request's words before anybody is chosen: what takes too long to be found out in one go. */
export interface Advice {
  /** What the index says to it, among all capabilities. */
  readonly answer?: Answer | undefined;
  /** How near the fine stage finds each card; undefined without it. */
  readonly near?: Nearness | undefined;
  /** What a language model chose where nothing else was sure. */
  readonly chosen?: string | undefined;
  /** What they did beyond that, and why one could not help, for the record. */
  readonly notes: readonly string[];
}

export const NO_ADVICE: Advice = { notes: [] };

/** Has the fine stage read a request (CAT-4). Never rejects. */
export async function fineAdvice(fine: FineStage, request: string, withinMs: number): Promise<Advice> {
  const { near, trouble } = await fine.read(request, withinMs);
  return { near, notes: trouble === undefined ? [] : [`without the fine stage: ${trouble}`] };
}

/** Has a language model choose among a few (CAT-5), and adds what came of it. Never rejects. */
export async function chosenAdvice(
  advice: Advice,
  chooser: Chooser,
  request: string,
  choices: readonly Choice[],
  signal: AbortSignal,
): Promise<Advice> {
  const { notes } = advice;
  try {
    const { chosen, reason, cached, tookMs } = await chooser.choose(request, choices, signal);
    const how = cached ? "remembered" : `${Math.round(tookMs)} ms`;
    const note = `${chooser.id} ${chosen === null ? `chose none (${reason})` : `chose ${chosen}`}, ${how}`;
    return { ...advice, chosen: chosen ?? undefined, notes: [...notes, note] };
  } catch (error) {
    const { details } = error as { details?: { reason?: string } };
    return {
      ...advice,
      notes: [
        ...notes,
        `without a language model: ${signal.aborted ? "too little time" : (details?.reason ?? "it failed")}`,
      ],
    };
  }
}
