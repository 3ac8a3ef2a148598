/** English endings, and slips of the keyboard. Pure. */

/** Verbs of the lexicon whose forms no rule gives: past forms, then others. */
const IRREGULAR: Readonly<Record<string, string>> = {
  make: "made",
  send: "sent",
  find: "found",
  get: "got gotten",
  pay: "paid",
  tell: "told",
  take: "took taken",
  give: "gave given",
  show: "showed shown",
  bring: "brought",
  withdraw: "withdrew withdrawn",
  undo: "undid undone",
  redo: "redid redone",
  rerun: "reran",
  write: "wrote written",
  freeze: "froze frozen",
  unfreeze: "unfroze unfrozen",
  begin: "began begun",
  hold: "held",
  buy: "bought",
  throw: "threw thrown",
  see: "saw seen",
  know: "knew known",
  go: "went gone",
  run: "ran",
  do: "did done",
  choose: "chose chosen",
  build: "built",
  seek: "sought",
  draw: "drew drawn",
  break: "broke broken",
  knock: "knocked",
  say: "said",
  teach: "taught",
  spin: "spun",
  wake: "woke woken",
  drive: "drove driven",
  come: "came",
  keep: "kept",
  dig: "dug",
  forget: "forgot forgotten",
  oversee: "oversaw overseen",
  speed: "sped",
  stick: "stuck",
  repay: "repaid",
  wind: "wound",
  overwrite: "overwrote overwritten",
};
/** Their past form is the base form, so it tells nothing. */
const UNCHANGED = new Set(["set", "put", "cut", "split", "read", "shut", "quit", "reset", "let", "cast", "broadcast"]);
/** The last consonant is doubled: "submitted". Short words of one syllable are seen by their shape. */
const DOUBLED = new Set([
  "submit",
  "transfer",
  "refer",
  "cancel",
  "defer",
  "permit",
  "recap",
  "label",
  "rebut",
  "unpin",
  "admit",
  "remit",
  "reset",
  "begin",
  "rerun",
  "opt",
  "enrol",
]);
const ONE_SYLLABLE = /^[^aeiou]*[aeiou][bdgklmnprtvz]$/;

/** A verb's forms; a phrase's first word takes them. Words of two letters and auxiliaries stay as they are. */
export function inflections(verb: string): { word: string; past: boolean }[] {
  const base = { word: verb, past: false };
  if (verb.length < 2 || /[^a-z]/.test(verb) || FIXED.has(verb)) return [base];
  const all = [base, { word: plural(verb), past: false }, { word: participle(verb), past: false }];
  if (verb === "cancel") all.push({ word: "canceling", past: false }, { word: "canceled", past: true });
  if (UNCHANGED.has(verb)) return all;
  const past = IRREGULAR[verb]?.split(" ") ?? [regularPast(verb)];
  return [...all, ...past.map((word) => ({ word, past: true }))];
}

/** Words which begin phrases of the lexicon without being verbs. */
const FIXED = new Set(
  `can could i i'd it what which who where when why how any all no not so my up in on at as by is are was were has have had to too the
  a an out best longer into vs versus different same another bigger smaller later more double hard green factory grace power status
  money main key side down ok e re un don't can't won't hasn't haven't isn't doesn't forgotten everything locked supposed should still`.split(
    /\s+/,
  ),
);

function plural(verb: string): string {
  if (/(s|x|z|ch|sh|o)$/.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

function participle(verb: string): string {
  if (/[^aeoy]e$/.test(verb)) return `${verb.slice(0, -1)}ing`;
  return `${doubled(verb)}ing`;
}

function regularPast(verb: string): string {
  if (verb.endsWith("e")) return `${verb}d`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${doubled(verb)}ed`;
}

function doubled(verb: string): string {
  return DOUBLED.has(verb) || (ONE_SYLLABLE.test(verb) && verb.length > 2) ? verb + verb.at(-1) : verb;
}

/** Long verbs which are worth mending when mistyped; short ones are too near to other words. */
const MENDED =
  `cancel delete remove update change modify create approve reject submit assign transfer refund export import download upload restore
  extend search translate convert calculate recommend verify validate subscribe unsubscribe enable disable restart unlock reschedule
  postpone withdraw archive summarize compare explain schedule reserve reactivate deactivate terminate decline cancelled approved
  status progress refunded booking reservation cancellation subscription renewal payment exchange`.split(/\s+/);
/** Proper words one slip away from those. */
const PROPER = new Set(
  `expert experts remote summit cancer charge chance hanged cancels unable unload covert concert convent extent expend intend explains
  impart impact verily eject defund refunds remover creates creased crated updates searched exports imports updated changed changes
  changer archives achieve restores restored transfers reserved reserves reverse deserve preserve compares composed comparer uploads assigns deletes
  payments renewals exchanges statue statuses recline crate crates starch verity subscriber subscribers approver approvers updater enabler approves improve improved improver observe`.split(
    /\s+/,
  ),
);

const byPart = new Map<string, string>();
for (const word of MENDED) for (const part of [word, ...parts(word)]) if (!byPart.has(part)) byPart.set(part, word);

/**
 * The verb that was meant by a mistyped word: one letter too many, missing, wrong or swapped with its neighbour (found
 * by what is left when a letter is taken out of either). Undefined for short words and those that are words themselves.
 */
export function correction(word: string): string | undefined {
  if (word.length < 5 || word.length > 15 || word.charCodeAt(0) > 122 || PROPER.has(word)) return undefined;
  for (const part of [word, ...parts(word)]) {
    const found = byPart.get(part);
    if (found !== undefined && found[0] === word[0] && Math.abs(found.length - word.length) < 2) return found;
  }
  return undefined;
}

function parts(word: string): string[] {
  return Array.from(word, (_, i) => word.slice(0, i) + word.slice(i + 1));
}
