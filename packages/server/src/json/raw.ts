/**
 * Finds the raw text of values in a JSON message, so that inputs and results are passed on to the digit and are never
 * serialised again. One pass, no recursion; it presumes nothing about validity (JSON.parse judges that).
 */

/** Where the values of one object stand in the text. Reused between messages: read it before the next scan. */
export class Spans {
  /** Deepest nesting seen. */
  depth = 0;
  /** Where each key stands; its reading only where that differs from what stands there. */
  private readonly keyStarts: number[] = [];
  private readonly keyEnds: number[] = [];
  private readonly escaped: (string | undefined)[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  private size = 0;
  private text = "";

  reset(text: string): void {
    this.text = text;
    this.size = 0;
    this.depth = 0;
  }

  /** Forgets the members noted so far. */
  restart(): void {
    this.size = 0;
  }

  open(keyStart: number, keyEnd: number, start: number): void {
    const { size } = this;
    this.keyStarts[size] = keyStart;
    this.keyEnds[size] = keyEnd;
    this.escaped[size] = unescaped(this.text, keyStart, keyEnd);
    this.starts[size] = start;
    this.ends[size] = -1;
    this.size++;
  }

  close(end: number): void {
    this.ends[this.size - 1] = end;
  }

  /** Whether the newest member has this key. */
  isNewest(key: string): boolean {
    return this.size > 0 && this.isKey(this.size - 1, key);
  }

  /** The raw text of the last value under this key, without surrounding white space. */
  raw(key: string): string | undefined {
    for (let i = this.size - 1; i >= 0; i--) {
      if (this.ends[i]! >= 0 && this.isKey(i, key)) return this.text.slice(this.starts[i], this.ends[i]).trim();
    }
    return undefined;
  }

  private isKey(i: number, key: string): boolean {
    const read = this.escaped[i];
    if (read !== undefined) return read === key;
    const start = this.keyStarts[i]!;
    return this.keyEnds[i]! - start === key.length && this.text.startsWith(key, start);
  }
}

const QUOTE = 34;
const BACKSLASH = 92;

/** Index of the quote that ends the string which begins at `start` (its opening quote); the text's length if it never ends. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0) {
    let back = end - 1;
    while (text.charCodeAt(back) === BACKSLASH) back--;
    if (((end - back) & 1) === 1) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** A key as JSON.parse reads it, if that is not what stands there: `inp\u0075t` is `input`, and must not pass for another. */
function unescaped(text: string, start: number, end: number): string | undefined {
  for (let i = start; i < end; i++) {
    if (text.charCodeAt(i) !== BACKSLASH) continue;
    try {
      return JSON.parse(`"${text.slice(start, end)}"`) as string;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * Notes the members of the outermost object in `top`, and those of its `params`, or else of its `result`, in `inner`.
 * What other members hold is of no concern: nothing in them may be taken for a parameter. The last of several counts.
 */
export function scan(text: string, top: Spans, inner: Spans): void {
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
  let open1 = false;
  let open2 = false;
  let params = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    switch (c) {
      case QUOTE: {
        const end = stringEnd(text, i);
        if ((depth === 1 && key1) || (depth === 2 && key2)) {
          keyStart = i + 1;
          keyEnd = end;
        }
        i = end;
        break;
      }
      case 58: // :
        if (depth === 1 && key1) {
          top.open(keyStart, keyEnd, i + 1);
          key1 = false;
          open1 = true;
        } else if (depth === 2 && key2) {
          inner.open(keyStart, keyEnd, i + 1);
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
