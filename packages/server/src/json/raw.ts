/**
 * Finds the raw text of values in a JSON message, so that inputs and results are passed on to the digit and are never
 * serialised again. One pass, no recursion; it presumes nothing about validity (JSON.parse judges that).
 */

/** Numbers kept of each member: where its key stands, and where its value does. */
const STRIDE = 4;

/** Where the values of one object stand in the text. Reused between messages: read it before the next scan. */
export class Spans {
  /** Deepest nesting seen. */
  depth = 0;
  private positions = new Int32Array(16 * STRIDE);
  private size = 0;
  /** Keys whose reading differs from what stands there, by the number of their member. */
  private readonly escaped = new Map<number, string | undefined>();
  private text = "";

  reset(text: string): void {
    this.text = text;
    this.depth = 0;
    this.restart();
  }

  /** Forgets the members noted so far. */
  restart(): void {
    this.size = 0;
    if (this.escaped.size > 0) this.escaped.clear();
  }

  open(keyStart: number, keyEnd: number, isEscaped: boolean, start: number): void {
    const at = this.size * STRIDE;
    if (at === this.positions.length) this.grow();
    const { positions } = this;
    positions[at] = keyStart;
    positions[at + 1] = keyEnd;
    positions[at + 2] = start;
    positions[at + 3] = -1;
    if (isEscaped) this.escaped.set(this.size, unescaped(this.text.slice(keyStart, keyEnd)));
    this.size++;
  }

  close(end: number): void {
    this.positions[this.size * STRIDE - 1] = end;
  }

  /** Whether the newest member has this key. */
  isNewest(key: string): boolean {
    return this.size > 0 && this.isKey(this.size - 1, key);
  }

  /** The raw text of the last value under this key, without surrounding white space. */
  raw(key: string): string | undefined {
    for (let i = this.size - 1; i >= 0; i--) {
      const end = this.positions[i * STRIDE + 3]!;
      if (end >= 0 && this.isKey(i, key)) return this.text.slice(this.positions[i * STRIDE + 2], end).trim();
    }
    return undefined;
  }

  private isKey(i: number, key: string): boolean {
    if (this.escaped.size > 0 && this.escaped.has(i)) return this.escaped.get(i) === key;
    const start = this.positions[i * STRIDE]!;
    return this.positions[i * STRIDE + 1]! - start === key.length && this.text.startsWith(key, start);
  }

  private grow(): void {
    const larger = new Int32Array(this.positions.length * 2);
    larger.set(this.positions);
    this.positions = larger;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** A key as JSON.parse reads it: `inp\u0075t` is `input`, and must not pass for another. Undefined if it is no JSON. */
function unescaped(key: string): string | undefined {
  try {
    return JSON.parse(`"${key}"`) as string;
  } catch {
    return undefined;
  }
}

/** Texts up to this length share one array. */
const SHARED_UNITS = 64 * 1024;
const shared = new Uint16Array(SHARED_UNITS);

/**
 * The text's characters as numbers, which are looked through in half the time that a string takes; there may be more
 * behind them. The bytes that the text was read from will do if they are as many: then each stands for one character.
 */
function unitsOf(text: string, bytes: Uint8Array | undefined): Uint8Array | Uint16Array {
  if (bytes?.length === text.length) return bytes;
  const units = text.length > SHARED_UNITS ? new Uint16Array(text.length) : shared;
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units;
}

/**
 * Notes the members of the outermost object in `top`, and those of its `params`, or else of its `result`, in `inner`.
 * What other members hold is of no concern: nothing in them may be taken for a parameter. The last of several counts.
 * `bytes`: the UTF-8 that the text was read from, if it is at hand.
 */
export function scan(text: string, top: Spans, inner: Spans, bytes?: Uint8Array): void {
  const units = unitsOf(text, bytes);
  top.reset(text);
  inner.reset(text);
  let depth = 0;
  let deepest = 0;
  // Whether the container at depth 1 and 2 is an object, and whether its next string is a key.
  let object1 = false;
  let object2 = false;
  let key1 = false;
  let key2 = false;
  let keyStart = 0;
  let keyEnd = 0;
  let keyEscaped = false;
  let open1 = false;
  let open2 = false;
  let params = false;
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const c = units[i]!;
    switch (c) {
      case QUOTE: {
        const start = i + 1;
        let escaped = false;
        for (i = start; i < length && units[i] !== QUOTE; i++) {
          if (units[i] !== BACKSLASH) continue;
          escaped = true;
          i++;
        }
        if ((depth === 1 && key1) || (depth === 2 && key2)) {
          keyStart = start;
          keyEnd = Math.min(i, length);
          keyEscaped = escaped;
        }
        break;
      }
      case 58: // :
        if (depth === 1 && key1) {
          top.open(keyStart, keyEnd, keyEscaped, i + 1);
          key1 = false;
          open1 = true;
        } else if (depth === 2 && key2) {
          inner.open(keyStart, keyEnd, keyEscaped, i + 1);
          key2 = false;
          open2 = true;
        }
        break;
      case 44: // ,
        if (depth === 1 && object1) {
          if (open1) top.close(i);
          open1 = false;
          key1 = true;
        } else if (depth === 2 && object2) {
          if (open2) inner.close(i);
          open2 = false;
          key2 = true;
        }
        break;
      case 123: // {
      case 91: // [
        depth++;
        if (depth > deepest) deepest = depth;
        if (depth === 1) object1 = key1 = c === 123;
        else if (depth === 2) {
          const isParams = c === 123 && open1 && top.isNewest("params");
          object2 = key2 = isParams || (c === 123 && open1 && !params && top.isNewest("result"));
          if (object2) inner.restart();
          if (isParams) params = true;
        }
        break;
      case 125: // }
      case 93: // ]
        if (depth === 1) {
          if (open1) top.close(i);
          open1 = key1 = object1 = false;
        } else if (depth === 2) {
          if (open2) inner.close(i);
          open2 = key2 = object2 = false;
        }
        depth--;
        break;
    }
  }
  top.depth = deepest;
}

/** The raw text of a value deeper inside, for the rare spellings that nest: `rawAt(params, ["task", "input"])`. */
export function rawAt(text: string, path: readonly string[]): string | undefined {
  const spans = new Spans();
  const unused = new Spans();
  let at: string | undefined = text;
  for (const key of path) {
    if (at === undefined) return undefined;
    scan(at, spans, unused);
    at = spans.raw(key);
  }
  return at;
}
