import type { SpanAttributes } from '../../ports/tracer.js'
import type { SpanRecord } from './recordedSpan.js'

/* OTLP 1.x in its JSON encoding: identifiers in hex, 64-bit numbers as text. */

const kinds = { internal: 1, server: 2, client: 3 } as const
const failed = 2
const sampledFlag = 1

export const writeSpans = (
  spans: readonly SpanRecord[],
  resource: Readonly<Record<string, string>>,
  scope: { readonly name: string; readonly version: string },
): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: writeAttributes(resource) },
        scopeSpans: [{ scope, spans: spans.map(writeSpan) }],
      },
    ],
  })

const writeSpan = ({ traceId, spanId, parentSpanId, name, kind, link, failure, ...span }: SpanRecord) => ({
  traceId,
  spanId,
  ...(parentSpanId === null ? {} : { parentSpanId }),
  flags: sampledFlag,
  name,
  kind: kinds[kind],
  startTimeUnixNano: toNanoseconds(span.startedAtMs),
  endTimeUnixNano: toNanoseconds(span.endedAtMs),
  attributes: writeAttributes(span.attributes),
  ...(link === null ? {} : { links: [{ traceId: link.traceId, spanId: link.spanId }] }),
  status: failure === null ? {} : { code: failed, message: failure },
})

const writeAttributes = (attributes: SpanAttributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: writeValue(value) }))

const writeValue = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** A double holds microseconds since 1970 exactly, not nanoseconds. */
const toNanoseconds = (ms: number): string => `${BigInt(Math.round(ms * 1_000)) * 1_000n}`
