import type { ContextCarrier } from "./platform.js";

export type LogFields = Record<string, unknown>;

/** What the SDK and `ctx.log` write to. Fits pino's order of arguments turned round: the text first, then fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** One JSON line each on the console; `debug` is silent. */
export const consoleLogger: Logger = {
  debug: () => {},
  info: (message, fields) => console.log(line("info", message, fields)),
  warn: (message, fields) => console.warn(line("warn", message, fields)),
  error: (message, fields) => console.error(line("error", message, fields)),
};

function line(level: string, message: string, fields: LogFields | undefined): string {
  const entry = { level, time: new Date().toISOString(), message, ...fields };
  try {
    return JSON.stringify(entry);
  } catch {
    return JSON.stringify({ level, time: entry.time, message, fields: "not serialisable" });
  }
}

/** Puts traceId, messageId, agentId and instanceId of the running handler into every line (SDK-5). */
export function withContext(logger: Logger, carrier: ContextCarrier): Logger {
  const add = (fields: LogFields | undefined): LogFields | undefined => {
    const context = carrier.get();
    if (!context) return fields;
    const { traceId, messageId, agentId, instanceId } = context;
    return { traceId, messageId, agentId, instanceId, ...fields };
  };
  return {
    debug: (message, fields) => logger.debug(message, add(fields)),
    info: (message, fields) => logger.info(message, add(fields)),
    warn: (message, fields) => logger.warn(message, add(fields)),
    error: (message, fields) => logger.error(message, add(fields)),
  };
}

/** Always adds the same fields. */
export function withFields(logger: Logger, fixed: LogFields): Logger {
  return {
    debug: (message, fields) => logger.debug(message, { ...fixed, ...fields }),
    info: (message, fields) => logger.info(message, { ...fixed, ...fields }),
    warn: (message, fields) => logger.warn(message, { ...fixed, ...fields }),
    error: (message, fields) => logger.error(message, { ...fixed, ...fields }),
  };
}
