import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReachError } from "@agent-reach/protocol";
import { afterAll, describe, expect, it } from "vitest";
import { checkConfig, defaultConfig, loadConfig, settings, withoutSecrets } from "./config.js";

const dir = mkdtempSync(join(tmpdir(), "reach-config-"));
afterAll(() => rmSync(dir, { recursive: true }));

function fileOf(text: string, name = "reach.yaml"): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

function refusal(load: () => unknown): ReachError {
  try {
    load();
  } catch (error) {
    expect(error).toBeInstanceOf(ReachError);
    return error as ReachError;
  }
  throw new Error("expected a refusal");
}

describe("configuration", () => {
  it("runs on defaults with no file", () => {
    const { config, warnings, origins } = loadConfig({});
    expect(config.server).toEqual({
      host: "127.0.0.1",
      port: 8800,
      allowedOrigins: [],
      allowedHosts: [],
      insecure: false,
      requestTimeoutMs: 30_000,
    });
    expect(config.lease).toEqual({
      heartbeatIntervalSec: 15,
      ttlHeartbeats: 3,
      graceHeartbeats: 2,
      purgeAfterSec: 86400,
      flapRestSec: 30,
      massExpiryHoldSec: 300,
    });
    expect(config.delivery.backoffMs).toEqual([1000, 3000, 9000]);
    expect(config.webhook.allowPrivate).toBe(true);
    expect(warnings).toEqual([]);
    expect(new Set(Object.values(origins))).toEqual(new Set(["default"]));
  });

  it("answers a fresh object of defaults each time", () => {
    defaultConfig().delivery.backoffMs.push(1);
    expect(defaultConfig().delivery.backoffMs).toHaveLength(3);
  });

  it("CLU-6: lets the environment override the file, and flags both, and remembers where each value came from", () => {
    const file = fileOf("server:\n  port: 9001\n  host: localhost\ndata:\n  dir: /a\n");
    const env = { AGENT_REACH_SERVER_PORT: "9002", AGENT_REACH_DATA_DIR: "/b", PATH: "/bin" };
    const { config, origins } = loadConfig({
      file,
      env,
      flags: { port: "9003", logLevel: "debug", engine: undefined },
    });
    expect(config.server.port).toBe(9003);
    expect(config.data.dir).toBe("/b");
    expect(config.server.host).toBe("localhost");
    expect(config.log.level).toBe("debug");
    expect(origins["server.port"]).toBe("--port");
    expect(origins["data.dir"]).toBe("AGENT_REACH_DATA_DIR");
    expect(origins["server.host"]).toBe(`${file}:3`);
    expect(origins["log.level"]).toBe("--log-level");
    expect(origins["data.engine"]).toBe("default");
  });

  it("CLU-6: reads JSON as well, with tabs", () => {
    const file = fileOf(
      '{\n\t"server": {\n\t\t"port": 9100\n\t},\n\t"delivery": { "backoffMs": ["1s", 200] }\n}\n',
      "reach.json",
    );
    const { config, origins } = loadConfig({ file });
    expect(config.server.port).toBe(9100);
    expect(config.delivery.backoffMs).toEqual([1000, 200]);
    expect(origins["server.port"]).toBe(`${file}:3`);
  });

  it.each([
    ["call.timeoutMs", "AGENT_REACH_CALL_TIMEOUT_MS", "30s", 30_000],
    ["call.timeoutMs", "AGENT_REACH_CALL_TIMEOUT_MS", "500ms", 500],
    ["call.timeoutMs", "AGENT_REACH_CALL_TIMEOUT_MS", "1500", 1500],
    ["task.deadlineMs", "AGENT_REACH_TASK_DEADLINE_MS", "24h", 86_400_000],
    ["lease.purgeAfterSec", "AGENT_REACH_LEASE_PURGE_AFTER_SEC", "2d", 172_800],
    ["lease.heartbeatIntervalSec", "AGENT_REACH_LEASE_HEARTBEAT_INTERVAL_SEC", "200ms", 0.2],
    ["limits.inputBytes", "AGENT_REACH_LIMITS_INPUT_BYTES", "2MiB", 2_097_152],
    ["delivery.backoffMs", "AGENT_REACH_DELIVERY_BACKOFF_MS", "100, 1s,2m", [100, 1000, 120_000]],
    [
      "server.allowedOrigins",
      "AGENT_REACH_SERVER_ALLOWED_ORIGINS",
      "https://a.example, https://b.example",
      ["https://a.example", "https://b.example"],
    ],
    ["log.pretty", "AGENT_REACH_LOG_PRETTY", "false", false],
  ])("reads %s from %s=%s", (path, name, text, value) => {
    const { config } = loadConfig({ env: { [name]: text } });
    const [group, key] = path.split(".") as [keyof typeof config, string];
    expect((config[group] as unknown as Record<string, unknown>)[key]).toEqual(value);
  });

  it.each([
    ["AGENT_REACH_SERVER_PORT", "70000", "a whole number from 0 to 65535"],
    ["AGENT_REACH_SERVER_PORT", "0x50", "a whole number from 0 to 65535"],
    ["AGENT_REACH_SERVER_PORT", "", "a whole number from 0 to 65535"],
    ["AGENT_REACH_CALL_TIMEOUT_MS", "30 parsecs", "a duration like"],
    ["AGENT_REACH_CALL_TIMEOUT_MS", "-5", "a duration like"],
    ["AGENT_REACH_CALL_TIMEOUT_MS", "5constructor", "a duration like"],
    ["AGENT_REACH_DATA_ENGINE", "postgres", '"sqlite" or "memory"'],
    ["AGENT_REACH_ROUTING_HEALTH_MIN", "1.5", "a number from 0 to 1"],
    ["AGENT_REACH_SERVER_INSECURE", "yes", "true or false"],
  ])("refuses %s=%s, naming the setting, its origin and the rule", (name, text, rule) => {
    const error = refusal(() => loadConfig({ env: { [name]: text } }));
    const setting = settings.find((each) => each.env === name);
    expect(error.path).toBe(setting?.path);
    expect(error.message).toContain(`${setting?.path} (${name}) is ${JSON.stringify(text)}`);
    expect(error.message).toContain(rule);
  });

  it("CLU-6: refuses an unknown key with the nearest name, wherever it stands", () => {
    const file = fileOf("lease:\n  ttlSecs: 50\n");
    expect(refusal(() => loadConfig({ file })).message).toContain(
      `lease.ttlSecs (${file}:2) is not a setting: did you mean lease.ttlSec?`,
    );
    expect(refusal(() => loadConfig({ env: { AGENT_REACH_SERVER_PROT: "1" } })).message).toContain(
      "did you mean AGENT_REACH_SERVER_PORT?",
    );
    expect(refusal(() => loadConfig({ flags: { portt: 1 } })).message).toContain("did you mean --port?");
    expect(refusal(() => loadConfig({ file: fileOf("zzzzzzzzzz: 1\n") })).message).toContain("config show");
  });

  it("reports all mistakes at once", () => {
    const error = refusal(() =>
      loadConfig({ file: fileOf("server: { port: x }\nnope: 1\n"), env: { AGENT_REACH_LOG_LEVEL: "loud" } }),
    );
    expect(error.message).toContain("3 settings are wrong");
    expect((error.details!["problems"] as { setting: string }[]).map((problem) => problem.setting)).toEqual([
      "server.port",
      "nope",
      "log.level",
    ]);
  });

  it.each([
    ["server: [", ":1:"],
    ["- 1\n- 2\n", "must hold groups of settings"],
    ["server:\n  port: 1\n  port: 2\n", "unique"],
  ])("refuses the file %j with the place", (text, part) => {
    expect(refusal(() => loadConfig({ file: fileOf(text) })).message).toContain(part);
  });

  it("says that a file is missing, and what to do", () => {
    expect(refusal(() => loadConfig({ file: join(dir, "none.yaml") })).message).toContain("there is no such file");
  });

  it("takes empty files and groups whose lines are commented out", () => {
    expect(loadConfig({ file: fileOf("") }).config).toEqual(defaultConfig());
    expect(loadConfig({ file: fileOf("# nothing\nserver:\n#  port: 1\n") }).config).toEqual(defaultConfig());
  });

  it("P07: treats keys like __proto__ as unknown settings", () => {
    for (const key of ["__proto__", "constructor"]) {
      expect(refusal(() => loadConfig({ file: fileOf(`${key}: 1\n`) })).message).toContain("is not a setting");
    }
  });

  it("ignores what Kubernetes writes into the environment for a service of our name", () => {
    const env = {
      AGENT_REACH_SERVICE_HOST: "10.0.0.7",
      AGENT_REACH_PORT: "tcp://10.0.0.7:8800",
      AGENT_REACH_PORT_8800_TCP_ADDR: "10.0.0.7",
      AGENT_REACH_SERVER_PORT: "tcp://10.0.0.7:8800",
    };
    expect(loadConfig({ env }).config.server.port).toBe(8800);
  });
});

describe("rules between settings", () => {
  const lease = (heartbeat: string, ttl: string) => ({
    AGENT_REACH_LEASE_HEARTBEAT_INTERVAL_SEC: heartbeat,
    AGENT_REACH_LEASE_TTL_SEC: ttl,
  });

  it("LIVE-1: refuses a ttl under 3 heartbeats, with the reason and the remedy", () => {
    const error = refusal(() => loadConfig({ env: lease("10", "29") }));
    expect(error.path).toBe("lease.ttlSec");
    expect(error.message).toContain("AGENT_REACH_LEASE_TTL_SEC");
    expect(error.message).toContain("under 3 heartbeats of 10 s");
    expect(error.message).toContain("set lease.ttlSec to 30 s or more");
  });

  it("LIVE-1: refuses fewer than 3 heartbeats as a multiple too, and a longer heartbeat under a fixed ttl", () => {
    expect(refusal(() => loadConfig({ flags: { leaseTtlHeartbeats: "2" } })).path).toBe("lease.ttlHeartbeats");
    expect(
      refusal(() => loadConfig({ flags: { leaseTtlSec: "45s", leaseHeartbeatIntervalSec: "20s" } })).message,
    ).toContain("60 s or more");
  });

  it.each([
    ["10", "32", ["less than 5 s after 3 heartbeats"]],
    ["5", "19.5", ["less than 5 s", "under 20 s"]],
    ["4", "18", ["under 20 s"]],
    ["15", "91", ["over 90 s"]],
    ["5", "30", []],
    ["15", "45", []],
    ["15", "50", []],
  ])("LIVE-1: heartbeat %s s with ttl %s s warns of %j", (heartbeat, ttl, parts) => {
    const { warnings } = loadConfig({ env: lease(heartbeat, ttl) });
    expect(warnings).toHaveLength(parts.length);
    parts.forEach((part, index) => {
      expect(warnings[index]).toContain(part);
    });
  });

  it("is not confused by decimals: 3 × 0.1 s is a ttl of 0.3 s", () => {
    expect(loadConfig({ env: lease("0.1", "0.3") }).config.lease.ttlSec).toBe(0.3);
  });

  it.each(["0.0.0.0", "::", "192.168.1.5", "reach.example"])(
    "SEC-1: refuses to listen on %s without being told --insecure",
    (host) => {
      const error = refusal(() => loadConfig({ flags: { host } }));
      expect(error.path).toBe("server.host");
      expect(error.message).toContain("--insecure");
      const { config, warnings } = loadConfig({ flags: { host, insecure: true } });
      expect(config.server.host).toBe(host);
      expect(config.webhook.allowPrivate).toBe(false);
      expect(warnings[0]).toContain("nobody is authenticated");
    },
  );

  it.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])("SEC-1: %s needs no permission", (host) => {
    expect(loadConfig({ flags: { host } }).warnings).toEqual([]);
  });

  it("SEC-1, LIVE-1: hold for a configuration made by hand as well", () => {
    const config = defaultConfig();
    expect(() => checkConfig(config)).not.toThrow();
    config.server.host = "0.0.0.0";
    config.lease.ttlSec = 1;
    expect(refusal(() => checkConfig(config)).message).toContain("2 settings are wrong");
  });

  describe("CAT-4, CAT-5: of a model on another server", () => {
    const baseUrl = "https://api.example/v1";

    it("leaves it off unless somebody sets it", () => {
      expect(defaultConfig().catalog.llm).toEqual({ timeoutMs: 2_000, cacheMax: 10_000 });
      expect(Object.keys(defaultConfig().catalog.fine)).not.toContain("baseUrl");
    });

    it.each([
      [
        { catalogLlmBaseUrl: baseUrl },
        "catalog.llm.baseUrl (--catalog-llm-base-url) is set and catalog.llm.model is not",
      ],
      [
        { catalogFineBaseUrl: baseUrl },
        "catalog.fine.baseUrl (--catalog-fine-base-url) is set and catalog.fine.model is not",
      ],
      [{ catalogLlmModel: "m" }, "catalog.llm.model (--catalog-llm-model) is set and catalog.llm.baseUrl is not"],
      [{ catalogLlmModel: "m", catalogLlmBaseUrl: "api.example" }, "is no http or https URL"],
      [{ catalogLlmModel: "m", catalogLlmBaseUrl: "file:///etc/passwd" }, "is no http or https URL"],
      [{ catalogLlmModel: "m", catalogLlmBaseUrl: "https://me:sk-hidden@api.example" }, "put the key into `key`"],
      [{ catalogLlmModel: "m", catalogLlmBaseUrl: baseUrl, catalogLlmKey: "sk-hidden\n" }, "no HTTP header may hold"],
    ])("refuses half of it, and what cannot be used: %j", (flags, part) => {
      const { message, details } = refusal(() => loadConfig({ flags }));
      expect(message).toContain(part);
      expect(JSON.stringify([message, details])).not.toContain("sk-hidden");
    });

    it("warns of a key that nobody uses", () => {
      const { warnings } = loadConfig({ env: { AGENT_REACH_CATALOG_LLM_KEY: "sk-hidden" } });
      expect(warnings).toEqual([
        expect.stringMatching(/^catalog\.llm\.key \(AGENT_REACH_CATALOG_LLM_KEY\) has no effect/),
      ]);
      expect(loadConfig({ flags: { catalogLlmModel: "m", catalogLlmBaseUrl: baseUrl } }).warnings).toEqual([]);
    });

    it("hides the key from whoever looks at the settings, and in messages", () => {
      const flags = { catalogLlmModel: "m", catalogLlmBaseUrl: baseUrl, catalogLlmKey: "sk-hidden" };
      const { config } = loadConfig({ flags });
      expect(withoutSecrets(config).catalog.llm).toMatchObject({ baseUrl, model: "m", key: "hidden" });
      expect(config.catalog.llm.key).toBe("sk-hidden");
      expect(withoutSecrets(defaultConfig())).toEqual(defaultConfig());
      const file = fileOf("catalog:\n  llm:\n    key: [sk-hidden]\n");
      expect(refusal(() => loadConfig({ file })).message).toContain("catalog.llm.key");
      expect(refusal(() => loadConfig({ file })).message).not.toContain("sk-hidden");
    });
  });

  it("D14: warns of a bare number that looks like another unit, and trusts one that says its unit", () => {
    expect(loadConfig({ env: { AGENT_REACH_CALL_TIMEOUT_MS: "30" } }).warnings[0]).toContain('write "30s"');
    expect(loadConfig({ env: { AGENT_REACH_CALL_TIMEOUT_MS: "30ms" } }).warnings).toEqual([]);
    expect(loadConfig({ env: { AGENT_REACH_WEBHOOK_PROBE_INTERVAL_SEC: "3000" } }).warnings[0]).toContain(
      'write "3000ms"',
    );
  });
});

describe("the published form", () => {
  it("CLU-6: is read, and says what has no effect yet", () => {
    const file = fileOf(
      [
        "agent-reach:",
        "  node_role: registry-leader",
        "  registry:",
        '    nodes: ["10.0.0.1:8800", "10.0.0.2:8800"]',
        "  lease:",
        "    heartbeat_interval: 10s",
        "    ttl: 40",
        "  semantics:",
        "    embedding_model: some-model",
        "    similarity_threshold: 0.72",
        "  auth:",
        "    mtls_enabled: true",
        "    cert_path: /etc/certs",
      ].join("\n"),
    );
    const { config, warnings, origins } = loadConfig({ file });
    expect(config.lease.heartbeatIntervalSec).toBe(10);
    expect(config.lease.ttlSec).toBe(40);
    expect(config.node.role).toBe("standalone");
    expect(origins["lease.ttlSec"]).toBe(`${file}:7`);
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual([
      "node.role",
      "agent-reach.registry.nodes",
      "agent-reach.semantics",
      "agent-reach.auth",
    ]);
    expect(warnings[3]).toContain("authenticates nobody");
  });

  it("is read with dots in its keys too, and snake_case of every setting", () => {
    const file = fileOf("agent-reach.lease.ttl: 60s\nnode_role: registry-follower\nlimits: { queued_calls_max: 7 }\n");
    const { config } = loadConfig({ file });
    expect(config.lease.ttlSec).toBe(60);
    expect(config.limits.queuedCallsMax).toBe(7);
  });

  it("still refuses a slip of the pen", () => {
    expect(refusal(() => loadConfig({ file: fileOf("agent-reach:\n  lease:\n    tttl: 1\n") })).message).toContain(
      "agent-reach.lease.tttl",
    );
  });
});

describe("the table of settings", () => {
  it("has a documentation line, an own variable and an own flag for each setting", () => {
    for (const key of ["env", "flag", "path"] as const)
      expect(new Set(settings.map((each) => each[key])).size).toBe(settings.length);
    for (const each of settings) expect(each.doc).toMatch(/\.$/);
    expect(settings.find((each) => each.path === "lease.ttlSec")?.env).toBe("AGENT_REACH_LEASE_TTL_SEC");
  });

  it("has defaults that its own rules accept", () => {
    for (const each of settings) {
      if (typeof each.default === "number" && each.min !== undefined)
        expect(each.default).toBeGreaterThanOrEqual(each.min);
      if (typeof each.default === "number" && each.max !== undefined)
        expect(each.default).toBeLessThanOrEqual(each.max);
    }
  });
});
