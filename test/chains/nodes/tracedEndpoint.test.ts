import { expect, it } from 'vitest'
import { z } from 'zod'
import { RpcError } from '../../../src/chains/nodes/endpoint.js'
import { traceEndpoint } from '../../../src/chains/nodes/tracedEndpoint.js'
import { completeSpan } from '../../../src/platform/tracer/currentSpan.js'
import { type SpanRecord, startRecordedRoot } from '../../../src/platform/tracer/recordedSpan.js'

const endpointThat = (answer: () => Promise<unknown>) =>
  traceEndpoint('http', {
    host: 'node.example',
    request: async (_method, _params, schema) => schema.parse(await answer()),
  })

const trace = async (work: () => Promise<unknown>): Promise<readonly SpanRecord[]> => {
  const spans: SpanRecord[] = []
  const start = { name: 'root', kind: 'internal' } as const
  const root = startRecordedRoot(start, { parent: null, link: null, record: (span) => spans.push(span) })
  await completeSpan(root, work).catch(() => undefined)
  return spans
}

const hash = 'ab'.repeat(32)

it('a call of a traced request has a span, whose name has no hash, number or query', async () => {
  const { request } = endpointThat(async () => 7)
  const spans = await trace(() =>
    request(`/v1/blocks/1234/transactions/${hash}?key=secret`, null, z.number()),
  )
  expect(spans).toMatchObject([
    {
      name: '/v1/blocks/:id/transactions/:id',
      kind: 'client',
      failure: null,
      attributes: { 'server.address': 'node.example' },
    },
    { name: 'root' },
  ])
})

it('a refusal is recorded by its code, without its message', async () => {
  const { request } = endpointThat(async () => {
    throw new RpcError(-32_000, 'a message with a secret')
  })
  const spans = await trace(() => request('/balance', null, z.number()))
  expect(spans).toMatchObject([{ failure: '-32000' }, { name: 'root', failure: '-32000' }])
  expect(JSON.stringify(spans)).not.toContain('secret')
})

it('a call outside of a trace is made without a span', async () => {
  expect(await endpointThat(async () => 7).request('/balance', null, z.number())).toBe(7)
})
