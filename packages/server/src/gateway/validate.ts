import { type Method, ReachError } from "@agent-reach/protocol";
import * as schemas from "@agent-reach/protocol/schemas";
import { Ajv2020 } from "ajv/dist/2020.js";
import { jsonPath } from "../registry/contract.js";
import { lowerIds } from "./ids.js";

const { params, ...shapes } = schemas;
/** A method, whose parameters are meant, or one of the wire's shapes, whose names are capitalised. */
type Shape = Method | Exclude<keyof typeof shapes, Uncapitalize<string>>;

const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false });
/** Compiled when first needed: all of them at once would make every start half a second longer. */
const compiled = new Map<Shape, ReturnType<typeof ajv.compile>>();

export function isMethod(name: string): name is Method {
  return Object.hasOwn(params, name);
}

/**
 * Checks parameters or a body against the wire's schema; the error names the field, the rule and what is wanted. What fits
 * has its ids in lower case afterwards.
 */
export function check(name: Shape, value: unknown): void {
  let fits = compiled.get(name);
  if (fits === undefined) {
    fits = ajv.compile(isMethod(name) ? params[name] : shapes[name]);
    compiled.set(name, fits);
  }
  if (fits(value)) return lowerIds(value);
  const error = fits.errors![0]!;
  const missing =
    error.keyword === "required" ? `/${(error.params as { missingProperty: string }).missingProperty}` : "";
  const path = jsonPath(error.instancePath + missing);
  const allowed =
    error.keyword === "enum" ? `: ${(error.params as { allowedValues: string[] }).allowedValues.join(", ")}` : "";
  const what = path === "" ? "the request" : `"${path}"`;
  throw new ReachError("INVALID_REQUEST", `${what} ${missing === "" ? `${error.message}${allowed}` : "is missing"}.`, {
    path,
    details: { rule: error.message },
  });
}
