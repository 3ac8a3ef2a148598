import type { Operation } from "./operation-words.js";

/*
 * Every number by which requests are read for their operation and cards are moved, to be tuned here in one place (with
 * the nearness of operations in operation-kinship.ts). All are ours, by judgement on sentences made up for the purpose;
 * none was fitted. What is asked for in so many words counts 1, and the rest by how often it would be the wish after all.
 */

/**
 * How an operation is named: asked for; asked for by a noun ("a refund"); told, or perhaps ordered ("订单取消了"); as the
 * name of a thing ("退款流程"); as what was done or is; as a property ("取消的订单").
 */
export const ROLE_WEIGHT = {
  verb: 1,
  nounWanted: 0.9,
  perhaps: 0.7,
  noun: 0.35,
  state: 0.3,
  attribute: 0.15,
} as const;
export type Role = keyof typeof ROLE_WEIGHT;

export const WEIGHT = {
  /** A word that only weakly says so: `~` in the lists. */
  weakWord: 0.5,
  /** "查询退款", "cancel the payment": the object of another operation. */
  object: 0.4,
  /** "申请" before what is applied for; "look" before "whether I can cancel". */
  light: 0.5,
  /** "Get" before "a refund": no look at all. */
  lightLook: 0.25,
  /** "If it has not shipped, …" */
  condition: 0.3,
  /** What comes after "then", and what comes later anyhow. */
  afterwards: 0.7,
  later: 0.9,
  /** What is told beside a request: "the doctor wants a check-up, please book one". */
  told: 0.75,
  /** "不想要这个了", "I do not need it any more": to be cancelled. */
  anymore: 0.8,
  /** "别续费了": what ends it. */
  ended: 0.6,
  /** A noun that is all there is counts for more: "退款 3345". */
  lone: 2,
};

/** From here on a mention is what the text asks for, not in passing. */
export const PLAIN = 0.6;

/** What a question asks for besides its operations, and how much a change that it names counts. */
export const QUESTION: Readonly<Record<Question, { change: number; asks: readonly (readonly [Operation, number])[] }>> =
  {
    /** "取消了吗", "has it been approved?", "还没发货": the change is a state by its role already. */
    // biome-ignore format: a table
    done: { change: 1, asks: [["status", 1], ["query", 0.7]] },
    // biome-ignore format: a table
    why: { change: 1, asks: [["status", 0.7], ["query", 0.7], ["explain", 0.5]] },
    /** "How do I cancel": it is meant, but an answer may be all that is wanted. */
    // biome-ignore format: a table
    how: { change: 0.8, asks: [["explain", 0.7], ["query", 0.3]] },
    /** "I cannot cancel it". */
    unable: { change: 0.7, asks: [["explain", 0.3]] },
    /** "退款多久到账", "who approved it". */
    // biome-ignore format: a table
    fact: { change: 0.4, asks: [["query", 0.9], ["status", 0.4]] },
    /** "要不要审批", "is the pool open". */
    // biome-ignore format: a table
    other: { change: 0.4, asks: [["query", 0.8], ["explain", 0.4]] },
  };
export type Question = "done" | "why" | "how" | "unable" | "fact" | "other";

/** What "not any more" asks for, by what is not to go on. */
export const ENDS: Readonly<Partial<Record<Operation, Operation>>> = {
  renew: "cancel",
  book: "cancel",
  create: "cancel",
  submit: "cancel",
  pay: "cancel",
  extend: "cancel",
  send: "cancel",
  subscribe: "unsubscribe",
  remind: "unsubscribe",
  start: "stop",
  enable: "disable",
};

/**
 * How far a card's score moves when its operation is, or is not, what was asked for: up by a quarter at most, so that a
 * fitting verb does not lift a card of another subject; down by 0.7 at most, so that a clear opposite loses against any
 * sibling; and times 0.3 if it is ruled out.
 */
export const MOVE = { up: 0.25, down: 0.7, refused: 0.3 };
