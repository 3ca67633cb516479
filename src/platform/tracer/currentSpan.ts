import { AsyncLocalStorage } from 'node:async_hooks'
import type { Span, SpanStart } from '../../ports/tracer.js'

// Until a tracer runs something in a span, reading it is one comparison.
const storage = new AsyncLocalStorage<Span>()

/** The span in which the caller runs; undefined where nothing is recorded. */
export const findCurrentSpan = (): Span | undefined => storage.getStore()

export const runInSpan = <T>(span: Span, work: () => T): T => storage.run(span, work)

/** Runs it in the span, and ends the span with it. */
export const completeSpan = async <T>(span: Span, work: () => Promise<T>): Promise<T> => {
  try {
    return await storage.run(span, work)
  } catch (error) {
    span.end({ error })
    throw error
  } finally {
    span.end()
  }
}

/** Runs it in a child of the current span, if there is one. */
export const traceStep = async <T>(start: SpanStart, work: () => Promise<T>): Promise<T> => {
  const span = storage.getStore()?.startChild(start) ?? null
  return span === null ? await work() : await completeSpan(span, work)
}
