import type { RuleFinding } from "./rules.js";
import type { Config, SettingPath } from "./shape.js";

/**
 * CAT-4, CAT-5: a model on another server, of which half is set, is a mistake that would be noticed late, since nothing fails
 * without it.
 */
export function checkModel(
  { catalog }: Config,
  name: "fine" | "llm",
  problems: RuleFinding[],
  warnings: RuleFinding[],
): void {
  const { baseUrl, model, key } = catalog[name];
  const path = (setting: "baseUrl" | "model" | "key"): SettingPath => `catalog.${name}.${setting}`;
  const problem = (setting: "baseUrl" | "model" | "key", message: string): void => {
    problems.push({ settings: [path(setting)], message });
  };
  const unset = (missing: "baseUrl" | "model", remedy: string): string =>
    `is set and ${path(missing)} is not: ${remedy}, or leave both away and no model is asked`;
  if (baseUrl !== undefined) {
    const wrong = wrongUrl(baseUrl);
    if (wrong !== undefined) problem("baseUrl", wrong);
    if (model === undefined) problem("baseUrl", unset("model", "set the name of a model which that server offers"));
  } else if (model !== undefined) {
    problem("model", unset("baseUrl", "set the address of the server which offers it"));
  } else if (key !== undefined) {
    const message = `has no effect while ${path("baseUrl")} and ${path("model")} are not set`;
    warnings.push({ settings: [path("key")], message });
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    problem("key", "has blanks, line breaks or letters which no HTTP header may hold; check how it was copied");
}

/** An address with a password in it would show in messages and in `config show`. */
function wrongUrl(baseUrl: string): string | undefined {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return "is no http or https URL; give one like https://api.openai.com/v1";
  if (url.username !== "" || url.password !== "") return "holds a user or password; put the key into `key`";
  if (url.search !== "" || url.hash !== "") return "ends in a query or fragment, which requests would not carry";
  return undefined;
}
