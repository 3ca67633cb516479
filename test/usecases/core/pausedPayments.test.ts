import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Pause } from '../../../src/ports/operatorPauses.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { type WirePaymentRequest, wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createDirectNetwork } from '../../../src/schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { fingerprintRequest } from '../../../src/usecases/core/idempotency/fingerprint.js'
import { createHoldFunds } from '../../../src/usecases/core/verify/holdFunds.js'
import { createPauseGate } from '../../../src/usecases/core/verify/pauses.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryHolds } from '../../support/memoryHolds.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createUnlimitedSettle } from '../../support/settleAuthorization.js'
import { createToyDirectChain } from '../../support/toyDirectChain.js'
import { createToyScheme, toyAuthorized } from '../../support/toyScheme.js'

const start = new Date('2026-01-01T00:00:00Z')
const isPaused = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'New payments on toy:1 are paused by the operator: Nodes contradict each other',
  operationalCode: 'SVC-4001',
  retryAfterSeconds: 30,
}

const setup = (scheme: Scheme, bodyOf: (name: string) => WirePaymentRequest) => {
  const journal = createMemoryJournal()
  const holds = createMemoryHolds()
  const logger = createMemoryLogger()
  const clock = createManualClock(start)
  let pause: Pause | null = null
  const pauses = createPauseGate(() => pause, holds)
  const shared = {
    registry: createSchemeRegistry([scheme]),
    journal,
    holdFunds: createHoldFunds({ holds, clock }),
    pauses,
    logger,
  }
  const settleAuthorization = createUnlimitedSettle(shared)
  const verifyPayment = createVerifyPayment({
    ...shared,
    quotaGate: async () => null,
    deadlineMs: waitLimitMs,
  })
  return {
    journal,
    holds,
    pause: (since = start) => {
      pause = {
        target: { kind: 'network', network: 'toy:1' },
        reason: 'Nodes contradict each other',
        by: null,
        since,
      }
    },
    resume: () => {
      pause = null
    },
    verify: (name: string, caller = 'shop') =>
      verifyPayment({ body: bodyOf(name), caller, quota: null, isAwaited: () => true }),
    settle: (
      name: string,
      { caller = 'shop', ...others }: { caller?: string; holdPurpose?: string } = {},
    ) => {
      const body = bodyOf(name)
      const payment = readPayment(body)
      if (isRefused(payment)) throw new Error(payment.reason)
      const consumer = randomUUID()
      return settleAuthorization({
        payment,
        fingerprint: fingerprintRequest(body),
        consumer,
        caller,
        quota: null,
        ...others,
      })
    },
  }
}

const uptoBody = (nonce: string) =>
  wirePaymentRequest.parse({
    paymentPayload: { scheme: 'upto', network: 'toy:1', payload: { from: 'alice', nonce } },
    paymentRequirements: {
      scheme: 'upto',
      network: 'toy:1',
      maxAmount: '10000',
      asset: 'gold',
      payTo: 'bob',
      maxTimeoutSeconds: 60,
    },
  })

/** Funds are held, unless told otherwise. `release` lets settlements that were sent be mined. */
const withHolds = ({ isHeld = true, waits = false, continues = false } = {}) => {
  let mine = (): void => undefined
  const mined = waits
    ? new Promise<void>((resolve) => {
        mine = resolve
      })
    : Promise.resolve()
  const hold = { spender: 'router', balance: 25_000n, allowance: null }
  const scheme = createToyScheme({
    kind: { scheme: 'upto', network: 'toy:1' },
    continues: () => continues,
    verify: async (payment) =>
      toyAuthorized(payment, {
        ...(isHeld ? { hold } : {}),
        settle: async (recorder) => {
          const transaction = `tx ${recorder.settlementId}`
          await recorder.record({ transaction, bytes: 'bytes' })
          await mined
          return { state: 'confirmed', transaction }
        },
      }),
  })
  return { ...setup(scheme, uptoBody), mine: () => mine() }
}

describe('while payments are paused', () => {
  it('a new one is neither verified nor settled, and nothing is held or claimed for it', async () => {
    const { pause, verify, settle, journal, holds } = withHolds()
    pause()
    expect(await rejectionOf(verify('1'))).toMatchObject(isPaused)
    expect(await rejectionOf(settle('1'))).toMatchObject(isPaused)
    expect([journal.list(), holds.list()]).toEqual([[], []])
  })

  it('what moves an earlier payment, such as a capture, is verified and settled', async () => {
    const { pause, verify, settle } = withHolds({ isHeld: false, continues: true })
    pause()
    expect(await verify('1')).toMatchObject({ isValid: true })
    expect(await settle('1')).toMatchObject({ success: true })
  })

  it.each(['shop', 'anonymous'])(
    'what was verified for %s is settled from its hold, once',
    async (caller) => {
      const { pause, verify, settle, journal } = withHolds()
      expect(await verify('1', caller)).toMatchObject({ isValid: true })
      pause()
      expect(await rejectionOf(verify('1', caller))).toMatchObject(isPaused)
      expect(await settle('1', { caller })).toMatchObject({ success: true })
      expect(await settle('1', { caller })).toMatchObject({ errorReason: 'duplicate_settlement' })
      expect(journal.list()).toHaveLength(1)
    },
  )

  it('a hold of another caller promises nothing', async () => {
    const { pause, verify, settle } = withHolds()
    await verify('1', 'shop')
    pause()
    expect(await rejectionOf(settle('1', { caller: 'rival' }))).toMatchObject(isPaused)
  })

  it('what was verified without a hold is refused, and settles after the resume', async () => {
    const { pause, resume, verify, settle } = withHolds({ isHeld: false })
    expect(await verify('1')).toMatchObject({ isValid: true })
    pause()
    expect(await rejectionOf(settle('1'))).toMatchObject(isPaused)
    resume()
    expect(await settle('1')).toMatchObject({ success: true })
  })

  it('a settlement that was sent is confirmed, and joined by a repeated request', async () => {
    const { pause, settle, verify, journal, mine } = withHolds({ isHeld: false, waits: true })
    const first = settle('1')
    await pollUntil(() => journal.list()[0]?.state === 'pending', 'the settlement to be sent')
    pause()
    const again = settle('1')
    // Its own settlement is open: the verification says so, as without a pause.
    expect(await verify('1')).toMatchObject({ isValid: true })
    mine()
    const results = await Promise.all([first, again])
    expect(results.map(({ success }) => success).toSorted()).toEqual([false, true])
    expect(journal.list().map(({ state }) => state)).toEqual(['confirmed'])
  })

  it('a stream settles: its hold was made when it was opened', async () => {
    const { pause, settle } = withHolds()
    pause()
    expect(await settle('1', { holdPurpose: 'stream:1' })).toMatchObject({ success: true })
  })

  it('pausing and resuming again and again changes no settlement', async () => {
    const { pause, resume, settle, journal } = withHolds({ isHeld: false })
    for (const name of ['1', '2', '3']) {
      pause()
      expect(await rejectionOf(settle(name))).toMatchObject(isPaused)
      resume()
      expect(await settle(name)).toMatchObject({ success: true })
    }
    expect(journal.list().map(({ state }) => state)).toEqual(['confirmed', 'confirmed', 'confirmed'])
  })
})

describe('a transfer that the client made itself', () => {
  const directBody = (txHash: string) => {
    const paymentRequirements = {
      scheme: 'exact-direct',
      network: 'toy:1',
      amount: '100',
      asset: 'gold',
      payTo: 'bob',
      maxTimeoutSeconds: 60,
      resource: 'https://shop.example/a',
    }
    const payload = { txHash, from: 'alice', to: 'bob', amount: '100' }
    return wirePaymentRequest.parse({
      paymentPayload: { t402Version: 2, accepted: paymentRequirements, payload },
      paymentRequirements,
    })
  }

  const paidAt = (includedAt: Date) => {
    const toy = createToyDirectChain()
    toy.find({
      state: 'successful',
      includedAt,
      transfers: [{ asset: 'gold', from: 'alice', to: 'bob', amount: 100n, memo: null }],
    })
    const network = createDirectNetwork(toy.chain, () => false)
    return setup(createExactDirectScheme(toy.chain, { clock: createManualClock(start), network }), directBody)
  }

  it('is settled if it precedes the pause, and its row knows nothing of the pause', async () => {
    const { pause, verify, settle, journal } = paidAt(new Date(start.getTime() - 1_000))
    pause()
    expect(await verify('tx-1')).toMatchObject({ isValid: true })
    expect(await settle('tx-1')).toMatchObject({ success: true })
    // A reorg may move it to a block after the pause: then it still pays.
    expect(JSON.stringify(journal.list()[0]?.details)).not.toContain('paidBefore')
  })

  it('is refused if it was made after the pause, and settled after the resume', async () => {
    const { pause, resume, verify, settle, journal } = paidAt(start)
    pause(new Date(start.getTime() - 1_000))
    expect(await rejectionOf(verify('tx-1'))).toMatchObject(isPaused)
    expect(await rejectionOf(settle('tx-1'))).toMatchObject(isPaused)
    expect(journal.list()).toEqual([])
    resume()
    expect(await settle('tx-1')).toMatchObject({ success: true })
  })
})
