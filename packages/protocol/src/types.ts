/** The wire's types, derived from the schemas. Import these; import `@agent-reach/protocol/schemas` only to validate. */
import type { Static } from "typebox";
import type * as s from "./schemas.js";

export type CostTier = (typeof s.costTiers)[number];
export type InstanceState = (typeof s.instanceStates)[number];
export type TaskState = (typeof s.taskStates)[number];
export type Verdict = (typeof s.leftOutReasons)[number];
export type DiscoveryVerdict = (typeof s.discoveryVerdicts)[number];
export type OnStalled = (typeof s.onStalledActions)[number];
export type DeliveryMode = (typeof s.deliveryModes)[number];
export type RegistryEventType = (typeof s.registryEventTypes)[number];

export type Transport = Static<typeof s.Transport>;
export type Capability = Static<typeof s.Capability>;
export type Card = Static<typeof s.Card>;
export type Receipt = Static<typeof s.Receipt>;
export type CallEnvelope = Static<typeof s.CallEnvelope>;
export type SubmitEnvelope = Static<typeof s.SubmitEnvelope>;
export type DeliveredEnvelope = Static<typeof s.DeliveredEnvelope>;
export type DeliverAnswer = Static<typeof s.DeliverAnswer>;
export type AgentErrorShape = Static<typeof s.AgentErrorShape>;
export type Candidate = Static<typeof s.Candidate>;
export type Facts = Candidate["facts"];
export type Discovery = Static<typeof s.Discovery>;
export type Decision = Static<typeof s.Decision>;
export type Instance = Static<typeof s.Instance>;
export type Agent = Static<typeof s.Agent>;
export type Attempt = Static<typeof s.Attempt>;
export type Task = Static<typeof s.Task>;
export type CallResult = Static<typeof s.CallResult>;
export type SubmitResult = Static<typeof s.SubmitResult>;
export type Registered = Static<typeof s.Registered>;
export type Hello = Static<typeof s.Hello>;
export type JournalEvent = Static<typeof s.JournalEvent> & Record<string, unknown>;
export type Trace = Static<typeof s.Trace>;
export type RegistryEvent = Static<typeof s.RegistryEvent>;
export type Method = s.Method;
export type Params<M extends Method> = Static<(typeof s.params)[M]>;
