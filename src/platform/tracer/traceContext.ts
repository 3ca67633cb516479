import type { SpanContext } from '../../ports/tracer.js'

interface RemoteContext extends SpanContext {
  readonly isSampled: boolean
}

// Versions after 00 may append fields; ff is invalid.
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const maxLength = 200
const sampledFlag = 1

/** Null if it is no valid `traceparent` of W3C Trace Context. */
export const readTraceparent = (header: string | undefined): RemoteContext | null => {
  if (header === undefined || header.length > maxLength) return null
  const [match, version, traceId = '', spanId = '', flags = '', rest] = form.exec(header) ?? []
  if (match === undefined || (version === '00' && rest !== undefined)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag }
}

/** Of a span that is recorded. */
export const writeTraceparent = ({ traceId, spanId }: SpanContext): string => `00-${traceId}-${spanId}-01`
