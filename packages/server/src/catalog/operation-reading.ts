import { type Clause, type Cut, clausesOf, cut, sensesAt, speaksToUs, unitAt, wants } from "./operation-clauses.js";
import { looks } from "./operation-kinship.js";
import { BIT, has, type Mention } from "./operation-lexicon.js";
import { CARRIES_ON, roleOf } from "./operation-roles.js";
import { ENDS, PLAIN, QUESTION, ROLE_WEIGHT, type Role, WEIGHT } from "./operation-weights.js";
import type { Operation } from "./operation-words.js";

/** What a text asks for, and how plainly (0..1); and what it rules out. */
export interface OperationReading {
  wanted: Map<Operation, number>;
  refused: Set<Operation>;
}

/**
 * Which operations a text asks for and which it rules out (CAT-7): Chinese in simplified characters, English, or both
 * mixed. Clause by clause, a negation rules out the first operation after it and a contrast starts over; what was done,
 * is asked about or is only named counts little.
 */
export function operationsIn(text: string): OperationReading {
  return read(cut(text)).reading;
}

/** Operations in the order in which a text names them, unless it rules them out: for texts that describe one. */
export function mentionsIn(text: string): readonly Mention[] {
  return read(cut(text)).mentions;
}

function read(text: Cut): Gathered {
  const clauses = clausesOf(text);
  const gathered = new Gathered(clauses.some(({ request }) => request));
  for (const clause of clauses) {
    const reader = new ClauseReader(text, clause, gathered);
    reader.read();
    gathered.add(
      clause,
      reader.found,
      reader.negative,
      has(text.tokens[clause.from], BIT.afterwards),
      opposes(text, clause),
    );
  }
  gathered.settle();
  return gathered;
}

function opposes(text: Cut, clause: Clause): boolean {
  return has(text.tokens[clause.from], BIT.but | BIT.mean);
}

/** What was read of a text so far. */
class Gathered {
  readonly reading: OperationReading = { wanted: new Map(), refused: new Set() };
  readonly mentions: Mention[] = [];
  readonly nouns: Mention[] = [];
  private readonly requested: boolean;
  private plainBefore = false;

  /** `requested`: some clause asks for something in so many words, so that the others only tell. */
  constructor(requested: boolean) {
    this.requested = requested;
  }

  want(operation: Operation, weight: number): void {
    if (weight > (this.reading.wanted.get(operation) ?? 0)) this.reading.wanted.set(operation, weight);
  }

  /** Rules out; what is not to go on `anymore` is to be ended. */
  refuse(named: readonly Mention[], anymore: boolean): void {
    for (const { operation, weight } of named) {
      if (weight < PLAIN) continue;
      this.reading.refused.add(operation);
      const end = ENDS[operation];
      if (end !== undefined && (anymore || operation === "renew")) this.want(end, WEIGHT.ended);
    }
  }

  /** Adds a clause's operations: where it stands and what kind of question it is decide what they count. */
  add(clause: Clause, found: readonly Mention[], negative: boolean, afterwards: boolean, opposes: boolean): void {
    const contrast = opposes || this.reading.refused.size > 0;
    let factor = 1;
    if (this.plainBefore && afterwards) factor = WEIGHT.afterwards;
    else if (this.plainBefore && !contrast) factor = WEIGHT.later;
    if (this.requested && !clause.request && !afterwards) factor *= WEIGHT.told;
    if (clause.conditional) factor *= WEIGHT.condition;
    const asked = clause.question !== undefined && !clause.conditional && !negative;
    const question = asked ? QUESTION[clause.question!] : undefined;
    for (const [operation, weight] of question?.asks ?? []) this.want(operation, weight * factor);
    for (const { operation, weight } of found) {
      const counted = weight * factor * (looks(operation) ? 1 : (question?.change ?? 1));
      if (counted >= PLAIN) this.plainBefore = true;
      this.want(operation, counted);
    }
  }

  /** A text without a plain operation is read by its nouns; what is ruled out is not wanted, unless plainly, elsewhere. */
  settle(): void {
    const { wanted, refused } = this.reading;
    const plain = [...wanted.values()].some((weight) => weight >= PLAIN);
    for (const { operation, weight } of this.nouns) this.want(operation, plain ? weight : weight * WEIGHT.lone);
    for (const operation of refused) {
      if ((wanted.get(operation) ?? 0) > ROLE_WEIGHT.perhaps) refused.delete(operation);
      else wanted.delete(operation);
    }
  }
}

/** The operation that a clause is about, as far as it was read. */
interface Main {
  at: number;
  light: boolean;
  look: boolean;
  mentions: Mention[];
}

/** Reads one clause from left to right. */
class ClauseReader {
  readonly found: Mention[] = [];
  /** Something in it is ruled out. */
  negative = false;
  private main: Main | undefined;
  /** A negation waits for its operation. */
  private ruling = false;
  /** Nouns behind it, in case no verb comes: "not a refund". */
  private pending: readonly Mention[] = [];
  /** The operation right before it, in case none comes: "回滚别做了". */
  private topic: readonly Mention[] = [];
  /** Other words stand between: "not on Tuesday for the review" does not rule out reviewing. */
  private apart = false;
  private refusedLook = false;
  private readonly text: Cut;
  private readonly clause: Clause;
  private readonly gathered: Gathered;

  constructor(text: Cut, clause: Clause, gathered: Gathered) {
    this.text = text;
    this.clause = clause;
    this.gathered = gathered;
  }

  read(): void {
    for (let i = this.clause.from; i < this.clause.to; i++) {
      if (this.rulesOut(i)) this.startRuling(i);
      else if (sensesAt(this.text, i).length > 0) this.operation(i);
      else this.apart ||= this.text.tokens[i]!.meaning === undefined;
    }
    this.end();
  }

  /** Whether the token at `i` rules out what follows it. */
  private rulesOut(i: number): boolean {
    const token = this.text.tokens[i]!;
    if (has(token, BIT.instead)) return true;
    if (this.clause.question === "why" || this.clause.question === "done") return false;
    if (has(token, BIT.not)) return true;
    if (has(token, BIT.than)) return this.text.units.includes("rather") || this.text.units.includes("prefer");
    if (!has(token, BIT.bareNot) || this.clause.question === "other") return false;
    return i + 1 < this.clause.to && sensesAt(this.text, i + 1).length > 0;
  }

  private startRuling(i: number): void {
    const rightBefore = this.text.tokens[i]!.chinese && this.main?.at === i - 1;
    this.topic = rightBefore ? this.main!.mentions : [];
    this.ruling = true;
    this.negative = true;
    this.apart = false;
  }

  private operation(i: number): void {
    const { tokens } = this.text;
    const senses = sensesAt(this.text, i);
    const role = roleOf(this.text, this.clause, i, this.main !== undefined && !this.main.light && !this.main.look);
    const verbal = role === "verb" || role === "nounWanted" || role === "perhaps";
    // "没付款的订单": a bare "not" reaches no further than its neighbour.
    if (!verbal && has(tokens[i - 1], BIT.bareNot) && !has(tokens[i - 1], BIT.not)) this.ruling = false;
    if (this.ruling && !this.clause.conditional && (verbal || role === "noun")) return this.ruleOut(i, senses, verbal);
    // "不是要查到哪了": all that is looked for is ruled out.
    if (this.refusedLook && looks(senses[0]!.operation)) return this.refuse(senses);
    this.mention(i, senses, role, verbal);
  }

  private ruleOut(i: number, senses: readonly Mention[], verbal: boolean): void {
    // "Skip the email and print it": the second one is not ruled out.
    const next = this.text.tokens[i + 1];
    const closed = !this.apart && has(next, BIT.and) && !next!.chinese;
    if (verbal || closed) {
      this.refuse(senses);
      this.refusedLook = verbal && looks(senses[0]!.operation);
      this.pending = [];
      this.ruling = verbal && this.goesOn(i);
      this.main = undefined;
    } else if (!this.apart) this.pending = senses.filter((sense) => sense.weight >= PLAIN);
  }

  /** "Do not cancel or change it" rules out both. */
  private goesOn(i: number): boolean {
    for (let at = i + 1; at < this.clause.to; at++) {
      const token = this.text.tokens[at]!;
      if (has(token, BIT.or) || token.break === "list" || (token.chinese && has(token, BIT.and))) return true;
      if (sensesAt(this.text, at).length > 0) return false;
    }
    return false;
  }

  private refuse(named: readonly Mention[]): void {
    this.gathered.refuse(named, (this.clause.bits & (BIT.le | BIT.anymore)) !== 0);
  }

  private mention(i: number, senses: readonly Mention[], role: Role, verbal: boolean): void {
    const factor = verbal && this.main !== undefined ? this.factorAfter(this.main, i, senses[0]!) : 1;
    const weight = ROLE_WEIGHT[role] * factor;
    const mentions = senses.map((sense) => ({ operation: sense.operation, weight: sense.weight * weight }));
    (role === "noun" ? this.gathered.nouns : this.found).push(...mentions);
    this.gathered.mentions.push(...mentions);
    if (!verbal || factor < 1 || (this.main !== undefined && mentions[0]!.weight < PLAIN)) return;
    const light = has(this.text.tokens[i], BIT.light);
    this.main = { at: i, light, look: looks(senses[0]!.operation), mentions };
  }

  /** How much a second operation of a clause counts; it may make the first one count less. */
  private factorAfter(main: Main, i: number, { operation, weight }: Mention): number {
    const { tokens } = this.text;
    let between = 0;
    for (let at = main.at + 1; at < i; at++) {
      between |= tokens[at]!.meaning?.marks ?? (tokens[at]!.break === "list" ? BIT.and : 0);
    }
    // "采购申请帮我提交": what came before was its object.
    if (speaksToUs(this.text, main.at + 1, i) || tokens[i]!.meaning!.form === "past")
      return weaken(main, WEIGHT.object);
    if (wants(this.text, main.at + 1, i) && !CARRIES_ON.has(main.mentions[0]!.operation)) return 1;
    if ((between & (BIT.and | BIT.or | BIT.afterwards)) !== 0 || main.mentions[0]!.weight < PLAIN) return 1;
    if (main.light && weight >= PLAIN) {
      return weaken(main, main.look && !looks(operation) ? WEIGHT.lightLook : WEIGHT.light);
    }
    const looksWhether = main.look && (between & (BIT.modal | BIT.how | BIT.if | BIT.mean)) !== 0;
    if (looksWhether) return weaken(main, WEIGHT.light);
    return main.look && looks(operation) ? 1 : WEIGHT.object;
  }

  private end(): void {
    const { bits, to } = this.clause;
    if (!this.ruling) {
      if (this.givesUp()) this.gathered.want("cancel", WEIGHT.ended);
    } else if (this.pending.length > 0) this.refuse(this.pending);
    else if (this.topic.length > 0) {
      this.refuse([...this.topic]);
      for (const mention of this.topic) mention.weight = 0;
    } else {
      const over = has(this.text.tokens[to - 1], BIT.le) && (bits & (BIT.done | BIT.ba)) === 0;
      if (over || (bits & BIT.anymore) !== 0) this.gathered.want("cancel", WEIGHT.anymore);
    }
  }

  /** "那次不请了": whatever it is, it is called off. */
  private givesUp(): boolean {
    const end = this.clause.to - 1;
    const it = this.text.tokens[end - 1];
    if (it === undefined || it.to - it.from > 1 || sensesAt(this.text, end - 1).length > 0) return false;
    return (
      has(this.text.tokens[end], BIT.le) &&
      unitAt(this.text, end - 2) === "不" &&
      has(this.text.tokens[end - 2], BIT.bareNot)
    );
  }
}

/** The first operation counts less for the second one's sake, which counts fully. */
function weaken(main: Main, factor: number): number {
  for (const mention of main.mentions) mention.weight *= factor;
  return 1;
}
