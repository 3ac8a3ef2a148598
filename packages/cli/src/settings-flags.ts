import { type LoadedConfig, loadConfig, type Setting, settings } from "@agent-reach/server/config";
import type { Command } from "commander";
import type { Io } from "./io.js";

/** Every setting of the table as a flag, and the file. The server itself is not loaded for that. */
export function addSettingFlags(command: Command): Command {
  command.option("--config <file>", "settings from a YAML or JSON file (or AGENT_REACH_CONFIG)");
  for (const setting of settings) command.option(`${setting.flag}${valueNameOf(setting)}`, describe(setting));
  return command;
}

/** File, environment, flags, in that order: later ones win. */
export function loadSettings(options: Readonly<Record<string, unknown>>, io: Pick<Io, "env">): LoadedConfig {
  const {
    config: file = io.env["AGENT_REACH_CONFIG"],
    url: _url,
    json: _json,
    color: _color,
    origins: _origins,
    ...flags
  } = options;
  return loadConfig({ env: io.env, flags, ...(typeof file === "string" && file !== "" ? { file } : {}) });
}

function valueNameOf({ type, choices }: Setting): string {
  if (type === "boolean") return " [boolean]";
  if (type === "choice") return ` <${choices?.join("|")}>`;
  return ` <${type === "strings" ? "list" : type === "integer" ? "number" : type}>`;
}

function describe({ doc, default: fallback }: Setting): string {
  const shown = Array.isArray(fallback) ? fallback.join(",") : fallback;
  return shown === undefined || shown === "" || shown === false ? doc : `${doc} (default: ${shown})`;
}
