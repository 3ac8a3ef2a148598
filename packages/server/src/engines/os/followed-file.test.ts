import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeSystem } from "../../../../../test/kit/fake-system.js";
import { type Content, FollowedFile } from "./followed-file.js";

const BYTES_MAX = 100;
let dir: string;
let path: string;
let system: FakeSystem;
let file: FollowedFile;
/** What was told, in order: texts, and problems in brackets. */
let told: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "followed-file-"));
  path = join(dir, "words.yaml");
  system = new FakeSystem();
  told = [];
  writeFileSync(path, "one");
  follow();
});
afterEach(() => {
  file.stop();
  rmSync(dir, { recursive: true });
});
const shown = (content: Content): string => (content.ok ? content.text : `(${content.problem})`);
function follow(): void {
  file = new FollowedFile(path, BYTES_MAX, system);
  file.follow((content) => told.push(shown(content)));
}
/** Longer than any change may take to be told (F1). */
const pass = (): void => system.advance(2_000);

describe("CAT-2: a file that is followed", () => {
  test("is read at once, and nothing is told of that", () => {
    expect(file.content).toEqual({ ok: true, text: "one" });
    pass();
    expect(told).toEqual([]);
  });

  test("F1: tells what was written into it, once", () => {
    writeFileSync(path, "two");
    pass();
    pass();
    expect(told).toEqual(["two"]);
    expect(file.content).toEqual({ ok: true, text: "two" });
  });

  test("F1: tells a change of the same length at a time that was set back", () => {
    utimesSync(path, 1, 1);
    pass();
    const { ctimeNs } = statSync(path, { bigint: true });
    // Clocks of file systems tick every few milliseconds; within one tick nobody could tell.
    do {
      writeFileSync(path, "ten");
      utimesSync(path, 1, 1);
    } while (statSync(path, { bigint: true }).ctimeNs === ctimeNs);
    pass();
    expect(told).toEqual(["ten"]);
  });

  test("F1: tells what came between its reading and the first look", () => {
    writeFileSync(path, "early");
    pass();
    expect(told).toEqual(["early"]);
  });

  test("F1: tells what an editor puts in its place by renaming, over and over", () => {
    for (const text of ["two", "three"]) {
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
      pass();
    }
    expect(told).toEqual(["two", "three"]);
  });

  test("F1: tells what another target of a symlink above it says, as Kubernetes mounts it", () => {
    for (const version of ["v1", "v2"]) {
      mkdirSync(join(dir, version));
      writeFileSync(join(dir, version, "words.yaml"), version);
    }
    symlinkSync("v1", join(dir, "data"));
    rmSync(path);
    symlinkSync(join("data", "words.yaml"), path);
    pass();
    symlinkSync("v2", join(dir, "data.new"));
    renameSync(join(dir, "data.new"), join(dir, "data"));
    pass();
    expect(told).toEqual(["v1", "v2"]);
  });

  test("F1: tells once that it is gone, and that it is back though it says what it said", () => {
    rmSync(path);
    pass();
    pass();
    writeFileSync(path, "one");
    pass();
    expect(told).toEqual(["(there is no such file)", "one"]);
  });

  test("F2: tells nothing when it was only touched, or replaced by the same", () => {
    pass();
    utimesSync(path, 1, 1);
    pass();
    writeFileSync(`${path}.new`, "one");
    renameSync(`${path}.new`, path);
    pass();
    expect(told).toEqual([]);
  });

  test("is not read while it is being written, nor in the moment in which it is replaced", () => {
    rmSync(path);
    system.advance(1_000);
    for (let at = 0; at < 12; at++) {
      writeFileSync(path, "half", { flag: "a" });
      system.advance(250);
    }
    expect(told).toEqual([]);
    pass();
    expect(told).toEqual(["half".repeat(12)]);
  });

  test("that is too large, or no file, is a problem and is not read", () => {
    writeFileSync(path, "x".repeat(BYTES_MAX + 1));
    pass();
    rmSync(path);
    mkdirSync(path);
    pass();
    expect(told).toEqual([`(it has ${BYTES_MAX + 1} bytes, and at most ${BYTES_MAX} are read)`, "(it is not a file)"]);
  });

  test("that is missing from the start is a problem, until it comes", () => {
    file.stop();
    rmSync(path);
    follow();
    expect(shown(file.content)).toBe("(there is no such file)");
    writeFileSync(path, "late");
    pass();
    expect(told).toEqual(["late"]);
  });

  test("leaves no timer behind when it is stopped", () => {
    pass();
    expect(system.pending).toBe(1);
    file.stop();
    expect(system.pending).toBe(0);
  });
});
