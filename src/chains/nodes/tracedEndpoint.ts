import { completeSpan, findCurrentSpan } from '../../platform/tracer/currentSpan.js'
import type { Endpoint } from './endpoint.js'

// Longer segments of a path are hashes and addresses.
const maxSegmentLength = 24

/** Calls of traced requests get a span each; the context of the trace is not sent to nodes, which others run. */
export const traceEndpoint = (system: 'jsonrpc' | 'http', endpoint: Endpoint): Endpoint => ({
  host: endpoint.host,
  request: (method, params, schema) => {
    const parent = findCurrentSpan()
    if (parent === undefined) return endpoint.request(method, params, schema)
    const name = system === 'jsonrpc' ? method : generalize(method)
    const attributes = { 'rpc.system': system, 'rpc.method': name, 'server.address': endpoint.host }
    const span = parent.startChild({ name, kind: 'client', attributes })
    if (span === null) return endpoint.request(method, params, schema)
    return completeSpan(span, () => endpoint.request(method, params, schema))
  },
})

const generalize = (path: string): string =>
  path
    .split('?', 1)
    .join('')
    .split('/')
    .map((segment) => (segment.length > maxSegmentLength || /^\d+$/.test(segment) ? ':id' : segment))
    .join('/')
