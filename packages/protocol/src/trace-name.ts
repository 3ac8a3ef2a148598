/** A message that belongs to no trace begins one, which is named after it: its own UUID without dashes. */
export function traceNamedAfter(messageId: string): string {
  return (
    messageId.slice(0, 8) +
    messageId.slice(9, 13) +
    messageId.slice(14, 18) +
    messageId.slice(19, 23) +
    messageId.slice(24)
  );
}
