import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Verification } from '../../../../src/schemes/scheme.js'
import { verifyTraced } from '../../../support/explained.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import { createTronKey, type TronKey } from '../../../support/tron/keys.js'
import {
  type SignedFields,
  type TronPayload,
  type TronPaymentBody,
  type TronPaymentOptions,
  tronPayment,
} from '../../../support/tron/payment.js'
import { signWithOtherKey, toHighS } from '../../../support/tron/signatureForms.js'
import { startTronChain, type TronChain } from '../../../support/tron/tronChain.js'
import { nileEnvironment, type OpenScheme, openScheme, readBody } from '../openScheme.js'

let chain: TronChain
let token: string
let opened: OpenScheme

beforeAll(async () => {
  chain = await startTronChain()
  token = await chain.deploy('TetherTrc20')
  opened = await openScheme({ ...nileEnvironment(chain.url, token), TRON_MAX_FEE_LIMIT_nile: '200' })
})
afterAll(async () => {
  await opened.close()
  await chain.stop()
})
// No transaction comes nearer to its expiry while it is signed and verified.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const verify = (body: unknown, { scheme } = opened): Promise<Verification> =>
  verifyTraced(scheme, readBody(body), { isAwaited: () => true })

interface Plan extends Partial<Omit<TronPaymentOptions, 'signed'>> {
  readonly sun?: number
  readonly balance?: bigint
}

/** Signed by a new, funded payer, with these differences. */
const plan = async (signed: Partial<SignedFields> = {}, options: Plan = {}): Promise<TronPaymentBody> => {
  const { payer = createTronKey(), sun = 100_000_000, balance = 50_000n, ...rest } = options
  if (sun > 0) chain.fund(payer.address, sun)
  await chain.mint(options.token ?? token, payer.address, balance)
  return await tronPayment({
    chain,
    payer,
    payTo: createTronKey().address,
    token,
    amount: 10_000n,
    ...rest,
    signed,
  })
}

const withPayload = (body: TronPaymentBody, change: (payload: TronPayload) => object): unknown => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: change(body.paymentPayload.payload) },
})

const withRequirements = (body: TronPaymentBody, change: object): unknown => ({
  paymentPayload: { ...body.paymentPayload, accepted: { ...body.paymentRequirements, ...change } },
  paymentRequirements: { ...body.paymentRequirements, ...change },
})

const withCopy = (change: object) => async (): Promise<unknown> =>
  withPayload(await plan(), (payload) => ({
    ...payload,
    authorization: { ...payload.authorization, ...change },
  }))

const otherKey = createTronKey()

describe('a transfer that meets the requirements', () => {
  it('is accepted, also with a higher amount, which is what it moves', async () => {
    const payer = createTronKey()
    expect(await verify(await plan({ amount: 12_000n }, { payer }))).toMatchObject({
      isValid: true,
      payer: payer.address,
      amount: 12_000n,
    })
  })

  it('is identified by the hash of its raw data', async () => {
    const body = await plan()
    const verdict = await verify(body)
    if (!verdict.isValid) throw new Error(verdict.reason)
    expect(verdict.authorizationId).toMatch(/^tron:nile\/[0-9a-f]{64}$/)
    expect(verdict.expiresAt?.getTime()).toBe(body.paymentPayload.payload.authorization.expiration)
  })

  it('is accepted from a multi-key account whose permission this key satisfies', async () => {
    const payer = createTronKey()
    const body = await plan({}, { payer })
    const keys = [payer, otherKey].map(({ hexAddress }) => ({ address: hexAddress, weight: 2 }))
    chain.setOwnerPermission(payer.address, { threshold: 2, keys })
    expect(await verify(body)).toMatchObject({ isValid: true })
  })
})

describe('checks without the chain', () => {
  it.each<[string, () => Promise<unknown>]>([
    [
      'invalid_hex_encoding',
      async () => withPayload(await plan(), (p) => ({ ...p, signedTransaction: 'zz'.repeat(300) })),
    ],
    [
      'transaction_too_short',
      async () => withPayload(await plan(), (p) => ({ ...p, signedTransaction: '0a02' })),
    ],
    ['invalid_sender_address', withCopy({ from: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u' })],
    ['invalid_recipient_address', withCopy({ to: '0x1234' })],
    ['invalid_contract_address', withCopy({ contractAddress: 'nowhere' })],
    ['transaction_verification_failed', withCopy({ from: otherKey.address })],
    ['transaction_verification_failed', withCopy({ to: otherKey.address })],
    ['transaction_verification_failed', withCopy({ contractAddress: otherKey.address })],
    ['transaction_verification_failed', withCopy({ amount: '10001' })],
    ['unsupported_asset', async () => withRequirements(await plan(), { asset: otherKey.address })],
    ['asset_mismatch', () => plan({ contract: otherKey.address })],
    ['recipient_mismatch', () => plan({ to: otherKey.address })],
    ['insufficient_amount', () => plan({ amount: 9_999n })],
    ['authorization_expired', () => plan({ lifetimeMs: -1 })],
    ['authorization_expires_too_late', () => plan({ lifetimeMs: 306_000 })],
    ['fee_limit_too_high', () => plan({ feeLimit: 200_000_001 })],
    [
      'invalid_exact_tron_signature',
      async () =>
        withPayload(await plan(), (p) => ({
          ...p,
          signedTransaction: signWithOtherKey(p.signedTransaction, otherKey),
        })),
    ],
    [
      'invalid_exact_tron_signature',
      async () =>
        withPayload(await plan(), (p) => ({ ...p, signedTransaction: toHighS(p.signedTransaction) })),
    ],
  ])('refuse as %s before any request about the payment', async (reason, make) => {
    const body = await make()
    const before = chain.requests.length
    expect(await verify(body)).toMatchObject({ isValid: false, reason })
    expect(chain.requests.slice(before).filter((path) => !path.endsWith('/getblock'))).toEqual([])
  })

  it('refuse an amount of zero as invalid_payment_amount', async () => {
    expect(await verify(await plan({ amount: 0n }, { amount: 0n }))).toMatchObject({
      reason: 'invalid_payment_amount',
    })
  })

  it('refuse a payment to the payer as self_payment', async () => {
    const payer = createTronKey()
    expect(await verify(await plan({}, { payer, payTo: payer.address }))).toMatchObject({
      reason: 'self_payment',
      payer: payer.address,
    })
  })

  it('refuse to settle a transaction that expires within six seconds', async () => {
    const verified = await verify(await plan({ lifetimeMs: 5_500 }))
    if (!verified.isValid) throw new Error(`It is refused as ${verified.reason}`)
    const recorder = opened.lanes.openRecorder({})
    expect(await verified.settle(recorder, { waitUntil: AbortSignal.timeout(waitLimitMs) })).toEqual({
      state: 'failed',
      reason: 'authorization_expired',
    })
  })
})

describe('checks of the chain state', () => {
  const payFrom = async (prepare: (payer: TronKey) => void | Promise<void>, options: Plan = {}) => {
    const payer = createTronKey()
    const body = await plan({}, { payer, ...options })
    await prepare(payer)
    return await verify(body)
  }

  it('refuse an unknown reference block as reference_block_mismatch', async () => {
    expect(await verify(await plan({ refBlockHash: 'de'.repeat(8) }))).toMatchObject({
      reason: 'reference_block_mismatch',
    })
    expect(await verify(await plan({ refBlockBytes: 'eeee' }))).toMatchObject({
      reason: 'reference_block_mismatch',
    })
  })

  it('refuse an account that does not exist as account_not_activated', async () => {
    expect(await verify(await plan({}, { sun: 0 }))).toMatchObject({ reason: 'account_not_activated' })
  })

  it('refuse a replaced owner key as account_permission_mismatch', async () => {
    const verdict = await payFrom((payer) =>
      chain.setOwnerPermission(payer.address, {
        threshold: 1,
        keys: [{ address: otherKey.hexAddress, weight: 1 }],
      }),
    )
    expect(verdict).toMatchObject({ reason: 'account_permission_mismatch' })
  })

  it('refuse a missing second signature as account_permission_mismatch', async () => {
    const verdict = await payFrom((payer) =>
      chain.setOwnerPermission(payer.address, {
        threshold: 2,
        keys: [payer, otherKey].map(({ hexAddress }) => ({ address: hexAddress, weight: 1 })),
      }),
    )
    expect(verdict).toMatchObject({ reason: 'account_permission_mismatch' })
  })

  it('refuse a low token balance as insufficient_balance', async () => {
    expect(await payFrom(() => undefined, { balance: 9_999n })).toMatchObject({
      reason: 'insufficient_balance',
    })
  })

  it('refuse a blacklisted payer as invalid_exact_tron_transaction_simulation_failed', async () => {
    const verdict = await payFrom((payer) =>
      chain.send(token, 'setBlackListed(address,bool)', [payer.address, 1n]),
    )
    expect(verdict).toMatchObject({ reason: 'invalid_exact_tron_transaction_simulation_failed' })
  })

  it('refuse a payer without energy and TRX as insufficient_energy', async () => {
    expect(await payFrom(() => undefined, { sun: 1_000 })).toMatchObject({ reason: 'insufficient_energy' })
  })

  it('accept a payer without TRX who has enough energy', async () => {
    expect(await payFrom((payer) => chain.stake(payer.address, 100_000_000_000), { sun: 1 })).toMatchObject({
      isValid: true,
    })
  })

  it('refuse a fee limit below the energy cost as fee_limit_too_low', async () => {
    expect(await verify(await plan({ feeLimit: 100_000 }))).toMatchObject({ reason: 'fee_limit_too_low' })
  })

  it('refuse a fee limit that does not cover staked energy as fee_limit_too_low', async () => {
    const payer = createTronKey()
    chain.stake(payer.address, 100_000_000_000)
    const body = await plan({ feeLimit: 1_000_000 }, { payer, sun: 1 })
    expect(await verify(body)).toMatchObject({ reason: 'fee_limit_too_low' })
  })

  it('refuse a token with a transfer fee as transfer_event_mismatch', async () => {
    await chain.send(token, 'setFee(uint256)', [10n])
    try {
      expect(await verify(await plan())).toMatchObject({ reason: 'transfer_event_mismatch' })
    } finally {
      await chain.send(token, 'setFee(uint256)', [0n])
    }
  })

  it.each([1n, 2n, 3n])('refuse a dishonest token (%s) as transfer_event_mismatch', async (lie) => {
    const dishonestToken = await chain.deploy('LyingTrc20')
    const other = await openScheme(nileEnvironment(chain.url, dishonestToken))
    try {
      const body = await plan({}, { token: dishonestToken })
      expect(await verify(body, other)).toMatchObject({ isValid: true })
      await chain.send(dishonestToken, 'setLie(uint8)', [lie])
      expect(await verify(body, other)).toMatchObject({ reason: 'transfer_event_mismatch' })
    } finally {
      await other.close()
    }
  })

  it('refuse an asset without code as asset_not_deployed_contract when any token is accepted', async () => {
    const other = await openScheme(nileEnvironment(chain.url, '*'))
    try {
      const body = await plan({ contract: otherKey.address })
      const asked = withRequirements(body, { asset: otherKey.address })
      expect(await verify(asked, other)).toMatchObject({ reason: 'asset_not_deployed_contract' })
    } finally {
      await other.close()
    }
  })
})
