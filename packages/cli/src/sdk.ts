export * from "@agent-reach/sdk";
