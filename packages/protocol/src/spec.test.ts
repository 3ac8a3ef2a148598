import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorCodes } from "./errors.js";
import { openapi } from "./openapi.js";
import { routes } from "./routes.js";
import { specFiles } from "./spec.js";

type Json = Record<string, unknown>;

/** Every local reference in a document, each with what it leads to. */
function references(document: Json): { ref: string; target: unknown }[] {
  const found: { ref: string; target: unknown }[] = [];
  const walk = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (key === "$ref" && typeof member === "string") {
        const steps = member.replace(/^#\//, "").split("/");
        found.push({
          ref: member,
          target: steps.reduce<unknown>((at, step) => (at as Json | undefined)?.[step], document),
        });
      } else walk(member);
    }
  };
  walk(document);
  return found;
}

describe("spec/", () => {
  test.each(Object.entries(specFiles()))(
    "%s is what the sources say; else run `npm run build && npm run emit`",
    (name, content) => {
      expect(readFileSync(new URL(`../../../spec/${name}`, import.meta.url), "utf8") === content).toBe(true);
    },
  );

  test.each(Object.entries(specFiles()))(
    "%s says at its top that it is generated, and every reference leads somewhere",
    (_name, content) => {
      const document = JSON.parse(content) as Json;
      expect(content.slice(0, 200)).toContain("npm run emit");
      for (const { ref, target } of references(document)) expect(target, ref).toBeTypeOf("object");
    },
  );

  test("errors.json has every code", () => {
    const { errors } = JSON.parse(specFiles()["errors.json"]!) as { errors: Json };
    expect(Object.keys(errors)).toEqual(errorCodes);
  });
});

describe("EDGE-5: the OpenAPI description", () => {
  const { paths } = openapi() as { paths: Record<string, Record<string, Json>> };
  const operations = Object.values(paths).flatMap((item) => Object.values(item));

  test("has every route once, under a name of its own", () => {
    expect(operations).toHaveLength(routes.length);
    expect(new Set(operations.map((operation) => operation["operationId"])).size).toBe(routes.length);
  });

  test("declares the parameters of each path, and a body for each POST", () => {
    for (const [path, item] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        const declared = ((operation["parameters"] ?? []) as Json[]).filter((one) => one["in"] === "path");
        expect(declared.map((one) => `{${one["name"]}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
        if (method === "post") expect(operation["requestBody"], path).toBeDefined();
      }
    }
  });

  test("every route of the API says what its errors look like", () => {
    for (const [path, item] of Object.entries(paths).filter(([name]) => name.startsWith("/v1/"))) {
      for (const operation of Object.values(item)) {
        expect(Object.keys(operation["responses"] as Json), path).toEqual(
          expect.arrayContaining(["200", "400", "401", "500", "503"]),
        );
      }
    }
  });
});
