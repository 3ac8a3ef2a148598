import { OPERATIONS, type Operation } from "./operation-words.js";

/**
 * How far two operations mean the same to somebody who asks: 1 the same, above 0 near, 0 unknown, below 0 apart.
 * Ours, by judgement; none was fitted to data. To be tuned here.
 */
const APART = {
  /** Each undoes or contradicts the other. */
  opposite: -1,
  /** One looks, the other changes: "delete the order" must not land on "list orders". */
  lookOrChange: -0.8,
  /** Both look, or both change, in ways that have nothing to do with each other. */
  other: -0.6,
};

/** They look and leave everything as it is. */
const LOOKS = new Set<Operation>([
  "query",
  "status",
  "list",
  "search",
  "export",
  "compare",
  "summarise",
  "explain",
  "recommend",
  "calculate",
  "verify",
]);
/** They make something from what they are given; neither a look at records nor a change to them. */
const MAKES = new Set<Operation>(["translate", "convert", "print"]);

/** `[one, other, nearness]`. */
const NEAR: readonly (readonly [Operation, Operation, number])[] = [
  ["query", "status", 0.5],
  ["query", "list", 0.5],
  ["query", "search", 0.6],
  ["list", "search", 0.6],
  ["query", "summarise", 0.2],
  ["query", "explain", 0.3],
  ["status", "list", 0.1],
  ["status", "search", 0.1],
  ["query", "calculate", 0.1],
  ["query", "export", 0.1],
  ["query", "verify", 0.2],
  ["status", "verify", 0.1],
  ["query", "compare", 0.1],
  ["query", "recommend", 0.1],
  ["search", "recommend", 0.4],
  ["list", "recommend", 0.2],
  ["list", "export", 0.2],
  ["summarise", "export", 0.2],
  ["summarise", "list", 0.1],
  ["summarise", "compare", 0.3],
  ["summarise", "calculate", 0.3],
  ["compare", "verify", 0.2],
  ["compare", "recommend", 0.3],
  ["explain", "summarise", 0.2],
  ["explain", "recommend", 0.2],
  ["create", "book", 0.6],
  ["create", "submit", 0.5],
  ["book", "submit", 0.3],
  ["create", "subscribe", 0.3],
  ["create", "start", 0.2],
  ["create", "import", 0.3],
  ["submit", "import", 0.2],
  ["submit", "send", 0.3],
  ["submit", "complain", 0.4],
  ["create", "complain", 0.3],
  ["book", "assign", 0.2],
  ["create", "enable", 0.2],
  ["create", "send", 0.1],
  ["create", "summarise", 0.2],
  ["publish", "send", 0.4],
  ["publish", "create", 0.3],
  ["publish", "share", 0.5],
  ["publish", "enable", 0.4],
  ["publish", "start", 0.3],
  ["publish", "submit", 0.2],
  ["unpublish", "disable", 0.5],
  ["unpublish", "delete", 0.5],
  ["unpublish", "cancel", 0.5],
  ["unpublish", "stop", 0.3],
  ["unpublish", "archive", 0.2],
  ["close", "stop", 0.5],
  ["close", "cancel", 0.4],
  ["close", "disable", 0.5],
  ["close", "archive", 0.3],
  ["close", "delete", 0.2],
  ["verify", "summarise", 0.2],
  ["cancel", "unlock", 0.1],
  ["complain", "transfer", 0.2],
  ["create", "exchange", 0.1],
  ["create", "update", -0.2],
  ["update", "reschedule", 0.6],
  ["update", "exchange", 0.3],
  ["update", "assign", 0.3],
  ["update", "transfer", 0.2],
  ["update", "reset", 0.3],
  ["update", "extend", 0.2],
  ["reschedule", "extend", 0.5],
  ["reschedule", "book", 0.2],
  ["update", "enable", 0.1],
  ["update", "disable", 0.1],
  ["update", "restore", 0.1],
  ["update", "convert", 0.1],
  ["cancel", "delete", 0.6],
  ["cancel", "refund", 0.3],
  ["cancel", "stop", 0.4],
  ["cancel", "disable", 0.3],
  ["cancel", "unsubscribe", 0.7],
  ["delete", "disable", 0.3],
  ["delete", "archive", 0.2],
  ["delete", "unsubscribe", 0.2],
  ["archive", "export", 0.2],
  ["disable", "stop", 0.6],
  ["disable", "lock", 0.6],
  ["disable", "unsubscribe", 0.5],
  ["stop", "unsubscribe", 0.4],
  ["stop", "lock", 0.2],
  ["enable", "start", 0.6],
  ["enable", "unlock", 0.4],
  ["enable", "subscribe", 0.4],
  ["enable", "restore", 0.4],
  ["restore", "unlock", 0.3],
  ["restore", "restart", 0.3],
  ["start", "restart", 0.5],
  ["reset", "restart", 0.3],
  ["reset", "restore", 0.3],
  ["reset", "unlock", 0.3],
  ["approve", "sign", 0.4],
  ["approve", "verify", 0.3],
  ["assign", "transfer", 0.6],
  ["assign", "send", 0.3],
  ["transfer", "send", 0.3],
  ["transfer", "pay", 0.4],
  ["send", "remind", 0.5],
  ["send", "share", 0.6],
  ["renew", "extend", 0.6],
  ["renew", "pay", 0.2],
  ["renew", "subscribe", 0.4],
  ["refund", "exchange", 0.2],
  ["refund", "pay", 0.1],
  ["translate", "convert", 0.3],
  ["convert", "calculate", 0.4],
  ["export", "print", 0.3],
  ["export", "convert", 0.2],
  ["share", "export", 0.1],
  ["sign", "submit", 0.1],
  ["share", "enable", 0.1],
];

const OPPOSITE: readonly (readonly [Operation, Operation])[] = [
  ["publish", "unpublish"],
  ["publish", "delete"],
  ["publish", "archive"],
  ["close", "restore"],
  ["close", "start"],
  ["close", "create"],
  ["close", "enable"],
  ["unpublish", "restore"],
  ["create", "cancel"],
  ["create", "delete"],
  ["book", "cancel"],
  ["book", "delete"],
  ["submit", "cancel"],
  ["enable", "disable"],
  ["start", "stop"],
  ["approve", "reject"],
  ["lock", "unlock"],
  ["enable", "lock"],
  ["disable", "unlock"],
  ["export", "import"],
  ["subscribe", "unsubscribe"],
  ["merge", "split"],
  ["cancel", "restore"],
  ["delete", "restore"],
  ["disable", "restore"],
  ["archive", "restore"],
  ["stop", "restart"],
  ["renew", "cancel"],
  ["renew", "unsubscribe"],
  ["extend", "cancel"],
  ["cancel", "approve"],
  ["cancel", "reschedule"],
  ["cancel", "update"],
  ["delete", "update"],
  ["pay", "cancel"],
  ["start", "cancel"],
  ["enable", "cancel"],
  ["enable", "delete"],
  ["enable", "stop"],
  ["start", "disable"],
  ["remind", "unsubscribe"],
  ["send", "unsubscribe"],
  ["create", "restore"],
];

const index = new Map(OPERATIONS.map((operation, i) => [operation, i]));
const table = build();

/** How near two operations are, −1..1. Symmetric. */
export function kinship(one: Operation, other: Operation): number {
  return table[index.get(one)! * OPERATIONS.length + index.get(other)!]!;
}

/** Whether it only looks at what there is. */
export function looks(operation: Operation): boolean {
  return LOOKS.has(operation);
}

function build(): Float64Array {
  const n = OPERATIONS.length;
  const cells = new Float64Array(n * n);
  const set = (one: Operation, other: Operation, value: number): void => {
    cells[index.get(one)! * n + index.get(other)!] = value;
    cells[index.get(other)! * n + index.get(one)!] = value;
  };
  for (const one of OPERATIONS) for (const other of OPERATIONS) set(one, other, one === other ? 1 : apart(one, other));
  for (const [one, other, nearness] of NEAR) set(one, other, nearness);
  for (const [one, other] of OPPOSITE) set(one, other, APART.opposite);
  return cells;
}

function apart(one: Operation, other: Operation): number {
  if (MAKES.has(one) || MAKES.has(other)) return APART.other;
  return LOOKS.has(one) === LOOKS.has(other) ? APART.other : APART.lookOrChange;
}
