import type { LoadedConfig } from "@agent-reach/server/config";
import type { Command } from "commander";
import type { Context } from "../context.js";
import { renderTable } from "../render/table.js";

export async function define(command: Command, context: (command: Command) => Context): Promise<void> {
  const { addSettingFlags, loadSettings } = await import("../settings-flags.js");
  const { withoutSecrets } = await import("@agent-reach/server/config");
  command.addHelpText(
    "after",
    `
A file, the environment and flags are read as \`serve\` reads them.

Examples:
  $ agent-reach config check --config reach.yaml
  $ agent-reach config show
  $ AGENT_REACH_LEASE_TTL_SEC=60 agent-reach config show --json`,
  );
  const check = addSettingFlags(
    command.command("check").description("Say whether a node would start with these settings."),
  );
  check.action(async (options: Record<string, unknown>) => {
    const here = context(check);
    const { config, warnings } = loadSettings(options, here.io);
    const { synonymsFile } = config.catalog;
    if (synonymsFile !== undefined) (await import("@agent-reach/server/catalog")).openSynonyms(synonymsFile);
    here.print({ ok: true, warnings }, () => "The settings are fine.\n");
    for (const warning of warnings) here.remark(`${here.paint.doubt("warning:")} ${warning}`);
  });
  const show = addSettingFlags(
    command.command("show").description("Show every setting, its value and where it comes from."),
  );
  show.action((options: Record<string, unknown>) => {
    const here = context(show);
    const { config, ...others } = loadSettings(options, here.io);
    const loaded = { config: withoutSecrets(config), ...others };
    here.print(loaded, () => renderSettings(loaded, here));
    for (const warning of loaded.warnings) here.remark(`${here.paint.doubt("warning:")} ${warning}`);
  });
}

function renderSettings({ config, origins }: LoadedConfig, { paint }: Context): string {
  const rows = Object.entries(origins).map(([path, origin]) => {
    const value = path
      .split(".")
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], config);
    const shown = value === undefined ? "-" : Array.isArray(value) ? value.join(", ") || "none" : String(value);
    return [path, shown, origin === "default" ? paint.dim(origin) : paint.name(origin)];
  });
  return renderTable(["SETTING", "VALUE", "FROM"], rows, paint);
}
