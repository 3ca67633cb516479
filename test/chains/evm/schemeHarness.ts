import { keccak256 } from 'viem'
import { evmSchemes, open } from '../../../src/chains/evm/open.js'
import type { CreateScheme } from '../../../src/chains/evm/paymentMethod.js'
import { readEvmSettings } from '../../../src/chains/evm/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { RateLimiter } from '../../../src/ports/rateLimiter.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import type { PlannedPayment, SchemeHarness } from '../../contracts/schemeContract.js'
import { randomAddress } from '../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { createEoa } from '../../support/evm/wallets.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { patientTimeoutMs, startRpcProxy } from '../../support/rpcProxy.js'

interface HarnessOptions {
  /** Default: `exact`. */
  readonly scheme?: string
  /** Runs before the scheme is opened. */
  readonly prepare?: (chain: LocalChain) => Promise<void>
  /** Default: those of the family. */
  readonly listSchemes?: (chain: LocalChain) => readonly CreateScheme[]
  /** Sees each key that is counted, before it is. */
  readonly onCounted?: (key: string) => void
}

/** A scheme on a local chain of its own, with payments by one transfer method. */
export const openSchemeHarness = async (
  plan: (chain: LocalChain) => Promise<PlannedPayment>,
  { scheme: name = 'exact', prepare, listSchemes = () => evmSchemes, onCounted }: HarnessOptions = {},
): Promise<SchemeHarness> => {
  const chain = await startLocalChain({ facilitatorCount: 1 })
  await prepare?.(chain)
  const proxy = await startRpcProxy(chain.url)
  // What was recorded and not sent stays so until a test has it resolved, however long a test takes.
  const lanes = createMemoryLanes({ isLeased: false })
  const reading = readEvmSettings({
    EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
    [`EVM_RPC_URL_${chain.chainId}`]: proxy.url,
    [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '100',
    EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
    EVM_WALLET_CALL_TIMEOUT_MS: patientTimeoutMs,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const counting = createMemoryRateLimiter({ clock: systemClock })
  const limiter: RateLimiter = {
    ...counting,
    take: async (windows) => {
      for (const { key } of windows) onCounted?.(key)
      return await counting.take(windows)
    },
  }
  const context = { clock: systemClock, logger: silentLogger, lanes, limiter, minPaymentGasShare: 0.1 }
  const opened = await open(reading.settings, context, listSchemes(chain))
  const scheme = opened.schemes.find(({ kind }) => kind.scheme === name)
  if (scheme === undefined) throw new Error('No scheme was opened')

  return {
    scheme,
    otherNetwork: 'eip155:8453',
    plan: () => plan(chain),
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const bytes = await createEoa().account.signTransaction({
        chainId: chain.chainId,
        nonce: 0,
        to: randomAddress(),
        gas: 21_000n,
        maxFeePerGas: 2_000_000_000n,
        maxPriorityFeePerGas: 1n,
      })
      return { transaction: keccak256(bytes), bytes }
    },
    listSent: () =>
      proxy.calls
        .filter(({ method }) => method === 'eth_sendRawTransaction')
        .map(({ params }) => String(params[0])),
    dropSends: () => proxy.setFault('eth_sendRawTransaction', { kind: 'hang' }),
    dropSendResponses: () =>
      proxy.setFault('eth_sendRawTransaction', { kind: 'loseAnswer', connection: 'silent' }),
    dropAllResponses: () => proxy.setFault('*', { kind: 'hang' }),
    restore: async () => {
      proxy.clearFaults()
      await proxy.waitForHangingCalls()
    },
    close: async () => {
      await opened.close()
      await limiter.close()
      await proxy.stop()
      await chain.stop()
    },
  }
}
