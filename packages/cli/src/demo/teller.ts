import type { Paint } from "../render/paint.js";

const width = 92;

/** Tells the story to a person. With --json nobody listens, and only the checks count. */
export class Teller {
  readonly paint: Paint;
  readonly steps: string[] = [];
  /** Everything that was not as it should be. */
  readonly problems: string[] = [];
  readonly #out: (text: string) => void;

  constructor(out: (text: string) => void, paint: Paint) {
    this.#out = out;
    this.paint = paint;
  }

  /** A heading, and a sentence on what will happen. */
  step(title: string, sentence: string): void {
    this.steps.push(title);
    this.#out(`\n${this.paint.strong(`${String(this.steps.length).padStart(2)}  ${title}`)}\n`);
    for (const line of wrap(sentence, width - 4)) this.#out(`    ${this.paint.dim(line)}\n`);
  }

  /** What came of it. */
  tell(text: string): void {
    this.#bullet(this.paint.name("→"), text);
  }

  /** What came of it, and whether that is as it should be. */
  check(holds: boolean, text: string): void {
    this.#bullet(holds ? this.paint.good("✓") : this.paint.bad("✗"), text);
    if (!holds) this.problems.push(`${this.steps.at(-1)}: ${text}`);
  }

  fail(problem: string): void {
    this.#bullet(this.paint.bad("✗"), problem);
    this.problems.push(problem);
  }

  /** Text as it stands. */
  show(text: string): void {
    this.#out(text);
  }

  #bullet(mark: string, text: string): void {
    const [first = "", ...rest] = wrap(text, width - 6);
    this.#out(`    ${mark} ${first}\n`);
    for (const line of rest) this.#out(`      ${line}\n`);
  }
}

/** Lines of so many characters at most, broken at blanks. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
