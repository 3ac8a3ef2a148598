import { type Capability, ReachError } from "@agent-reach/protocol";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RE2JS } from "re2js";

/** Checks data against one capability's schemas. Compiled on first use; the same schema text is compiled once. */
export interface Contract {
  /** Undefined when fine, else where and why. */
  checkInput: ((input: unknown) => Violation | undefined) | undefined;
  checkOutput: ((output: unknown) => Violation | undefined) | undefined;
}

export interface Violation {
  path: string;
  rule: string;
}

/** Compiled schemas kept at once. One is some tens of kB. */
const COMPILED_MAX = 4096;

/** Of what takes anything. */
export const FREE: Contract = { checkInput: undefined, checkOutput: undefined };

/**
 * Compiles users' JSON Schemas (2020-12, or draft-07 by its `$schema`). Patterns run on RE2, whose time is linear in the
 * text, since a user's regular expression could otherwise hang the node. Nothing is fetched, coerced or filled in.
 */
export class Contracts {
  private readonly ajv2020 = new Ajv2020(options);
  private readonly ajv7 = new Ajv(options);
  private readonly shared = new Map<string, Shared>();

  constructor() {
    // The package's types describe CommonJS; at run time both shapes occur.
    const add = ((addFormats as unknown as { default?: typeof addFormats.default }).default ??
      addFormats) as typeof addFormats.default;
    add(this.ajv2020);
    add(this.ajv7);
  }

  /** Throws INVALID_CARD naming the path if a schema of the capability is not a valid one. `index`: its place in the card. */
  verify(capability: Capability, index: number): void {
    for (const key of ["inputSchema", "outputSchema"] as const) {
      const schema = capability[key];
      if (schema === undefined) continue;
      try {
        this.validator(this.share(schema));
      } catch (cause) {
        const path = `capabilities[${index}].${key}`;
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new ReachError(
          "INVALID_CARD",
          `${path} of "${capability.name}" is not a usable JSON Schema: ${why}. Mend the schema, or leave it out to accept any input.`,
          {
            path,
            details: { capability: capability.name },
          },
        );
      }
    }
  }

  of(capability: Capability): Contract {
    const { inputSchema, outputSchema } = capability;
    if (inputSchema === undefined && outputSchema === undefined) return FREE;
    return { checkInput: this.checker(inputSchema), checkOutput: this.checker(outputSchema) };
  }

  private checker(schema: Record<string, unknown> | boolean | undefined) {
    if (schema === undefined || schema === true) return undefined;
    const shared = this.share(schema);
    return (data: unknown): Violation | undefined => {
      const validate = this.validator(shared);
      if (validate(data)) return undefined;
      const error = validate.errors?.[0];
      const missing =
        error?.keyword === "required" ? `/${(error.params as { missingProperty: string }).missingProperty}` : "";
      return {
        path: jsonPath((error?.instancePath ?? "") + missing),
        rule: error?.message ?? "does not match the schema",
      };
    };
  }

  /** The one entry for all schemas of the same text. */
  private share(schema: Record<string, unknown> | boolean): Shared {
    const text = JSON.stringify(schema);
    let shared = this.shared.get(text);
    if (shared === undefined) {
      shared = { schema, validate: undefined };
      if (this.shared.size >= COMPILED_MAX) {
        const [oldest, entry] = this.shared.entries().next().value!;
        entry.validate = undefined;
        this.shared.delete(oldest);
      }
      this.shared.set(text, shared);
    }
    return shared;
  }

  private validator(shared: Shared): ValidateFunction {
    if (shared.validate !== undefined) return shared.validate;
    const { schema } = shared;
    const draft7 = typeof schema === "object" && /draft-0[467]/.test(String(schema["$schema"] ?? ""));
    const ajv = draft7 ? this.ajv7 : this.ajv2020;
    try {
      shared.validate = ajv.compile(schema);
    } finally {
      // ajv remembers by identity what it compiled, and what it failed to; ours is the memory that is bounded.
      if (typeof schema === "object") ajv.removeSchema(schema);
    }
    return shared.validate;
  }
}

interface Shared {
  readonly schema: Record<string, unknown> | boolean;
  /** Undefined until first used, and again when it had to make room. */
  validate: ValidateFunction | undefined;
}

/** `/items/0/id` → `items[0].id`; the whole value is ``. */
export function jsonPath(pointer: string): string {
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path += /^\d+$/.test(key) ? `[${key}]` : path === "" ? key : `.${key}`;
  }
  return path;
}

const linearRegExp = Object.assign(
  (pattern: string, _flags: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    // ajv tells patterns apart by their text, so the object must show it.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/u` };
  },
  { code: 'require("re2js")' },
);

const options = {
  strict: false,
  // `strict` would bring it along: 1e400, which parsing makes Infinity, is no number to who asked for one.
  strictNumbers: true,
  allErrors: false,
  addUsedSchema: false,
  // Else every object would have a `constructor`, and `{"properties":{"constructor":…}}` would judge that.
  ownProperties: true,
  validateFormats: true,
  logger: false as const,
  code: { regExp: linearRegExp as never },
};
