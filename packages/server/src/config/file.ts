import { readFileSync } from "node:fs";
import { isMap, isScalar, LineCounter, type Node, parseDocument } from "yaml";

/** One key of the file with its value, before anybody asked what it means. `path` is in camelCase. */
export interface FileEntry {
  path: string;
  /** As the writer spelled it, for messages. */
  written: string;
  value: unknown;
  /** `file:line`. */
  origin: string;
}

export type FileRead = { ok: true; entries: FileEntry[] } | { ok: false; problem: string };

const fileBytesMax = 1_048_576;
const depthMax = 8;

/**
 * Reads a YAML or JSON file (JSON is read as the YAML that it is) into flat entries. `isGroup` says of a path whether its
 * map is a group of settings; any other map is a value.
 */
export function readConfigFile(file: string, isGroup: (path: string) => boolean): FileRead {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return {
      ok: false,
      problem: `the file ${file} cannot be read (${codeOf(error)}); check the path, or leave it out to run on defaults`,
    };
  }
  return readConfigText(text, file, isGroup);
}

export function readConfigText(text: string, file: string, isGroup: (path: string) => boolean): FileRead {
  if (text.length > fileBytesMax)
    return {
      ok: false,
      problem: `${file} has ${text.length} characters, more than a configuration ever has; is it the right file?`,
    };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0];
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0]);
    return { ok: false, problem: `${file}:${line}:${col} is not YAML or JSON: ${broken.message}` };
  }
  if (document.contents === null) return { ok: true, entries: [] };
  if (!isMap(document.contents))
    return { ok: false, problem: `${file} must hold groups of settings, like "server:" with "port: 8800" under it` };
  const entries: FileEntry[] = [];
  const originOf = (node: unknown) => {
    const start = (node as Node | null)?.range?.[0];
    return start === undefined ? file : `${file}:${lines.linePos(start).line}`;
  };
  const walk = (map: Node, prefix: string, writtenPrefix: string, depth: number) => {
    if (!isMap(map)) return;
    for (const pair of map.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      const written = writtenPrefix + key;
      const path = withoutProjectName(prefix + camelPath(key));
      const value = pair.value as Node | null;
      if (isMap(value) && depth < depthMax && isGroup(path))
        walk(value, path === "" ? "" : `${path}.`, `${written}.`, depth + 1);
      else if (path !== "" || value !== null)
        entries.push({
          path,
          written,
          value: value === null ? null : value.toJS(document),
          origin: originOf(pair.key),
        });
    }
  };
  walk(document.contents, "", "", 0);
  return { ok: true, entries };
}

/** `heartbeat_interval` and `heartbeat-interval` are `heartbeatInterval`; dots in a key are levels. */
export function camelPath(key: string): string {
  return key.replace(/[_-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The published form has everything under `agent-reach`. */
function withoutProjectName(path: string): string {
  if (path === "agentReach") return "";
  return path.startsWith("agentReach.") ? path.slice("agentReach.".length) : path;
}

function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES") return "no permission";
  return code ?? String(error);
}
