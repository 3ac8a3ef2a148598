// Loaded into a measured process before its program (`node --import`): how late its event loop is. A timer is due every
// millisecond; how much later it comes is how long the loop was held. The time for which the operating system gave the core to
// other programs meanwhile is known on Linux, and told apart. Begun and read through the inspector; until then it costs nothing.
import { openSync, readSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";

const everyMs = 1;
/** Upper ends of the classes, ms; one more class lies above the last. */
const bounds = [1, 2, 5, 10, 20, 50, 100];
const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
const text = Buffer.alloc(128);

/** Nanoseconds for which this thread could have run and had no core. */
function waitedNs() {
  const length = readSync(file, text, 0, text.length, 0);
  return Number(text.latin1Slice(0, length).split(" ")[1]);
}

class Histogram {
  counts = new Array(bounds.length + 1).fill(0);
  maxMs = 0;
  sumMs = 0;

  add(ms) {
    const at = bounds.findIndex((bound) => ms <= bound);
    this.counts[at < 0 ? bounds.length : at]++;
    this.maxMs = Math.max(this.maxMs, ms);
    this.sumMs += ms;
  }
}

const watch = { held: new Histogram(), late: new Histogram(), collecting: new Histogram() };
globalThis.loopWatch = {
  begin() {
    let [lastAt, lastWaited] = [performance.now(), waitedNs()];
    setInterval(() => {
      const [now, waited] = [performance.now(), waitedNs()];
      const late = Math.max(0, now - lastAt - everyMs);
      watch.late.add(late);
      watch.held.add(Math.max(0, late - (waited - lastWaited) / 1e6));
      [lastAt, lastWaited] = [now, waited];
    }, everyMs).unref();
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watch.collecting.add(duration);
    }).observe({ entryTypes: ["gc"] });
  },
  read: () => JSON.stringify({ bounds, ...watch }),
};
