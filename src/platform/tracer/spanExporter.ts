import { Agent, request } from 'undici'
import type { Logger } from '../../ports/logger.js'
import { version } from '../version.js'
import { writeSpans } from './otlp.js'
import type { SpanRecord } from './recordedSpan.js'
import type { TracingSettings } from './settings.js'

interface SpanExporter {
  /** Never waits: what finds no place in the queue is dropped. */
  add(span: SpanRecord): void
  /** Sends what is queued, within two seconds. */
  close(): Promise<void>
}

interface Limits {
  readonly maxQueued: number
  readonly batchSize: number
  /** Between two exports, unless a batch is full; also after one that failed. */
  readonly everyMs: number
  readonly timeoutMs: number
  readonly closeMs: number
}

// Those of OpenTelemetry's batch processor.
const defaultLimits: Limits = {
  maxQueued: 2_048,
  batchSize: 512,
  everyMs: 5_000,
  timeoutMs: 10_000,
  closeMs: 2_000,
}

const maxResponseBytes = 65_536

/**
 * Posts spans to a collector, one request at a time, without retries: a collector that hangs, refuses or is absent costs
 * spans, and nothing else.
 */
export const createSpanExporter = (
  { url, headers, resource }: Pick<TracingSettings, 'url' | 'headers' | 'resource'>,
  logger: Logger,
  limits: Partial<Limits> = {},
): SpanExporter => {
  const { maxQueued, batchSize, everyMs, timeoutMs, closeMs } = { ...defaultLimits, ...limits }
  const target = url.reveal()
  const { host } = new URL(target)
  const agent = new Agent({ connections: 1, maxResponseSize: maxResponseBytes })
  const revealed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()]))
  let queue: SpanRecord[] = []
  let dropped = 0
  let failures = 0
  let sending: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  const post = async (spans: readonly SpanRecord[], signal: AbortSignal): Promise<void> => {
    const { statusCode, body } = await request(target, {
      method: 'POST',
      dispatcher: agent,
      headers: { ...revealed, 'content-type': 'application/json' },
      body: writeSpans(spans, resource, { name: 'quittance', version }),
      signal,
    })
    await body.dump({ limit: maxResponseBytes })
    if (statusCode < 200 || statusCode > 299) throw new Error(`HTTP ${statusCode}`)
  }

  /** Never rejects. */
  const send = async (signal: AbortSignal): Promise<void> => {
    const spans = queue.slice(0, batchSize)
    queue = queue.slice(batchSize)
    try {
      await post(spans, signal)
      if (failures > 0) logger.info({ host, failures, dropped }, 'traces.export_recovered')
      failures = 0
      dropped = 0
    } catch (error) {
      dropped += spans.length
      failures += 1
      // Powers of two: an outage is a few lines, whether it lasts for a minute or a day.
      if ((failures & (failures - 1)) === 0) {
        logger.warn({ host, problem: describe(error), failures, dropped }, 'traces.export_failed')
      }
    }
  }

  const start = (): void => {
    timer = null
    if (sending !== null || queue.length === 0 || isClosed) return
    sending = send(AbortSignal.timeout(timeoutMs)).finally(() => {
      sending = null
      schedule()
    })
  }

  const schedule = (): void => {
    if (isClosed || sending !== null || queue.length === 0) return
    if (queue.length >= batchSize && failures === 0) {
      if (timer !== null) clearTimeout(timer)
      start()
      return
    }
    timer ??= setTimeout(start, everyMs).unref()
  }

  return {
    add: (span) => {
      if (isClosed || queue.length >= maxQueued) {
        dropped += 1
        return
      }
      queue.push(span)
      schedule()
    },
    close: async () => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      const deadline = AbortSignal.timeout(closeMs)
      const isOver = new Promise((resolve) => deadline.addEventListener('abort', resolve, { once: true }))
      const flush = async () => {
        await sending
        while (queue.length > 0 && !deadline.aborted) await send(deadline)
      }
      await Promise.race([flush(), isOver])
      await agent.destroy()
    },
  }
}

/** A code or a name: messages can hold the URL. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.message.startsWith('HTTP ') ? error.message : error.name
}
