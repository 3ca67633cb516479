import { open } from '../../../src/chains/ton/open.js'
import { readTonSettings, type TonSettings } from '../../../src/chains/ton/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import type { SchemeBody, SchemeHarness } from '../../contracts/schemeContract.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { respellBoc, type TonPaymentBody, type TonPaymentOptions } from '../../support/ton/payment.js'
import { fundRelayWallets, tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../support/ton/tonChain.js'
import { randomAddress } from '../../support/ton/wallets.js'

interface PaymentForm {
  sign(options: TonPaymentOptions): Promise<TonPaymentBody>
  /** Field that holds the message. */
  readonly messageField: string
}

/** Throws if the settings are invalid. */
export const readSettings = (environment: Record<string, string>): TonSettings => {
  const reading = readTonSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('\n'))
  if (reading.settings === null) throw new Error('TON is not configured')
  return reading.settings
}

/** The same message in another serialization, and the asset in raw form and upper case. */
const respell = (
  chain: TonChain,
  { messageField }: PaymentForm,
  { paymentPayload, paymentRequirements }: TonPaymentBody,
): SchemeBody => {
  const { payload } = paymentPayload
  const asset = chain.token.master.toRawString().toUpperCase()
  return {
    paymentPayload: {
      ...paymentPayload,
      accepted: { ...paymentRequirements, asset },
      payload: { ...payload, [messageField]: respellBoc(String(payload[messageField])) },
    },
    paymentRequirements: { ...paymentRequirements, asset },
  }
}

/** One payload form on its own chain, behind a proxy. */
export const openTonHarness = async (form: PaymentForm): Promise<SchemeHarness> => {
  const chain = await startTonChain()
  await fundRelayWallets(chain)
  const proxy = await startRpcProxy(chain.url)
  // What was recorded and not sent stays so until a test has it resolved, however long a test takes.
  const lanes = createMemoryLanes({ isLeased: false })
  const settings = readSettings(tonEnvironment(chain, proxy.url))
  const limiter = createMemoryRateLimiter({ clock: systemClock })
  const opened = await open(settings, {
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
    otherNetwork: 'ton:mainnet',
    ignoredFields: ['tonAmount', 'validUntil', 'seqno', 'queryId'].map((field) => `authorization.${field}`),
    plan: async () => {
      const wallet = await chain.createPayer()
      const payTo = randomAddress()
      const body = await form.sign({ chain, wallet, payTo })
      return {
        body,
        respelled: respell(chain, form, body),
        countReceived: () => chain.token.balanceOf(payTo),
      }
    },
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const wallet = await chain.createPayer({ nanoTon: 0n })
      const { paymentPayload } = await form.sign({ chain, wallet, payTo: randomAddress() })
      return { transaction: '5'.repeat(64), bytes: String(paymentPayload.payload[form.messageField]) }
    },
    listSent: () =>
      proxy.calls.filter(({ method }) => method === 'sendBoc').map(({ params }) => readBoc(params[0])),
    dropSends: () => proxy.setFault('sendBoc', { kind: 'hang' }),
    dropSendResponses: () => proxy.setFault('sendBoc', { kind: 'loseAnswer', connection: 'silent' }),
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

const readBoc = (params: unknown): string => {
  if (typeof params === 'object' && params !== null && 'boc' in params) return String(params.boc)
  throw new Error('sendBoc was called without a bag of cells')
}
