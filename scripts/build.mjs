// Builds every package with the TypeScript compiler. `npm ci` runs it as the root's prepare step.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const root = fileURLToPath(new URL("..", import.meta.url));
const built = spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], { cwd: root, stdio: "inherit" });
process.exit(built.status ?? 1);
