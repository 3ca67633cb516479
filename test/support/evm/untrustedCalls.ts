import { createRpc } from '../../../src/chains/evm/rpc/rpc.js'
import {
  createUntrustedCalls,
  signatureShare,
  type UntrustedCalls,
} from '../../../src/chains/evm/rpc/untrustedCalls.js'
import { createJsonRpcEndpoint } from '../../../src/chains/nodes/jsonRpcEndpoint.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Secret } from '../../../src/platform/secret.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { patientTimeoutMs } from '../rpcProxy.js'
import type { LocalChain } from './localChain.js'

/** Of a chain without a service, with the patience that a busy machine needs. */
export const openUntrustedCalls = ({ network, url }: Pick<LocalChain, 'network' | 'url'>): UntrustedCalls => {
  const timeoutMs = Number(patientTimeoutMs)
  const rpcUrl = new Secret(url)
  const rpc = createRpc(network, [createJsonRpcEndpoint(rpcUrl, timeoutMs)], silentLogger)
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  return createUntrustedCalls({ network, rpc, rpcUrls: [rpcUrl], limiter, timeoutMs }, signatureShare)
}
