import { defineConfig } from "vitest/config";

// Tests run against the sources: packages resolve each other by the `agent-reach-source` condition.
// What a user installs (dist/) is what test/e2e starts as real processes.
const conditions = ["agent-reach-source", "node", "import", "module", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: {
    resolve: { conditions, externalConditions: ["agent-reach-source", "node", "import"] },
    noExternal: [/^@agent-reach\//, /^agent-reach/],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    reporters: ["default", "./test/kit/reporter.ts"],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    retry: 0,
    maxWorkers: 2,
  },
});
