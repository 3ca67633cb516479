import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { listenOnLoopback } from './listenOnLoopback.js'
import { pollUntil } from './pollUntil.js'

const attributes = z
  .array(
    z.strictObject({
      key: z.string(),
      value: z.union([
        z.strictObject({ stringValue: z.string() }),
        z.strictObject({ boolValue: z.boolean() }),
        z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
        z.strictObject({ doubleValue: z.number() }),
      ]),
    }),
  )
  .transform((pairs) =>
    Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]] as const)),
  )

const traceId = z.string().regex(/^[0-9a-f]{32}$/)
const spanId = z.string().regex(/^[0-9a-f]{16}$/)
const nanoseconds = z
  .string()
  .regex(/^\d{19}$/)
  .transform(BigInt)

// The JSON encoding of OTLP's ExportTraceServiceRequest, as far as the service uses it.
const exported = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          spans: z.array(
            z.strictObject({
              traceId,
              spanId,
              parentSpanId: spanId.optional(),
              flags: z.literal(1),
              name: z.string(),
              kind: z.union([z.literal(1), z.literal(2), z.literal(3)]),
              startTimeUnixNano: nanoseconds,
              endTimeUnixNano: nanoseconds,
              attributes,
              links: z.array(z.strictObject({ traceId, spanId })).optional(),
              status: z.strictObject({ code: z.literal(2).optional(), message: z.string().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
})

export type ReceivedSpan = z.infer<
  typeof exported
>['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  readonly resources: readonly Readonly<Record<string, unknown>>[]
  readonly headers: readonly Readonly<Record<string, unknown>>[]
  countRequests(): number
  /** Default: it takes everything. */
  answer(how: 'take' | 'refuse' | 'hang'): void
  /** The spans of the trace with a root of this name, once the root has arrived. */
  waitForTrace(root: string): Promise<readonly ReceivedSpan[]>
  stop(): Promise<void>
}

/** Takes traces by OTLP over HTTP on loopback, and refuses what is not of its form. */
export const startCollector = async (): Promise<Collector> => {
  const spans: ReceivedSpan[] = []
  const resources: Readonly<Record<string, unknown>>[] = []
  const headers: Readonly<Record<string, unknown>>[] = []
  let how: 'take' | 'refuse' | 'hang' = 'take'
  let requests = 0
  const server = createServer(async (request, response) => {
    requests += 1
    if (how === 'hang') return
    const body: unknown = await json(request).catch(() => null)
    const parsed = exported.safeParse(body)
    const isOurs = request.method === 'POST' && request.url === '/v1/traces' && parsed.success
    if (how === 'refuse' || !isOurs) {
      response.writeHead(how === 'refuse' ? 503 : 400).end('{}')
      return
    }
    headers.push(request.headers)
    for (const { resource, scopeSpans } of parsed.data.resourceSpans) {
      resources.push(resource.attributes)
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const { url, stop } = await listenOnLoopback(server)
  return {
    url,
    spans,
    resources,
    headers,
    countRequests: () => requests,
    answer: (given) => {
      how = given
    },
    waitForTrace: async (root) => {
      const found = await pollUntil(
        () => spans.find(({ name }) => name === root),
        `the trace of ${root}`,
        () => spans.map(({ name }) => name),
      )
      return spans.filter((span) => span.traceId === found.traceId)
    },
    stop,
  }
}
