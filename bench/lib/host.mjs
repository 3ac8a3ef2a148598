// What the operating system knows about a process. Linux only, like the machines that these figures are for.
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

const ticksPerSec = 100;

/** Seconds of CPU (user and system) that a process has used, from /proc/PID/stat. */
export function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in brackets and may hold anything; the others follow the last bracket.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSec;
}

/** Bytes of memory that a process holds. */
export function rssBytes(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
}

const timeWait = "06";

/** Connections with this port at either end that are in TIME_WAIT. */
export function timeWaitCount(port) {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return rows.filter((row) => {
    const [, local, remote, state] = row.trim().split(/\s+/);
    return state === timeWait && (local.endsWith(hex) || remote.endsWith(hex));
  }).length;
}

/** How many files a process of ours may have open. Node raises the soft limit to the hard one when it starts. */
export function openFilesMax() {
  const row = /Max open files\s+(\d+|unlimited)\s+(\d+|unlimited)/.exec(readFileSync("/proc/self/limits", "utf8"));
  return row[2] === "unlimited" ? Number.POSITIVE_INFINITY : Number(row[2]);
}

/** `load`: how many processes wanted to run in the last minute. Ask before the bench makes a load of its own. */
export function machine() {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    node: process.version,
    platform: process.platform,
    load: loadavg()[0],
  };
}
