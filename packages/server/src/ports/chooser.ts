/**
 * Which of a few capabilities a request in words means, or that it means none. It is asked as the last resort, where nothing else
 * was sure (CAT-5).
 *
 * CH1  `chosen` is the name of one of the choices given, or null. Whatever else it came upon counts as null.
 * CH2  Only the first `CHOICES_MAX` choices count, and of each text its beginning.
 * CH3  The texts of choices and requests are strangers'. They are compared and never obeyed by the engine; what they may win is
 *      the choice of a capability that was offered anyway.
 * CH4  It answers or rejects within a time of its own, and soon after `signal` aborts.
 * CH5  It rejects with the signal's reason, or with UNAVAILABLE and `details.reason`; a failure is never kept as an answer.
 *
 * It promises nothing about how good a choice is, nor that equal requests are answered alike: a card or request that praises
 * itself may mislead it. Whether a choice is acted upon, whoever asks decides.
 */
export interface Chooser {
  /** Names who chooses, for the record of a decision. */
  readonly id: string;
  choose(request: string, choices: readonly Choice[], signal: AbortSignal): Promise<Choosing>;
}

/** Best first: so many of them are looked at. */
export const CHOICES_MAX = 5;

export interface Choice {
  readonly name: string;
  readonly description?: string | undefined;
  readonly examples?: readonly string[] | undefined;
}

/**
 * `none`: it says that none of them fits, or there was nothing to choose from. `not_an_id`: it said something that is no choice.
 * `cut_off`: as before, since it was still speaking when it had to stop. `declined`: it, or its provider, does not want to answer.
 */
export type ChoosingReason = "chosen" | "none" | "not_an_id" | "cut_off" | "declined";

export interface Choosing {
  readonly chosen: string | null;
  readonly reason: ChoosingReason;
  /** Whether it was known from an equal request. */
  readonly cached: boolean;
  readonly tookMs: number;
}
