import { type Clause, type Cut, sensesAt, speaksToUs, unitAt } from "./operation-clauses.js";
import { looks } from "./operation-kinship.js";
import { BIT, has } from "./operation-lexicon.js";
import type { Role } from "./operation-weights.js";
import type { Operation } from "./operation-words.js";

/** Behind them a word that may be a noun is a verb. */
const VERB_COMES = [
  ...[BIT.cue, BIT.modal, BIT.and, BIT.or, BIT.afterwards, BIT.but, BIT.mean, BIT.not, BIT.first, BIT.how, BIT.so],
  ...[BIT.instead, BIT.bareNot, BIT.than, BIT.unable, BIT.if],
].reduce((all, bit) => all | bit, 0);
/** "Before deleting, export": when, not what. */
const AROUND = new Set(["before", "after", "upon", "during"]);
/** Who is told about. */
const SUBJECTS = new Set(["i", "we", "they", "he", "she", "it", "他", "她"]);
const MAKES_VERB = new Set(["一", "下", "吧", "给", "到", "啊", "哈", "呗"]);
/** What one is told or reminded to do may follow them. */
export const CARRIES_ON: ReadonlySet<Operation> = new Set<Operation>(["send", "remind", "assign", "share"]);
/** How far before a noun "I want" may stand: "I want a full and immediate refund". */
const LIGHT_REACH = 5;

/** How the operation of the token at `i` is named; `mainBefore`: another one, of weight, came before it in its clause. */
export function roleOf(text: Cut, clause: Clause, i: number, mainBefore: boolean): Role {
  const { meaning, chinese } = text.tokens[i]!;
  const look = looks(meaning!.senses[0]!.operation);
  if (meaning!.form === "past") return pastRole(text, clause, i);
  if (meaning!.form === "noun") {
    return look || (!mainBefore && isLightBefore(text, clause, i)) ? "nounWanted" : "noun";
  }
  if (!look && isStatusNoun(text, i + 1, clause)) return meaning!.ambiguous || chinese ? "noun" : "verb";
  const role = chinese ? chineseRole(text, clause, i, look) : englishRole(text, clause, i, mainBefore);
  const asked = role === "verb" || role === "perhaps" || role === "nounWanted";
  return asked && !look && isState(text, clause, i) ? "state" : role;
}

function isState(text: Cut, clause: Clause, i: number): boolean {
  if (clause.question === "done" || clause.question === "why") return true;
  return text.tokens[i]!.chinese && has(text.tokens[i - 1], BIT.done);
}

/** "I want it cancelled" asks for it, "it was cancelled" does not. */
function pastRole(text: Cut, clause: Clause, i: number): Role {
  if (has(text.tokens[i - 1], BIT.beSo) && unitAt(text, i - 1) === "have") return "state";
  for (let at = i - 1; at >= clause.from; at--) {
    if (has(text.tokens[at], BIT.beSo | BIT.mean)) return "verb";
    if (has(text.tokens[at], BIT.done)) return "state";
  }
  return "state";
}

/** "退款进度", "order status": the operation before it is the name of a thing. */
function isStatusNoun(text: Cut, i: number, clause: Clause): boolean {
  if (i >= clause.to || sensesAt(text, i)[0]?.operation !== "status") return false;
  return text.tokens[i]!.meaning!.form === "noun" || text.tokens[i]!.chinese;
}

function chineseRole(text: Cut, clause: Clause, i: number, look: boolean): Role {
  const { tokens } = text;
  const { ambiguous, senses, marks } = tokens[i]!.meaning!;
  const before = i > clause.from ? tokens[i - 1] : undefined;
  const after = i + 1 < clause.to ? tokens[i + 1] : undefined;
  if (ambiguous && has(before, BIT.light)) return "nounWanted";
  if (has(after, BIT.suffix)) return "noun";
  const of = has(after, BIT.le) ? i + 2 : i + 1;
  if (of + 1 < clause.to && has(tokens[of], BIT.of)) return "attribute";
  if (!look && has(after, BIT.le)) return finishedRole(text, clause, i);
  const named = after?.meaning !== undefined && after.meaning.senses.length > 0;
  // "会员续费关掉": the verb comes behind it.
  if (named && !look && !ambiguous && before !== undefined && before.meaning === undefined) return "noun";
  if (isBroughtForward(text, clause, i)) return "noun";
  if (!ambiguous) return "verb";
  if (before === undefined && isTopic(text, clause, i)) return "noun";
  if (after !== undefined && (MAKES_VERB.has(unitAt(text, i + 1)) || has(after, BIT.det))) return "verb";
  if (has(before, VERB_COMES)) return SUBJECTS.has(unitAt(text, i - 1)) ? "perhaps" : "verb";
  if ((clause.bits & BIT.ba) !== 0) return "verb";
  // "报销驳回", "采购申请": named, and then something is done with it.
  const compound = named && !look && !CARRIES_ON.has(senses[0]!.operation) && (marks & BIT.light) === 0;
  if (compound && (!after?.meaning?.ambiguous || has(after, BIT.light))) return "noun";
  return before === undefined ? "verb" : "noun";
}

/** Between 把 and the verb: "把申请撤回"; but "把申请撤回重新提交" has two verbs. */
function isBroughtForward(text: Cut, clause: Clause, i: number): boolean {
  const { tokens } = text;
  let brought = false;
  for (let at = clause.from; at < i; at++) brought ||= has(tokens[at], BIT.ba);
  if (!brought) return false;
  for (let at = i + 1; at < clause.to; at++) {
    const twoVerbs = has(tokens[at], BIT.and | BIT.afterwards) || unitAt(text, at) === "重";
    if (twoVerbs && !tokens[i]!.meaning!.ambiguous) return false;
    if (sensesAt(text, at).length > 0) return true;
  }
  return false;
}

/** "申请被驳回了", "申请先不要批": the application is what it happens to. */
function isTopic(text: Cut, clause: Clause, i: number): boolean {
  for (let at = i + 1; at < clause.to; at++) {
    if (has(text.tokens[at], BIT.not | BIT.first)) return true;
    if (has(text.tokens[at], BIT.done) && unitAt(text, at) === "被") return true;
  }
  return false;
}

/** An operation with 了: done, or an order to do it ("把它删了"). */
function finishedRole(text: Cut, clause: Clause, i: number): Role {
  const ordered = (clause.bits & (BIT.ba | BIT.not | BIT.bareNot)) !== 0 || speaksToUs(text, clause.from, i);
  if (ordered || unitAt(text, i + 2) === "吧") return "verb";
  for (let at = clause.from; at < i; at++) if (has(text.tokens[at], BIT.done)) return "state";
  return "perhaps";
}

function englishRole(text: Cut, clause: Clause, i: number, mainBefore: boolean): Role {
  const { tokens } = text;
  const { meaning, from, to } = tokens[i]!;
  const before = i > clause.from ? tokens[i - 1] : undefined;
  if (before === undefined) return "verb";
  if (AROUND.has(unitAt(text, i - 2)) && has(before, BIT.cue)) return "state";
  if (to - from === 1 && isSubject(text, i - 1)) return "perhaps";
  if (has(before, VERB_COMES)) return "verb";
  const sure = !meaning!.ambiguous;
  if (sure && (!has(before, BIT.det) || looks(meaning!.senses[0]!.operation))) return "verb";
  if (AROUND.has(unitAt(text, i - 1))) return "state";
  if (sure && text.units[from]!.endsWith("ing")) return "verb";
  const suffix = i + 1 < clause.to && has(tokens[i + 1], BIT.suffix);
  return !suffix && !mainBefore && isLightBefore(text, clause, i) ? "nounWanted" : "noun";
}

/** "I see", "they charged": told, not asked for; but "can I see". */
function isSubject(text: Cut, i: number): boolean {
  return SUBJECTS.has(unitAt(text, i)) && !has(text.tokens[i - 1], BIT.cue | BIT.modal | BIT.fact | BIT.how);
}

/** "I want", "give me" or "request", not far before it. */
function isLightBefore({ tokens }: Cut, clause: Clause, i: number): boolean {
  for (let at = i - 1; at >= Math.max(clause.from, i - LIGHT_REACH); at--) {
    if (has(tokens[at], BIT.light | BIT.mean)) return true;
  }
  return false;
}
