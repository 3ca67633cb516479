import { randomBytes } from 'node:crypto'
import type { Span, SpanAttributes, SpanContext, SpanStart } from '../../ports/tracer.js'

/** What is sent of a span. Times are milliseconds since 1970. */
export interface SpanRecord extends SpanContext {
  readonly parentSpanId: string | null
  readonly name: string
  readonly kind: SpanStart['kind']
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly attributes: SpanAttributes
  readonly link: SpanContext | null
  /** Null: it did not fail. */
  readonly failure: string | null
}

/** What the spans of one trace in this process share. */
interface Trace {
  readonly traceId: string
  readonly record: (span: SpanRecord) => void
  spans: number
  isOver: boolean
}

// A loop that a request started can outlive it and serve others: both bounds end its trace.
const maxSpans = 500
const maxTextLength = 200
const maxAttributes = 32

const now = (): number => performance.timeOrigin + performance.now()

export const startRecordedRoot = (
  start: SpanStart,
  {
    parent,
    link,
    record,
  }: {
    readonly parent: SpanContext | null
    readonly link: SpanContext | null
    readonly record: (span: SpanRecord) => void
  },
): Span => {
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
  const trace: Trace = { traceId, record, spans: 0, isOver: false }
  return startSpan(trace, start, { parentSpanId: parent?.spanId ?? null, link, isRoot: true })
}

const startSpan = (
  trace: Trace,
  { name, kind, attributes = {} }: SpanStart,
  place: {
    readonly parentSpanId: string | null
    readonly link: SpanContext | null
    readonly isRoot: boolean
  },
): Span => {
  trace.spans += 1
  const context = { traceId: trace.traceId, spanId: randomBytes(8).toString('hex') }
  const startedAtMs = now()
  let known = attributes
  let isEnded = false
  return {
    context,
    startChild: (child) => {
      if (trace.isOver || isEnded || trace.spans >= maxSpans) return null
      return startSpan(trace, child, { parentSpanId: context.spanId, link: null, isRoot: false })
    },
    setAttributes: (more) => {
      known = { ...known, ...more }
    },
    end: (failure) => {
      if (isEnded) return
      isEnded = true
      // What ends after its trace has been sent would be a part without a whole.
      if (trace.isOver) return
      if (place.isRoot) trace.isOver = true
      trace.record({
        ...context,
        parentSpanId: place.parentSpanId,
        name: name.slice(0, maxTextLength),
        kind,
        startedAtMs,
        endedAtMs: now(),
        attributes: limitAttributes(known),
        link: place.link,
        failure: failure === undefined ? null : nameError(failure.error),
      })
    },
  }
}

const limitAttributes = (attributes: SpanAttributes): SpanAttributes =>
  Object.fromEntries(
    Object.entries(attributes)
      .slice(0, maxAttributes)
      .map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, maxTextLength) : value]),
  )

/** Messages of errors can hold what callers or nodes sent. */
const nameError = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error'
  return 'code' in error && ['string', 'number'].includes(typeof error.code)
    ? String(error.code).slice(0, maxTextLength)
    : error.name
}
