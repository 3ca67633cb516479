import { describe, expect, it } from 'vitest'
import type { RecipientStatement, UniqueAmounts } from '../../../src/ports/recipients.js'
import type { ClaimDemands, ClaimPolicy } from '../../../src/protocol/recipients.js'
import { createDirectNetwork } from '../../../src/schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createOffers } from '../../../src/usecases/core/describe/offers.js'
import { createClaimRules } from '../../../src/usecases/core/verify/claimRules.js'
import { createManualClock } from '../../support/manualClock.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyDirectChain } from '../../support/toyDirectChain.js'

type Stated = Partial<ClaimDemands>

interface Situation {
  /** What bob has stated; null: nothing. */
  readonly stated?: Stated | null
  readonly policy?: ClaimPolicy
}

const setup = ({ stated = null, policy = 'open' }: Situation = {}) => {
  const clock = createManualClock()
  const { chain } = createToyDirectChain()
  const scheme = createExactDirectScheme(chain, { clock, network: createDirectNetwork(chain) })
  const issued = new Map<bigint, { readonly digest: string; readonly issuedAt: Date }>()
  const uniqueAmounts: UniqueAmounts = {
    issue: async ({ base, maxTail, digest, issuedAt }) => {
      const tail = issued.size + 1
      if (tail > maxTail) return null
      issued.set(base + BigInt(tail), { digest: Buffer.from(digest).toString('hex'), issuedAt })
      return base + BigInt(tail)
    },
    find: async ({ purse, amount, digest }) => {
      const found = issued.get(amount)
      return found?.digest === Buffer.from(digest).toString('hex')
        ? { ...purse, amount, issuedAt: found.issuedAt }
        : null
    },
    purge: async () => undefined,
  }
  const demands = { memo: false, signedClaim: false, uniqueAmount: false, ownKey: false, ...stated }
  const statement: RecipientStatement = { network: 'toy:1', payTo: 'bob', accountId: 'shop', demands }
  const rules = createClaimRules({
    findStatement: async ({ network, payTo }) =>
      stated !== null && network === 'toy:1' && payTo === 'bob' ? statement : null,
    uniqueAmounts,
    policy,
  })
  const offers = createOffers({
    registry: createSchemeRegistry([scheme]),
    claimRules: rules,
    uniqueAmounts,
    clock,
  })
  return {
    clock,
    judge: (caller: string, changes: { isForSettle?: boolean; amount?: bigint; extra?: object } = {}) => {
      const { isForSettle = true, amount = 100n, extra = {} } = changes
      const requirements = { payTo: 'BOB', asset: 'gold', amount, extra: { ...extra } }
      return rules.judge(scheme, { requirements, caller, isForSettle })
    },
    admits: (caller: string) => rules.admitsIntents(scheme, { payTo: 'bob', caller }),
    issue: (caller: string, changes: { decimals?: number | null; amount?: bigint | null } = {}) => {
      const { decimals = 6, amount = 100n } = changes
      const draft = { scheme: 'exact-direct', network: 'toy:1', payTo: 'bob', maxTimeoutSeconds: 300 }
      return offers.issue(
        { asset: 'gold', decimals, extra: {} },
        { ...draft, amount, caller, path: 'accepts.0.' },
      )
    },
  }
}

const forbidden = { refusal: { reason: 'claim_not_permitted' } }

describe('a claim on a payment to a recipient', () => {
  it.each<[string, Situation, string, object]>([
    ['by a caller without a key, nothing stated', {}, 'anonymous', {}],
    ['by a caller without a key under keyed', { policy: 'keyed' }, 'anonymous', forbidden],
    ['by an account under keyed', { policy: 'keyed' }, 'stranger', {}],
    [
      'by a caller without a key, stated',
      { policy: 'keyed', stated: { memo: true } },
      'anonymous',
      { demands: { memo: true, signedClaim: false, exactSince: null } },
    ],
    ['by another account', { stated: { ownKey: true } }, 'stranger', forbidden],
    ['by a caller without a key', { stated: { ownKey: true } }, 'anonymous', forbidden],
    [
      'by its own account',
      { stated: { ownKey: true, signedClaim: true } },
      'shop',
      { demands: { signedClaim: true } },
    ],
  ])('%s', async (_, situation, caller, expected) => {
    const answer = await setup(situation).judge(caller)
    expect(answer).toMatchObject(expected)
    if (!('refusal' in expected)) expect(answer).not.toHaveProperty('refusal')
  })

  it('is verified under keyed by callers without a key, who can claim nothing', async () => {
    const { judge } = setup({ policy: 'keyed' })
    expect(await judge('anonymous', { isForSettle: false })).toEqual({})
  })

  it('shows the offer that was issued with its unique amount', async () => {
    const { judge, issue, clock } = setup({ stated: { uniqueAmount: true } })
    const offer = await issue('shop')
    const other = await issue('shop')
    if (offer === null || other === null) throw new Error('No amount was issued')
    const since = new Date(clock.now().getTime() - 10_000)
    expect(await judge('anonymous', offer)).toEqual({
      demands: { memo: false, signedClaim: false, exactSince: since },
    })
    for (const shown of [
      {},
      { amount: offer.amount },
      { amount: offer.amount, extra: other.extra },
      { amount: 1n, extra: offer.extra },
      { amount: offer.amount, extra: { offer: 7 } },
    ]) {
      expect(await judge('anonymous', shown)).toMatchObject({ refusal: { reason: 'offer_unknown' } })
    }
  })
})

describe('a unique amount', () => {
  const stated = { uniqueAmount: true }

  it('is issued where the recipient has stated it, to its own account', async () => {
    expect(await setup().issue('anonymous')).toBeNull()
    expect(await setup({ stated: { memo: true } }).issue('anonymous')).toBeNull()
    for (const caller of ['anonymous', 'stranger']) {
      expect(await rejectionOf(setup({ stated }).issue(caller))).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await setup({ stated }).issue('shop')).toMatchObject({
      amount: 101n,
      extra: { offer: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
  })

  it.each([
    ['a token without units below a cent', { decimals: 2 }, 'INVALID_REQUEST'],
    ['a token of unknown decimals', { decimals: null }, 'INVALID_REQUEST'],
    ['no amount', { amount: null }, 'INVALID_REQUEST'],
  ])('is refused for %s', async (_, changes, code) => {
    expect(await rejectionOf(setup({ stated }).issue('shop', changes))).toMatchObject({ code })
  })

  it('stays below a cent, and is refused while all are in use', async () => {
    const { issue } = setup({ stated })
    const amounts = Array.from({ length: 9 }, async () => (await issue('shop', { decimals: 3 }))?.amount)
    expect(await Promise.all(amounts)).toEqual(Array.from({ length: 9 }, (_, index) => BigInt(101 + index)))
    expect(await rejectionOf(issue('shop', { decimals: 3 }))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

it('admits intents of callers who could claim them', async () => {
  expect(await setup().admits('anonymous')).toBe(true)
  expect(await setup({ policy: 'keyed' }).admits('anonymous')).toBe(false)
  expect(await setup({ stated: { ownKey: true } }).admits('stranger')).toBe(false)
  expect(await setup({ stated: { ownKey: true } }).admits('shop')).toBe(true)
  expect(await setup({ stated: { uniqueAmount: true } }).admits('shop')).toBe(false)
})
