import { base58 } from '@scure/base'
import { Keypair, type VersionedTransaction } from '@solana/web3.js'
import { open } from '../../../../src/chains/solana/open.js'
import { readSolanaSettings } from '../../../../src/chains/solana/settings.js'
import { systemClock } from '../../../../src/platform/clock.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { SignedTransaction } from '../../../../src/ports/settlementJournal.js'
import { createMemoryRateLimiter } from '../../../../src/stores/cache/rateLimiter.js'
import { describeSchemeContract, type SchemeHarness } from '../../../contracts/schemeContract.js'
import { createMemoryLanes } from '../../../support/memoryLanes.js'
import { patientTimeoutMs, startRpcProxy } from '../../../support/rpcProxy.js'
import { startLocalSolana } from '../../../support/solana/localChain.js'
import {
  createParties,
  type SolanaPaymentBody,
  signTransaction,
  solanaPayment,
} from '../../../support/solana/payment.js'

/** The same authorization with other bytes at our signature, and another key order. */
const respell = ({ paymentPayload, paymentRequirements }: SolanaPaymentBody) => {
  const { accepted, payload, x402Version } = paymentPayload
  const bytes = Buffer.from(payload.transaction, 'base64')
  bytes.fill(0x5a, 1, 65)
  return {
    paymentRequirements,
    paymentPayload: { payload: { transaction: bytes.toString('base64') }, accepted, x402Version },
  }
}

const toSigned = (transaction: VersionedTransaction): SignedTransaction => ({
  transaction: base58.encode(transaction.signatures[0] ?? new Uint8Array()),
  bytes: Buffer.from(transaction.serialize()).toString('base64'),
})

const openHarness = async (): Promise<SchemeHarness> => {
  const chain = await startLocalSolana()
  chain.slots.hold()
  const proxy = await startRpcProxy(chain.url)
  const lanes = createMemoryLanes()
  const reading = readSolanaSettings({
    SOLANA_PRIVATE_KEY: chain.feePayers.map(({ secretKey }) => base58.encode(secretKey)).join(','),
    SOLANA_RPC_URL_mainnet: proxy.url,
    SOLANA_POLL_INTERVAL_MS_mainnet: '100',
    SOLANA_RPC_TIMEOUT_MS: patientTimeoutMs,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  const opened = await open(reading.settings, {
    clock: systemClock,
    logger: silentLogger,
    lanes,
    limiter,
    minPaymentGasShare: 0.1,
  })
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error('No scheme was opened')

  return {
    scheme,
    otherNetwork: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    plan: async () => {
      const parties = createParties(chain, 10_000n)
      const body = solanaPayment({ chain, ...parties, amount: 10_000n })
      return { body, respelled: respell(body), countReceived: async () => chain.holdingOf(parties.payTo) }
    },
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const parties = createParties(chain, 0n)
      const feePayer = Keypair.generate()
      const transaction = signTransaction({ chain, ...parties, amount: 1n, feePayer, cosigners: [feePayer] })
      return toSigned(transaction)
    },
    listSent: () =>
      proxy.calls.filter(({ method }) => method === 'sendTransaction').map(({ params }) => String(params[0])),
    dropSends: () => proxy.setFault('sendTransaction', { kind: 'hang' }),
    dropSendResponses: () => proxy.setFault('sendTransaction', { kind: 'loseAnswer', connection: 'silent' }),
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

describeSchemeContract('exact on Solana', openHarness)
