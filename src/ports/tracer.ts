/** Never holds a key, an e-mail address, a body, or a value of a statement; texts are cut. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  /** One of few: a route pattern, a method, an operation. */
  readonly name: string
  /** `server`: answers a request. `client`: asks another machine. */
  readonly kind: 'internal' | 'server' | 'client'
  readonly attributes?: SpanAttributes
}

/** W3C Trace Context: identifiers in hex. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

/** One timed step of a trace that is recorded. */
export interface Span {
  readonly context: SpanContext
  /** Null once the trace is over, or has as many spans as it may have. */
  startChild(start: SpanStart): Span | null
  setAttributes(attributes: SpanAttributes): void
  /** A second call changes nothing. Of an error only its code or its name is recorded. */
  end(failure?: { readonly error: unknown }): void
}

interface RootStart extends SpanStart {
  /** As a caller sent it: its trace is continued, but a stranger does not decide what is recorded. */
  readonly traceparent?: string | undefined
  /** What caused it, in another trace. */
  readonly link?: SpanContext | undefined
}

export interface Tracer {
  /** Null: this trace is not recorded. */
  startRoot(start: RootStart): Span | null
  /** Sends what is recorded, within a short time. */
  close(): Promise<void>
}
