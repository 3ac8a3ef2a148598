import { BlockList, isIP } from "node:net";
import { checkModel } from "./model-rules.js";
import type { Config, SettingPath } from "./shape.js";

/** A rule between settings that is broken. `settings` are those it speaks about, the first one being the culprit. */
export interface RuleFinding {
  settings: SettingPath[];
  message: string;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether only this machine can reach `host`. Names other than `localhost` count as reachable: they may change. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (bare === "localhost") return true;
  const family = isIP(bare);
  return family !== 0 && loopback.check(bare, family === 4 ? "ipv4" : "ipv6");
}

/** Silence until `suspect`, for an agent whose card names no interval of its own. */
export function ttlSecOf(lease: Config["lease"], heartbeatIntervalSec = lease.heartbeatIntervalSec): number {
  return lease.ttlSec ?? heartbeatIntervalSec * lease.ttlHeartbeats;
}

/** What single settings cannot say: rules that hold between them. `isSet` says whether somebody set a path. */
export function checkRules(
  config: Config,
  isSet: (path: SettingPath) => boolean,
): { problems: RuleFinding[]; warnings: RuleFinding[] } {
  const problems: RuleFinding[] = [];
  const warnings: RuleFinding[] = [];
  checkHost(config, problems, warnings);
  checkLease(config, isSet, problems, warnings);
  for (const name of ["fine", "llm"] as const) checkModel(config, name, problems, warnings);
  return { problems, warnings };
}

/** SEC-1. */
function checkHost({ server }: Config, problems: RuleFinding[], warnings: RuleFinding[]): void {
  if (isLoopbackHost(server.host)) return;
  if (server.insecure) {
    warnings.push({
      settings: ["server.insecure"],
      message: `whoever reaches ${server.host}:${server.port} may register agents, call them and read every task, since nobody is authenticated; let only trusted networks reach it`,
    });
    return;
  }
  problems.push({
    settings: ["server.host"],
    message:
      `is ${server.host}, which others can reach, and this release authenticates nobody; ` +
      "listen on 127.0.0.1 (with a proxy that authenticates in front of it), or allow it with --insecure (server.insecure: true) in a network you trust",
  });
}

/** LIVE-1: a lease must survive a late heartbeat, and must not hide a dead agent for minutes. */
function checkLease(
  { lease }: Config,
  isSet: (path: SettingPath) => boolean,
  problems: RuleFinding[],
  warnings: RuleFinding[],
): void {
  const heartbeat = lease.heartbeatIntervalSec;
  const ttl = ttlSecOf(lease);
  const culprit: SettingPath = lease.ttlSec !== undefined ? "lease.ttlSec" : "lease.ttlHeartbeats";
  const least = 3 * heartbeat;
  // Products of decimals are off in the last digit: 3 × 0.1 is a hair over 0.3.
  if (ttl < least - 1e-9) {
    problems.push({
      settings: [culprit, "lease.heartbeatIntervalSec"],
      message:
        `makes a ttl of ${seconds(ttl)}, under 3 heartbeats of ${seconds(heartbeat)}: two late heartbeats would make a healthy agent suspect; ` +
        `set lease.ttlSec to ${seconds(least)} or more, or shorten lease.heartbeatIntervalSec`,
    });
    return;
  }
  const touched = (["lease.ttlSec", "lease.ttlHeartbeats", "lease.heartbeatIntervalSec"] as const).some(isSet);
  if (!touched || (heartbeat === 15 && ttl === 45)) return;
  const settings: SettingPath[] = isSet(culprit)
    ? [culprit, "lease.heartbeatIntervalSec"]
    : ["lease.heartbeatIntervalSec", culprit];
  if (ttl < least + 5) {
    warnings.push({
      settings,
      message: `makes a ttl of ${seconds(ttl)}, which leaves less than 5 s after 3 heartbeats of ${seconds(heartbeat)}: a short pause of the network makes agents suspect; ${seconds(least + 5)} or more is calmer`,
    });
  }
  if (ttl < 20) {
    warnings.push({
      settings,
      message: `makes a ttl of ${seconds(ttl)}, under 20 s: a long garbage collection or a busy machine looks like death`,
    });
  }
  if (ttl > 90) {
    warnings.push({
      settings,
      message: `makes a ttl of ${seconds(ttl)}, over 90 s: a dead agent gets work for that long`,
    });
  }
}

const seconds = (value: number): string => `${Number(value.toFixed(3))} s`;
