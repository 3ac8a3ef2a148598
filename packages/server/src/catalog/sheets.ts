/** What a question notes of each document, by its number: a column for each stage, and one for what they add up to. */
export interface Sheet {
  readonly lexical: Float32Array;
  readonly concepts: Float32Array;
  readonly words: Float32Array;
  readonly embedding: Float32Array;
  readonly scores: Float32Array;
}

const ROOM_MIN = 64;
/** Questions under way at once are few: those in turns, one that sets thresholds, and one in a single go. */
const KEPT_MAX = 4;

/** Sheets are lent and given back: one for a hundred thousand documents has two megabytes, too much to make anew for each question. */
export class Sheets {
  private readonly free: Sheet[] = [];

  /** One with room for at least so many documents; its columns hold anything. */
  take(documents: number): Sheet {
    const sheet = this.free.pop();
    if (sheet !== undefined && sheet.scores.length >= documents) return sheet;
    let room = ROOM_MIN;
    while (room < documents) room *= 2;
    const column = () => new Float32Array(room);
    return { lexical: column(), concepts: column(), words: column(), embedding: column(), scores: column() };
  }

  /** Nobody looks at it any more. */
  give(sheet: Sheet): void {
    if (this.free.length < KEPT_MAX) this.free.push(sheet);
  }
}
