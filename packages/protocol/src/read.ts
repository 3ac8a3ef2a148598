/** Readers of what others send: cards and envelopes in every accepted spelling, trace ids of every kind. Pure; runs anywhere. */

export { type CanonicalCard, type CardReading, type CardRefusal, type ReadCardOptions, readCard } from "./card.js";
export type { CardHints } from "./card-hints.js";
export { type EnvelopeReading, type ReadEnvelopeOptions, readEnvelope } from "./envelope.js";
export { formatTraceparent, parseTraceparent, type TraceIdentity, type TraceParent, traceIdOf } from "./trace.js";
