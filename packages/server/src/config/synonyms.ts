import { ReachError } from "@agent-reach/protocol";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** One phrase of the file. */
export interface SynonymLine {
  phrase: string;
  /** The capability or the tag that it stands for. */
  name: string;
  /** `file:line`, for messages. */
  origin: string;
}

/** Some 10,000 phrases. They are read while nothing else runs, so there must be an end. */
export const SYNONYMS_BYTES_MAX = 262_144;

const EXAMPLE = `like "data_fetch: [run sql]"`;

/**
 * Reads `catalog.synonymsFile`, YAML or JSON: each capability or tag with the other phrases for it. Every plain value is a
 * text, so that `- 110` is the phrase "110" and a `no` is no boolean. A name without phrases is one whose phrases somebody has
 * commented out.
 */
export function readSynonyms(file: string, content: Content): SynonymLine[] {
  if (!content.ok) throw refusal(`${file} cannot be read: ${content.problem}; check the path, or leave it out.`);
  const lines = new LineCounter();
  const document = parseDocument(content.text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: "failsafe",
    uniqueKeys: false,
  });
  const at = (node: unknown): string => {
    const start = (node as Node | null)?.range?.[0];
    return start === undefined ? file : `${file}:${lines.linePos(start).line}`;
  };
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0]);
    throw refusal(`${file}:${line}:${col} is not YAML or JSON: ${broken.message}. Mend that line.`);
  }
  if (!isMap(document.contents))
    throw refusal(`${at(document.contents)} must map each capability or tag to a list of phrases, ${EXAMPLE}.`);
  const found: SynonymLine[] = [];
  const names = new Map<string, string>();
  for (const { key, value } of document.contents.items) {
    const name = textOf(key);
    if (name === undefined) throw refusal(`${at(key)} has no name before its phrases; write it ${EXAMPLE}.`);
    const earlier = names.get(name);
    if (earlier !== undefined)
      throw refusal(`${at(key)} has "${name}" a second time, after ${earlier}; put the phrases of both into one list.`);
    names.set(name, at(key));
    if (value === null || (isScalar(value) && value.source === "")) continue;
    if (!isSeq(value)) throw refusal(`${at(value)} must give the phrases of "${name}" as a list, ${EXAMPLE}.`);
    for (const item of value.items) {
      const phrase = textOf(item);
      if (phrase === undefined)
        throw refusal(`${at(item)} must be a phrase that stands for "${name}": a text that is not empty, ${EXAMPLE}.`);
      found.push({ phrase, name, origin: at(item) });
    }
  }
  return found;
}

type Content = { ok: true; text: string } | { ok: false; problem: string };

function textOf(node: unknown): string | undefined {
  const text = isScalar(node) && typeof node.value === "string" ? node.value.trim() : "";
  return text === "" ? undefined : text;
}

function refusal(message: string): ReachError {
  return new ReachError("INVALID_REQUEST", `catalog.synonymsFile ${message}`, { path: "catalog.synonymsFile" });
}
