import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Import {
  /** As it stands in the source: `./x.js`, `node:fs`, `@agent-reach/protocol`. */
  specifier: string;
  /** Erased by the compiler. */
  typeOnly: boolean;
  /** Path of the file from the root, for relative imports. */
  target?: string;
}

export interface Source {
  /** From the root, with forward slashes. */
  path: string;
  text: string;
  /** Without comments and the contents of strings, for looking at what the code calls. */
  code: string;
  imports: Import[];
}

/** All TypeScript files under a folder of the repository that satisfy. */
export function sources(folder: string, keep: (path: string) => boolean = () => true): Source[] {
  const found: Source[] = [];
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const full = join(directory, entry.name);
      const path = relative(root, full).split(sep).join("/");
      if (entry.isDirectory()) {
        if (entry.name !== "node_modules" && entry.name !== "dist") walk(full);
      } else if (entry.name.endsWith(".ts") && !entry.name.endsWith(".d.ts") && keep(path)) found.push(read(path));
    }
  };
  walk(join(root, folder));
  return found;
}

function read(path: string): Source {
  const text = readFileSync(join(root, path), "utf8");
  const plain = withoutComments(text);
  return {
    path,
    text,
    code: plain.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""'),
    imports: importsOf(path, plain),
  };
}

export function importsOf(path: string, code: string): Import[] {
  const imports: Import[] = [];
  const add = (specifier: string, typeOnly: boolean): void => {
    const target = specifier.startsWith(".")
      ? relative(root, resolve(root, dirname(path), specifier))
          .split(sep)
          .join("/")
          .replace(/\.js$/, ".ts")
      : undefined;
    imports.push({ specifier, typeOnly, ...(target === undefined ? {} : { target }) });
  };
  for (const [, keyword, clause, specifier] of code.matchAll(
    /^\s*(import|export)\s+([^;"']*?)\s*from\s*["']([^"']+)["']/gm,
  )) {
    // `import { type A, type B } from` is erased as well.
    const names = /^\{([^}]*)\}$/
      .exec(clause!.trim())?.[1]
      ?.split(",")
      .map((n) => n.trim())
      .filter((n) => n !== "");
    const allTypes =
      keyword === "import" && names !== undefined && names.length > 0 && names.every((n) => n.startsWith("type "));
    add(specifier!, clause!.trim().startsWith("type ") || allTypes);
  }
  for (const [, specifier] of code.matchAll(/^\s*import\s+["']([^"']+)["']/gm)) add(specifier!, false);
  for (const [, specifier] of code.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g)) add(specifier!, false);
  return imports;
}

/** Comments replaced by nothing; text in quotes is left alone, for the specifiers stand there. */
export function withoutComments(text: string): string {
  return text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
    (_all, quoted?: string) => quoted ?? "",
  );
}
