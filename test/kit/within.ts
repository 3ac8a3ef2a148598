/** How long a test waits for one thing before it says what did not come. Generous: a slow machine is not a failure. */
export const patienceMs = 8_000;

/** The promise, or an error that says what was waited for. A deadline is the only timer that tests have. */
export function within<T>(promise: Promise<T>, what: string, ms: number = patienceMs): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain for ${what}`)), ms);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** A promise with its handles outside. */
export function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/**
 * Asks again until the answer satisfies, for views which are allowed to lag behind (metrics, listings after a crash).
 * Where the protocol has an event, await the event instead.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  what: string,
  ms: number = patienceMs,
): Promise<T> {
  const until = performance.now() + ms;
  let last: T;
  do {
    last = await ask();
    if (satisfies(last)) return last;
  } while (performance.now() < until);
  throw new Error(`waited ${ms} ms in vain for ${what}; the last answer was ${JSON.stringify(last)?.slice(0, 500)}`);
}
