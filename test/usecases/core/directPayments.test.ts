import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCrossCheckLimit } from '../../../src/chains/common/crossCheckLimit.js'
import { acceptsRequest, isPriceRequest } from '../../../src/protocol/accepts.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import {
  createDirectNetwork,
  type DirectChain,
  type LookUp,
} from '../../../src/schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { findPublicProof } from '../../../src/schemes/publicProof.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createCompleteAccepts } from '../../../src/usecases/core/describe/accepts.js'
import { createFindTerms } from '../../../src/usecases/core/describe/completeRequirements.js'
import { fingerprintRequest } from '../../../src/usecases/core/idempotency/fingerprint.js'
import { createConcurrencyLimits } from '../../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyDirectChain } from '../../support/toyDirectChain.js'

interface BodyChanges {
  readonly resource?: string
  readonly txHash?: string
  readonly requirements?: object
}

const bodyOf = ({
  resource = 'https://shop.example/a',
  txHash = 'tx-1',
  requirements = {},
}: BodyChanges = {}) => {
  const paymentRequirements = {
    scheme: 'exact-direct',
    network: 'toy:1',
    amount: '100',
    asset: 'gold',
    payTo: 'bob',
    maxTimeoutSeconds: 60,
    resource,
    ...requirements,
  }
  return wirePaymentRequest.parse({
    paymentPayload: {
      t402Version: 2,
      accepted: paymentRequirements,
      payload: { txHash, from: 'alice', to: 'bob', amount: '100' },
    },
    paymentRequirements,
  })
}

/** Of a network with one host. */
const limit = { endpoints: [], crossCheckAmount: 101n, isRequired: true }

const setup = (changes: Partial<DirectChain> = {}) => {
  const clock = createManualClock()
  const journal = createMemoryJournal()
  const logger = createMemoryLogger()
  const toy = createToyDirectChain(changes)
  const { isTooLarge, apply } = createCrossCheckLimit({ ...limit, logger })
  const network = createDirectNetwork(toy.chain, isTooLarge)
  const scheme = apply(createExactDirectScheme(toy.chain, { clock, network }))
  const registry = createSchemeRegistry([scheme])
  const paid: LookUp = {
    state: 'successful',
    includedAt: clock.now(),
    transfers: [{ asset: 'gold', from: 'alice', to: 'bob', amount: 100n, memo: null }],
  }
  toy.find(paid)
  const settleAuthorization = createSettleAuthorization({
    registry,
    journal,
    holdFunds: async (_payment, verdict) => verdict,
    limits: noSpendingLimits,
    concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
    clock,
    logger,
    waitMs: 250,
  })
  const verifyPayment = createVerifyPayment({
    registry,
    journal,
    quotaGate: async () => null,
    holdFunds: async (_payment, verdict) => verdict,
    logger,
    deadlineMs: waitLimitMs,
  })
  const completeAccepts = createCompleteAccepts(createFindTerms({ registry, isServing: () => true }))
  return {
    toy,
    paid,
    journal,
    scheme,
    settle: (changes: BodyChanges = {}) => {
      const body = bodyOf(changes)
      const payment = readPayment(body)
      if (isRefused(payment)) throw new Error(payment.reason)
      const fingerprint = fingerprintRequest(body)
      return settleAuthorization({
        payment,
        fingerprint,
        consumer: randomUUID(),
        caller: 'anonymous',
        quota: null,
      })
    },
    verify: (changes: BodyChanges = {}) =>
      verifyPayment({ body: bodyOf(changes), caller: 'anonymous', quota: null, isAwaited: () => true }),
    complete: (entry: object) => {
      const request = acceptsRequest.parse({
        accepts: [{ scheme: 'exact-direct', network: 'toy:1', amount: '100', payTo: 'bob', ...entry }],
      })
      if (isPriceRequest(request)) throw new Error('This is a price')
      return completeAccepts(request)
    },
  }
}

describe('where one host attests payments', () => {
  it('no requirements are completed from the cross-check amount on', async () => {
    const { complete } = setup()
    const { accepts } = await complete({})
    expect(accepts).toHaveLength(1)
    expect(await rejectionOf(complete({ amount: '101' }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('cross_check_unavailable'),
    })
  })

  it('a surplus is neither refused nor recorded', async () => {
    const { toy, paid, verify, settle, journal, scheme } = setup()
    if (paid.state !== 'successful') throw new Error('It is paid')
    toy.find({ ...paid, transfers: paid.transfers.map((each) => ({ ...each, amount: 5_000n })) })
    expect(await verify()).toMatchObject({ isValid: true })
    const result = await settle()
    expect(result).toMatchObject({ success: true })
    expect(JSON.stringify(result)).not.toContain('5000')
    const [row] = journal.list()
    if (row === undefined) throw new Error('It has no row')
    expect(findPublicProof(scheme)?.findRowContradiction(row)).toBeNull()
    const compared = await scheme.resolve(row, new AbortController().signal, { isReadOnly: true })
    expect(compared).toMatchObject({ state: 'confirmed', settledAmount: 100n })
    expect(await verify({ requirements: { amount: '101' }, txHash: 'tx-2' })).toMatchObject({
      invalidReason: 'cross_check_unavailable',
    })
  })
})

describe('a payment that the client made itself', () => {
  it('is verified as often as asked, and claimed once', async () => {
    const { verify, settle } = setup()
    expect(await verify()).toMatchObject({ isValid: true, payer: 'alice' })
    expect(await verify({ resource: 'https://shop.example/b' })).toMatchObject({ isValid: true })
    expect(await settle()).toMatchObject({ success: true, transaction: 'tx-1', payer: 'alice' })
    for (const resource of ['https://shop.example/a', 'https://shop.example/b']) {
      expect(await verify({ resource })).toMatchObject({ invalidReason: 'duplicate_settlement' })
    }
    expect(await settle({ resource: 'https://shop.example/b' })).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
  })

  it('pays for one of many requests that claim it at once, in any spelling', async () => {
    const { settle } = setup()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        settle({ resource: `https://shop.example/${index}`, txHash: index % 2 === 0 ? 'tx-1' : 'TX-1' }),
      ),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
  })

  it('is answered settlement_pending while it is not final, and its later success goes to the same request', async () => {
    const { toy, paid, settle, verify } = setup()
    toy.find({ state: 'pending' })
    expect(await verify()).toMatchObject({ invalidReason: 'transaction_not_final', retryable: true })
    expect(await settle()).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    toy.find(paid)
    expect(await settle({ resource: 'https://shop.example/b' })).toMatchObject({ success: false })
    expect(await verify({ resource: 'https://shop.example/b' })).toMatchObject({ isValid: true })
  })

  it('is refused and not claimed while the chain does not know it', async () => {
    const { toy, paid, settle } = setup()
    toy.find({ state: 'missing' })
    expect(await settle()).toMatchObject({ errorReason: 'transaction_not_found', retryable: true })
    toy.find(paid)
    expect(await settle()).toMatchObject({ success: true })
  })

  it('is neither valid nor invalid while no node answers', async () => {
    const { toy, settle, verify } = setup()
    toy.find(new Error('No node answers'))
    expect(await rejectionOf(verify())).toMatchObject({ code: 'VERIFICATION_FAILED' })
    expect(await rejectionOf(settle())).toMatchObject({ code: 'SETTLEMENT_FAILED' })
  })
})

describe('requirements for such a payment', () => {
  const contradictory = { extra: { contractAddress: 'silver' } }

  it('are refused when they name two assets, before a client pays', async () => {
    const { settle, verify, complete, toy } = setup()
    for (const attempt of [
      verify({ requirements: contradictory }),
      settle({ requirements: contradictory }),
    ]) {
      expect(await rejectionOf(attempt)).toMatchObject({
        code: 'INVALID_REQUEST',
        message: 'paymentRequirements.extra.contractAddress: must be the asset',
      })
    }
    expect(await rejectionOf(complete({ asset: 'gold', ...contradictory }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'accepts.0.extra.contractAddress: must be the asset',
    })
    expect(toy.listQueries()).toEqual([])
  })

  it('are refused when they require a memo where transfers carry none, also for the default asset', async () => {
    const { complete } = setup({ carriesMemo: false })
    expect(await rejectionOf(complete({ extra: { memo: 'order 7' } }))).toMatchObject({
      message: 'accepts.0.extra.memo: transfers of the network carry no memo',
    })
  })

  it.each([
    ['asset', { asset: 'copper' }, 'must be an asset of toy:1'],
    ['payTo', { payTo: 'b0b' }, 'must be an address of toy:1'],
  ])('are refused when their %s is malformed', async (field, requirements, problem) => {
    expect(await rejectionOf(setup().verify({ requirements }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: `paymentRequirements.${field}: ${problem}`,
    })
  })

  it('are completed with the extra of the network, and keep memo and claim', async () => {
    const extra = { memo: 'order 7', requireSignedClaim: true }
    expect((await setup().complete({ extra })).accepts).toMatchObject([
      { asset: 'gold', extra: { assetSymbol: 'GOLD', ...extra } },
    ])
  })
})
