import { createRequire } from "node:module";

/** The checker of JSON Schemas that the server depends on: tests borrow it from there, so that it is named once. */
const ofServer = createRequire(new URL("../../packages/server/package.json", import.meta.url));

export const { Ajv2020 } = ofServer("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
