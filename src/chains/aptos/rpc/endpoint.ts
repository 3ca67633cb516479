import { Secret } from '../../../platform/secret.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Proof } from '../../nodes/endpointHealth.js'
import { createRestEndpoint } from '../../nodes/pathEndpoint.js'
import { ledgerShape } from './wireShapes.js'

interface EndpointOptions {
  readonly timeoutMs: number
  readonly apiKey: Secret | null
}

/** A full node's REST API; the URL may end in /v1 or in the path before it. */
export const createAptosEndpoint = (url: Secret, { timeoutMs, apiKey }: EndpointOptions): Endpoint =>
  createRestEndpoint(
    withVersion(url),
    timeoutMs,
    apiKey === null ? {} : { authorization: new Secret(`Bearer ${apiKey.reveal()}`) },
  )

const withVersion = (url: Secret): Secret => {
  const parsed = new URL(url.reveal())
  const path = parsed.pathname.replace(/\/$/, '')
  parsed.pathname = path.endsWith('/v1') ? path : `${path}/v1`
  return new Secret(parsed.href)
}

export const proveAptos = async (endpoint: Endpoint): Promise<Proof> => {
  const ledger = await endpoint.request('', null, ledgerShape)
  return {
    chain: String(ledger.chain_id),
    head: { number: ledger.block_height, timestamp: ledger.ledger_timestamp.getTime() / 1_000 },
  }
}
