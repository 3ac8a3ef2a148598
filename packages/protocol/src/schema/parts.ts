/** The small pieces that the shapes are made of. Not part of the package's face. */
import { Type } from "typebox";
import { limits } from "../limits.js";

export const optional = Type.Optional;
export const text = (max: number = limits.textLengthMax) => Type.String({ maxLength: max });
export const key = (max: number = limits.keyLengthMax) => Type.String({ minLength: 1, maxLength: max });
export const whole = (minimum: number, maximum?: number) =>
  Type.Integer(maximum === undefined ? { minimum } : { minimum, maximum });
export const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values] });
export const anyObject = Type.Unsafe<Record<string, unknown>>({ type: "object" });
export const anything = Type.Unknown();
