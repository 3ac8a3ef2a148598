/**
 * Settings of a node: from a file, the environment and flags, each overriding the one before it (CLU-6).
 *
 *   file ──▶ entries ─┐
 *   environment ──────┼─▶ value by type ─▶ rules between settings ─▶ Config, with the origin of each value
 *   flags ────────────┘
 *
 * All mistakes are reported at once: who has three wrong settings wants to start the node twice, not four times.
 */
import { ReachError } from "@agent-reach/protocol";
import { camelPath, type FileEntry, readConfigFile } from "./config/file.js";
import { nearest } from "./config/nearest.js";
import { readPublishedKey, readPublishedRole } from "./config/published.js";
import { checkRules, isLoopbackHost } from "./config/rules.js";
import { type Setting, type SettingValue, settingByPath, settings } from "./config/settings.js";
import type { Config, SettingPath } from "./config/shape.js";
import { readValue } from "./config/value.js";

export { isLoopbackHost, ttlSecOf } from "./config/rules.js";
export { type Setting, type SettingValue, settings } from "./config/settings.js";
export type { Config, SettingPath, Weights } from "./config/shape.js";
export { describeType } from "./config/value.js";

export interface ConfigSources {
  /** Path of a YAML or JSON file. */
  file?: string;
  /** Variables; only those that start with AGENT_REACH_ are looked at. */
  env?: Readonly<Record<string, string | undefined>>;
  /** By the flag's name without dashes in front, in kebab-case or camelCase; undefined is "not given". */
  flags?: Readonly<Record<string, unknown>>;
}

export interface LoadedConfig {
  config: Config;
  /** Where each value comes from: "default", "reach.yaml:3", "AGENT_REACH_SERVER_PORT" or "--port". */
  origins: Record<SettingPath, string>;
  /** Sentences for people; nothing here keeps a node from starting. */
  warnings: string[];
}

export interface ConfigProblem {
  setting: string;
  origin: string;
  message: string;
}

/** A node that was told nothing. Each call answers a fresh object. */
export function defaultConfig(): Config {
  return loadConfig({}).config;
}

/** Throws INVALID_REQUEST whose `details.problems` lists every wrong setting; the message says them all. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const loading = new Loading();
  if (sources.file !== undefined) loading.readFile(sources.file);
  loading.readEnv(sources.env ?? {});
  loading.readFlags(sources.flags ?? {});
  return loading.finish();
}

/** For a Config that was made by hand: throws as `loadConfig` does when a rule between its settings is broken. */
export function checkConfig(config: Config): void {
  const { problems } = checkRules(config, () => true);
  if (problems.length === 0) return;
  throw configError(
    problems.map(({ settings: [culprit], message }) => ({
      setting: culprit!,
      origin: "given",
      message: `${culprit} ${message}.`,
    })),
  );
}

/** The same for people to look at. What is secret reads "hidden" where it is set. */
export function withoutSecrets(config: Config): Config {
  const shown = structuredClone(config);
  for (const { path, secret } of settings) {
    if (secret !== true) continue;
    const keys = path.split(".");
    const last = keys.pop()!;
    const group = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], shown);
    const held = group as Record<string, unknown>;
    if (held[last] !== undefined) held[last] = "hidden";
  }
  return shown;
}

/** Variables that are ours but no settings of a node. */
const otherVariables = new Set(["AGENT_REACH_URL", "AGENT_REACH_TOKEN", "AGENT_REACH_CONFIG"]);

/** Kubernetes gives every pod such variables for a service whose name starts with agent-reach; nobody wrote them. */
const serviceVariable = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?|PORT)$/;

class Loading {
  readonly #values = new Map<SettingPath, SettingValue>();
  readonly #origins = new Map<SettingPath, string>();
  readonly #problems: ConfigProblem[] = [];
  readonly #warnings: string[] = [];

  readFile(file: string): void {
    const read = readConfigFile(file, isGroup);
    if (read.ok) for (const entry of read.entries) this.#readEntry(entry);
    else this.#problems.push({ setting: "--config", origin: file, message: read.problem });
  }

  readEnv(env: Readonly<Record<string, string | undefined>>): void {
    const byName = new Map(settings.map((setting) => [setting.env, setting]));
    for (const [name, value] of Object.entries(env)) {
      if (!name.startsWith("AGENT_REACH_") || value === undefined || otherVariables.has(name)) continue;
      if (serviceVariable.test(name) && (!byName.has(name) || /^(tcp|udp):\/\//.test(value))) continue;
      const setting = byName.get(name);
      if (setting !== undefined) this.#set(setting, value, name);
      else this.#unknown(name, "the environment", byName.keys());
    }
  }

  readFlags(flags: Readonly<Record<string, unknown>>): void {
    const byName = new Map(settings.map((setting) => [camelPath(setting.flag.slice(2)), setting]));
    for (const [name, value] of Object.entries(flags)) {
      if (value === undefined) continue;
      const setting = byName.get(camelPath(name));
      if (setting !== undefined) this.#set(setting, value, setting.flag);
      else
        this.#unknown(
          `--${name}`,
          "the command line",
          settings.map((each) => each.flag),
        );
    }
  }

  finish(): LoadedConfig {
    const config = this.#build();
    // A rule between two settings makes sense only when each of them does.
    if (this.#problems.length === 0) this.#checkRules(config);
    if (this.#problems.length > 0) throw configError(this.#problems);
    const origins = Object.fromEntries(settings.map(({ path }) => [path, this.#originOf(path)])) as Record<
      SettingPath,
      string
    >;
    return { config, origins, warnings: this.#warnings };
  }

  #readEntry({ path, written, value, origin }: FileEntry): void {
    const setting = settingByPath.get(path);
    const published = readPublishedKey(path);
    if (setting !== undefined) {
      this.#setFromFile(setting, value, origin);
    } else if (published?.kind === "ignored") {
      this.#warnings.push(`${written} (${origin}) has no effect: ${published.reason}.`);
    } else if (published?.kind === "setting") {
      this.#setFromFile(settingByPath.get(published.path)!, value, origin);
    } else if (isGroup(path) && value === null) {
      // A group whose lines are all commented out.
    } else {
      this.#unknown(
        written,
        origin,
        settings.map((each) => each.path),
      );
    }
  }

  #setFromFile(setting: Setting, value: unknown, origin: string): void {
    const role = setting.path === "node.role" ? readPublishedRole(value) : undefined;
    if (role !== undefined) this.#warnings.push(`${setting.path} (${origin}): ${role.explanation}.`);
    this.#set(setting, role?.role ?? value, origin);
  }

  #set(setting: Setting, raw: unknown, origin: string): void {
    const read = readValue(setting, raw);
    if (!read.ok) {
      this.#problems.push({
        setting: setting.path,
        origin,
        message: `${setting.path} (${origin}) is ${setting.secret === true ? "hidden" : show(raw)}, but ${read.rule}.`,
      });
      return;
    }
    if (read.warning !== undefined) this.#warnings.push(`${setting.path} (${origin}): ${read.warning}.`);
    this.#values.set(setting.path, read.value);
    this.#origins.set(setting.path, origin);
  }

  #unknown(written: string, where: string, known: Iterable<string>): void {
    const close = nearest(written.replace(/^agent-reach\./, ""), known);
    const hint = close === undefined ? "`agent-reach config show` lists all settings" : `did you mean ${close}?`;
    this.#problems.push({
      setting: written,
      origin: where,
      message: `${written} (${where}) is not a setting: ${hint}`,
    });
  }

  #originOf(path: SettingPath): string {
    return this.#origins.get(path) ?? "default";
  }

  #build(): Config {
    const config: Record<string, unknown> = {};
    for (const { path, default: fallback } of settings) {
      const value = this.#values.get(path) ?? fallback;
      const keys = path.split(".");
      const last = keys.pop()!;
      let group = config;
      for (const key of keys) {
        group[key] ??= {};
        group = group[key] as Record<string, unknown>;
      }
      if (value !== undefined) group[last] = Array.isArray(value) ? [...value] : value;
    }
    const built = config as unknown as Config;
    built.webhook.allowPrivate ??= isLoopbackHost(built.server.host);
    return built;
  }

  #checkRules(config: Config): void {
    const { problems, warnings } = checkRules(config, (path) => this.#origins.has(path));
    const say = ({ settings: [culprit], message }: (typeof problems)[number]) =>
      `${culprit} (${this.#originOf(culprit!)}) ${message}.`;
    for (const problem of problems) {
      this.#problems.push({
        setting: problem.settings[0]!,
        origin: this.#originOf(problem.settings[0]!),
        message: say(problem),
      });
    }
    this.#warnings.push(...warnings.map(say));
  }
}

/** Groups are what settings have in common up to a dot, with those of the published form. */
function isGroup(path: string): boolean {
  return path === "" || path === "registry" || settings.some((setting) => setting.path.startsWith(`${path}.`));
}

function configError(problems: ConfigProblem[]): ReachError {
  const lines = problems.map((problem) => problem.message);
  const message =
    lines.length === 1
      ? lines[0]!
      : `${lines.length} settings are wrong:\n${lines.map((line) => `  - ${line}`).join("\n")}`;
  return new ReachError("INVALID_REQUEST", message, { path: problems[0]!.setting, details: { problems } });
}

function show(raw: unknown): string {
  const text = typeof raw === "string" ? JSON.stringify(raw) : (JSON.stringify(raw) ?? String(raw));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
