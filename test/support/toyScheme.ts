import { z } from 'zod'
import type { Recorder } from '../../src/ports/settlementJournal.js'
import { foldAddress } from '../../src/protocol/assetId.js'
import type { Payment } from '../../src/protocol/payment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { Network } from '../../src/schemes/network.js'
import type { Authorized, Outcome, Scheme, SettleOptions } from '../../src/schemes/scheme.js'

const proof = z.object({ nonce: z.string(), from: z.string() })

/** Request body for the toy scheme; one authorization per nonce. */
export const toyBody = (nonce = 'nonce-1', network = 'toy:1') => {
  const requirements = {
    scheme: 'exact',
    network,
    amount: '10000',
    asset: 'gold',
    payTo: 'bob',
    maxTimeoutSeconds: 60,
  }
  const paymentPayload = { accepted: requirements, payload: { from: 'alice', nonce } }
  return wirePaymentRequest.parse({ paymentPayload, paymentRequirements: requirements })
}

export type ToySettle = (payment: Payment, recorder: Recorder, options: SettleOptions) => Promise<Outcome>

export interface ToyScript extends Partial<Omit<Scheme, 'network'>> {
  readonly network?: Partial<Network>
  readonly settle?: ToySettle
}

export const toyAuthorized = (payment: Payment, changes: Partial<Authorized> = {}): Authorized => {
  const { from, nonce } = proof.parse(payment.proof)
  const { network, amount } = payment.requirements
  return {
    isValid: true,
    payer: from,
    authorizationId: `${network}/${nonce}`,
    authorizedAmount: amount,
    amount,
    expiresAt: null,
    details: {},
    settle: () => Promise.reject(new Error('The toy scheme has no settle script')),
    ...changes,
  }
}

/** Every text is an address, and no token is known. */
export const createToyNetwork = (script: Partial<Network> = {}): Network => ({
  id: 'toy:1',
  isTestnet: false,
  signers: ['toy-signer'],
  secondsToSettle: null,
  settlementsPerSecond: () => null,
  isAddress: () => true,
  normalizeAddress: (text) => ((script.isAddress?.(text) ?? true) ? foldAddress(text) : null),
  assetForm: script.isAsset === undefined ? 'an address' : 'an asset',
  isAsset: script.isAddress ?? (() => true),
  listTokens: () => [],
  listMinimums: () => ({}),
  balances: null,
  fees: null,
  isTooLarge: () => false,
  vouchers: null,
  routers: null,
  getBlockStatus: async () => 'canonical',
  ...script,
})

/** A scheme without a chain; scriptable, successful by default. */
export const createToyScheme = ({
  settle,
  kind = { scheme: 'exact', network: 'toy:1' },
  network,
  ...script
}: ToyScript = {}): Scheme => {
  let sent = 0
  const sendOnce: ToySettle = async (_payment, recorder) => {
    sent += 1
    const transaction = `tx-${sent}`
    await recorder.record({ transaction, bytes: `bytes-${sent}` })
    return { state: 'confirmed', transaction }
  }
  return {
    kind,
    network: createToyNetwork({ id: kind.network, ...network }),
    journalClaims: null,
    settledState: null,
    describeKind: () => ({ extra: undefined, extensions: [] }),
    describeAsset: async (asset) => ({ asset: asset ?? 'gold', decimals: 6, extra: {} }),
    identify: (payment) => {
      const parsed = proof.safeParse(payment.proof)
      return parsed.success ? `${payment.requirements.network}/${parsed.data.nonce}` : null
    },
    verify: async (payment) =>
      toyAuthorized(payment, {
        settle: (recorder, options) => (settle ?? sendOnce)(payment, recorder, options),
      }),
    resolve: async ({ transaction }) => ({ state: 'confirmed', transaction: transaction ?? '' }),
    ...script,
  }
}
