import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type {
  BlockReference,
  Recorder,
  Settlement,
  SignedTransaction,
} from '../../src/ports/settlementJournal.js'
import { isRefused, readPayment } from '../../src/protocol/legacy.js'
import type { Payment } from '../../src/protocol/payment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { Authorized, Outcome, Scheme, Verification } from '../../src/schemes/scheme.js'
import { pollUntil } from '../support/pollUntil.js'

/** The body of /verify and /settle, version 2, as far as the suite looks into it. */
export interface SchemeBody {
  readonly paymentPayload: {
    readonly accepted: object
    readonly payload: object
  }
  readonly paymentRequirements: object
  readonly settleAmount?: string
}

/** One payment that can be made once, and another way to write the very same authorization. */
export interface PlannedPayment {
  readonly body: SchemeBody
  /** Other letter case, key order, signature form: whatever means the same on this chain. */
  readonly respelled: SchemeBody
  /** What reached the recipient, who gets nothing but this payment. */
  countReceived(): Promise<bigint>
}

/** Who sees what a recorder is asked to store. */
export interface Onlooker {
  /** May reject, as a recorder does that must not store. */
  before?(): Promise<void>
  /** Stored, and not yet answered; may reject, as a process does that dies now. */
  after?(signed: SignedTransaction): Promise<void>
}

/** What a scheme promises beside what every scheme does. */
export interface SchemeAbilities {
  /** Settles any stated amount up to the authorized one. */
  readonly settlesPart?: boolean
  /** The payer has sent the payment: settling claims the proof, records nothing and sends nothing. */
  readonly isVerifyOnly?: boolean
}

/** A scheme on a chain of the test's own, whose connection can be cut. */
export interface SchemeHarness {
  readonly scheme: Scheme
  /** A network that the payment is not for. */
  readonly otherNetwork: string
  /** A payment of a fresh payer who can afford it. */
  plan(): Promise<PlannedPayment>
  /** A recorder that stores; the suite looks over its shoulder. */
  openRecorder(onlooker: Onlooker): Recorder
  /** A transaction that nobody ever sent for any payment. */
  createStranger(): Promise<SignedTransaction>
  /** The bytes of every transaction that left for the chain. */
  listSent(): readonly string[]
  /** Sends do not arrive and are not answered. */
  swallowSends(): void
  /** Sends arrive, and their answers are lost. */
  loseSendAnswers(): void
  /** Nothing is answered any more. */
  silence(): void
  restore(): void
  close(): Promise<void>
}

/** What "done" means for a scheme: every one of them passes this suite. */
export const describeSchemeContract = (
  name: string,
  open: () => Promise<SchemeHarness>,
  { settlesPart = false, isVerifyOnly = false }: SchemeAbilities = {},
): void => {
  describe(name, () => {
    let harness: SchemeHarness
    let scheme: Scheme
    beforeAll(async () => {
      harness = await open()
      scheme = harness.scheme
    })
    afterAll(() => harness.close())

    /** Every byte string that may have left. */
    const known = new Set<string>()
    afterEach(() => {
      expect(
        harness.listSent().filter((bytes) => !known.has(bytes)),
        'sent without being recorded',
      ).toEqual([])
    })

    const openRecorder = (afterwards?: () => Promise<void>): WatchedRecorder => {
      const recorded: SignedTransaction[] = []
      const recorder = harness.openRecorder({
        after: async (signed) => {
          recorded.push(signed)
          known.add(signed.bytes)
          await afterwards?.()
        },
      })
      return { ...recorder, recorded }
    }

    /** A transaction that stands in the journal and that the chain has never seen. */
    const createStranger = async () => {
      const stranger = await harness.createStranger()
      known.add(stranger.bytes)
      return stranger
    }

    const never = new AbortController().signal
    const verify = (payment: Payment) => scheme.verify(payment, { isAwaited: () => true })
    const resolve = (settlement: Settlement) => scheme.resolve(settlement, AbortSignal.timeout(5_000))

    const authorize = async (body: SchemeBody) => {
      const payment = read(body)
      const verdict = await verify(payment)
      if (!verdict.isValid) throw new Error(`The planned payment is refused as ${verdict.reason}`)
      return { payment, verdict }
    }

    const planValid = async () => {
      const plan = await harness.plan()
      return { ...plan, ...(await authorize(plan.body)), receivedBefore: await plan.countReceived() }
    }

    /** Ends the failures, and waits until what hung because of them has given up. */
    const restore = async () => {
      harness.restore()
      const payment = read((await harness.plan()).body)
      await pollUntil(() => verify(payment).catch(() => null), 'the chain to answer again')
    }

    /** The reconciler: asks until the fate is proven. */
    const resolveFully = (settlement: Settlement) =>
      pollUntil(async () => {
        const outcome = await resolve(settlement)
        return outcome.state === 'pending' ? null : outcome
      }, 'the fate of the settlement')

    describe('verify', () => {
      it('accepts a payment, names what will move, and moves nothing', async () => {
        const { payment, verdict, countReceived, receivedBefore } = await planValid()
        expect(verdict.amount).toBe(payment.requirements.amount)
        expect(verdict.authorizedAmount).toBe(verdict.amount)
        expect(factsOf(await verify(payment))).toEqual(factsOf(verdict))
        expect(await countReceived()).toBe(receivedBefore)
      })

      it('refuses a payload without any one of its fields as invalid_payload_structure', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const wrong: unknown[] = []
        for (const path of listPaths(payload)) {
          const verdict = await verify(read(withProof(body, changeAt(payload, path, remove))))
          if (!('reason' in verdict) || verdict.reason !== 'invalid_payload_structure')
            wrong.push({ path, verdict })
        }
        expect(wrong).toEqual([])
      })

      it('refuses an empty payload as invalid_payload_structure', async () => {
        const { body } = await planValid()
        expect(await verify(read(withProof(body, {})))).toMatchObject({
          isValid: false,
          payer: null,
          reason: 'invalid_payload_structure',
        })
      })

      it('refuses every field of another type or form, and never throws', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const accepted: unknown[] = []
        for (const path of listPaths(payload)) {
          for (const junk of junkValues) {
            const verdict = await verify(
              read(
                withProof(
                  body,
                  changeAt(payload, path, () => junk),
                ),
              ),
            )
            if (verdict.isValid) accepted.push({ path, junk })
          }
        }
        expect(accepted).toEqual([])
      })

      it('answers whatever a payer sends, and never throws', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const spoiled = fc
          .tuple(fc.constantFrom(...listPaths(payload)), fc.jsonValue())
          .map(([path, value]) => changeAt(payload, path, () => value))
        await fc.assert(
          fc.asyncProperty(fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), spoiled), async (proof) => {
            expect(typeof (await verify(read(withProof(body, proof)))).isValid).toBe('boolean')
            scheme.identify(read(withProof(body, proof)))
          }),
          { numRuns: 100 },
        )
      })

      it('never sees a payment for another network: network_mismatch', async () => {
        const { body } = await harness.plan()
        const { accepted, ...payload } = body.paymentPayload
        const elsewhere = { ...payload, accepted: { ...accepted, network: harness.otherNetwork } }
        expect(readPayment(wirePaymentRequest.parse({ ...body, paymentPayload: elsewhere }))).toMatchObject({
          reason: 'network_mismatch',
        })
      })

      it('asks a chain that does not answer nothing once nobody waits', async () => {
        const { body } = await harness.plan()
        harness.silence()
        try {
          await expect(scheme.verify(read(body), { isAwaited: () => false })).rejects.toThrow(
            'The caller is gone',
          )
        } finally {
          await restore()
        }
      })
    })

    describe('the identity of an authorization', () => {
      it('is the same each time, from verify and from the payload alone, however it is written', async () => {
        const { body, respelled, verdict, payment } = await planValid()
        expect(respelled).not.toEqual(body)
        const again = read(respelled)
        expect(await verify(again)).toMatchObject({ isValid: true, authorizationId: verdict.authorizationId })
        expect([payment, again].map((each) => scheme.identify(each))).toEqual(
          Array(2).fill(verdict.authorizationId),
        )
      })

      it('is of one authorization only', async () => {
        const ids = await Promise.all([planValid(), planValid(), planValid()])
        expect(new Set(ids.map(({ verdict }) => verdict.authorizationId)).size).toBe(3)
      })

      it('is null where the payload cannot be read', async () => {
        const { body } = await harness.plan()
        expect(scheme.identify(read(withProof(body, {})))).toBeNull()
      })
    })

    if (isVerifyOnly) {
      describe('settle', () => {
        it("claims the payer's own transaction: records nothing, sends nothing, moves nothing", async () => {
          const { verdict, countReceived, receivedBefore } = await planValid()
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(5_000) })
          if (outcome.state !== 'confirmed') throw new Error(`It is ${outcome.state}`)
          expect(outcome.transaction).not.toBe('')
          expect(outcome.settledAmount ?? verdict.amount).toBe(verdict.amount)
          expect(recorder.recorded).toEqual([])
          expect(harness.listSent()).toEqual([])
          expect(await countReceived()).toBe(receivedBefore)
        })

        it('consumes nothing by itself: the journal decides whose proof it is', async () => {
          const { payment, verdict } = await planValid()
          const settle = () => verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(5_000) })
          expect(await settle()).toEqual(await settle())
          expect(factsOf(await verify(payment))).toEqual(factsOf(verdict))
        })

        it('is resolved from its row, where the block of the payment was taken back', async () => {
          const { payment, verdict } = await planValid()
          const outcome = await verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(5_000) })
          const settlement = settlementOf(payment, verdict, [])
          expect(await resolve({ ...settlement, transaction: outcome.transaction ?? '' })).toEqual(outcome)
        })
      })
    }

    if (settlesPart) {
      describe('an amount below the authorized one', () => {
        const planPart = async (settleAmount: bigint) => {
          const plan = await harness.plan()
          const body = { ...plan.body, settleAmount: settleAmount.toString() }
          return { ...plan, body, ...(await authorize(body)) }
        }

        it('is what moves, and the rest is never moved', async () => {
          const { payment, verdict, countReceived } = await planPart(1n)
          expect(verdict).toMatchObject({ amount: 1n, authorizedAmount: payment.requirements.amount })
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(15_000) })
          expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 1n })
          expect(await countReceived()).toBe(1n)
          expect(await resolve(settlementOf(payment, verdict, recorder.recorded))).toEqual(outcome)
          expect(await verify(payment)).toMatchObject({ isValid: false })
        })

        it('may be 0: confirmed, and nothing moves', async () => {
          const { verdict, countReceived } = await planPart(0n)
          expect(verdict.amount).toBe(0n)
          const outcome = await verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(15_000) })
          expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 0n })
          expect(await countReceived()).toBe(0n)
        })

        it('is no part of the identity: any amount uses the same authorization up', async () => {
          const { body } = await harness.plan()
          const ids = [undefined, '0', '1'].map((settleAmount) =>
            scheme.identify(read(settleAmount === undefined ? body : { ...body, settleAmount })),
          )
          expect(ids[0]).not.toBeNull()
          expect(new Set(ids).size).toBe(1)
        })

        it('may not be above it', async () => {
          const { body, payment } = await planPart(1n)
          const settleAmount = (payment.requirements.amount + 1n).toString()
          expect(await verify(read({ ...body, settleAmount }))).toMatchObject({ isValid: false })
        })
      })
    }

    if (!isVerifyOnly) {
      describeSending()
    }

    describe('the block of a payment', () => {
      const settleInBlock = async (): Promise<BlockReference | null> => {
        const { verdict } = await planValid()
        const outcome = await verdict.settle(openRecorder(), {
          waitUntil: AbortSignal.timeout(15_000),
        })
        expect(outcome.state).toBe('confirmed')
        return outcome.state === 'confirmed' ? (outcome.block ?? null) : null
      }

      it('stands, where the network could take it back at all', async () => {
        const block = await settleInBlock()
        if (block === null) return
        expect(['canonical', 'final']).toContain(
          await scheme.getBlockStatus(block, AbortSignal.timeout(5_000)),
        )
      })

      it('is never gone because the chain does not answer or has not come so far', async () => {
        const block = await settleInBlock()
        if (block === null) return
        const beyond = { number: block.number + 1_000_000n, hash: block.hash }
        expect(await scheme.getBlockStatus(beyond, AbortSignal.timeout(5_000))).toBe('unknown')
        harness.silence()
        try {
          const asked = scheme.getBlockStatus(block, AbortSignal.timeout(500))
          expect(['unknown', 'threw']).toContain(await asked.catch(() => 'threw'))
        } finally {
          await restore()
        }
      })
    })

    function describeSending() {
      describe('settle', () => {
        it('moves what verify named, once, and tells the transaction', async () => {
          const { payment, verdict, countReceived } = await planValid()
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(15_000) })
          expect(outcome).toMatchObject({
            state: 'confirmed',
            transaction: recorder.recorded.at(-1)?.transaction,
          })
          expect(await countReceived()).toBe(verdict.amount)
          expect(await verify(payment)).toMatchObject({ isValid: false })
          // The reconciler says the same of it.
          expect(await resolve(settlementOf(payment, verdict, recorder.recorded))).toEqual(outcome)
        })

        it('awaits the recorder exactly once and before it sends, and sends nothing but what was recorded', async () => {
          const { verdict } = await planValid()
          const knownBefore = new Set(known)
          const listNew = () => harness.listSent().filter((bytes) => !knownBefore.has(bytes))
          const stored = deferred()
          const release = deferred()
          const recorder = openRecorder(async () => {
            stored.resolve()
            await release.promise
          })
          const settling = verdict.settle(recorder, { waitUntil: AbortSignal.timeout(15_000) })
          await stored.promise
          // Time enough for a send that waits for nobody: this goes to the chain and back.
          await planValid()
          expect(listNew()).toEqual([])
          release.resolve()
          expect(await settling).toMatchObject({ state: 'confirmed' })
          expect(recorder.recorded).toHaveLength(1)
          expect(new Set(listNew())).toEqual(new Set(recorder.recorded.map(({ bytes }) => bytes)))
        })

        it('sends nothing when the recorder refuses', async () => {
          const { verdict, countReceived } = await planValid()
          const recorder = harness.openRecorder({ before: () => Promise.reject(new Error('taken over')) })
          await expect(verdict.settle(recorder, { waitUntil: never })).rejects.toThrow('taken over')
          expect(await countReceived()).toBe(0n)
        })

        it('is offered for no payment that verify refuses', async () => {
          const { body } = await planValid()
          const refusal = await verify(read(withProof(body, {})))
          expect(refusal).toMatchObject({ isValid: false, reason: 'invalid_payload_structure' })
          expect(refusal).not.toHaveProperty('settle')
        })

        it('moves money once when it is asked twice at the same moment', async () => {
          const { verdict, countReceived } = await planValid()
          const settle = () => verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(15_000) })
          const outcomes = await Promise.all([settle(), settle()])
          expect(await countReceived()).toBe(verdict.amount)
          const confirmed = outcomes.flatMap((each) => (each.state === 'confirmed' ? [each.transaction] : []))
          expect(new Set(confirmed).size).toBe(1)
        })
      })

      describe('a send whose fate is unknown', () => {
        /** Settles while the connection fails, and answers what was told and what was recorded. */
        const settleBadly = async (fail: () => void) => {
          const { payment, verdict, countReceived } = await planValid()
          const recorder = openRecorder(async () => fail())
          let outcome: Outcome
          try {
            outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(1_500) })
          } finally {
            await restore()
          }
          const settlement = settlementOf(payment, verdict, recorder.recorded)
          return { outcome, settlement, amount: verdict.amount, countReceived }
        }

        it.each([
          ['is swallowed', ['pending'], (): void => harness.swallowSends()],
          ['meets a chain that answers nothing any more', ['pending'], (): void => harness.silence()],
          // The chain may still tell in time.
          ['arrives and its answer is lost', ['pending', 'confirmed'], (): void => harness.loseSendAnswers()],
        ])('that %s is told as %j with its transaction, and becomes the payment', async (_, states, fail) => {
          const { outcome, settlement, amount, countReceived } = await settleBadly(fail)
          expect(states).toContain(outcome.state)
          expect(outcome).toMatchObject({ state: outcome.state, transaction: settlement.transaction })
          expect(await resolveFully(settlement)).toMatchObject({
            state: 'confirmed',
            transaction: settlement.transaction,
          })
          expect(await countReceived()).toBe(amount)
        })

        it('becomes the payment when the process died between recording and sending', async () => {
          const { payment, verdict, countReceived } = await planValid()
          const recorder = openRecorder(() => Promise.reject(new Error('killed')))
          await expect(verdict.settle(recorder, { waitUntil: never })).rejects.toThrow('killed')
          expect(await countReceived()).toBe(0n)
          const settlement = settlementOf(payment, verdict, recorder.recorded)
          await resolve(settlement)
          expect(harness.listSent()).toContain(recorder.recorded[0]?.bytes)
          expect(await resolveFully(settlement)).toMatchObject({ state: 'confirmed' })
          expect(await countReceived()).toBe(verdict.amount)
        })
      })

      describe('resolve', () => {
        it('leaves a transaction that the chain does not know pending, and does not call it failed', async () => {
          const { payment, verdict, countReceived } = await planValid()
          const stranger = await createStranger()
          expect(await resolve(settlementOf(payment, verdict, [stranger]))).toEqual({
            state: 'pending',
            transaction: stranger.transaction,
          })
          expect(await countReceived()).toBe(0n)
        })

        it('never calls a settlement failed because the chain does not answer', async () => {
          const { payment, verdict } = await planValid()
          const settlement = settlementOf(payment, verdict, [await createStranger()])
          harness.silence()
          try {
            const asked = scheme.resolve(settlement, AbortSignal.timeout(500))
            const state = await asked.then(
              (outcome) => outcome.state,
              () => 'threw',
            )
            expect(['pending', 'threw']).toContain(state)
          } finally {
            await restore()
          }
        })
      })
    }
  })
}

/** Reads a body the way the service does. */
const read = (body: SchemeBody): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The body is refused as ${payment.reason}: ${payment.message}`)
  return payment
}

const proofOf = ({ paymentPayload }: SchemeBody): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(paymentPayload.payload))

const withProof = (body: SchemeBody, payload: object): SchemeBody => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload },
})

/** What a verification says; how to settle it cannot be compared. */
const factsOf = (verification: Verification) => ({ ...verification, settle: null })

/** The row as another process reads it: of what verify found, only what the journal holds. */
const settlementOf = (
  { requirements, resource }: Payment,
  { payer, authorizationId, authorizedAmount, amount, expiresAt, details }: Authorized,
  broadcasts: readonly SignedTransaction[],
): Settlement => ({
  id: randomUUID(),
  authorizationId,
  scheme: requirements.scheme,
  network: requirements.network,
  asset: requirements.asset,
  payer,
  payTo: requirements.payTo,
  amount,
  authorizedAmount,
  expiresAt,
  details: JSON.parse(JSON.stringify(details)),
  resource,
  caller: 'anonymous',
  fingerprint: 'f',
  state: 'pending',
  transaction: broadcasts.at(-1)?.transaction ?? null,
  broadcasts,
  reason: null,
  settledAmount: null,
  gasUsed: null,
  consumedBy: null,
  isOwned: false,
  createdAt: new Date(Date.now() - 10_000),
  closedAt: null,
  block: null,
  isFinal: false,
})

interface WatchedRecorder extends Recorder {
  readonly recorded: readonly SignedTransaction[]
}

const deferred = () => {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve: () => resolve() }
}

const junkValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  '',
  ' ',
  '\0',
  '0x',
  '-1',
  '1e3',
  'x'.repeat(20_000),
  [],
  ['x'],
  {},
]

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every field of a proof, inner objects among them. */
const listPaths = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] => [
  ...(path.length === 0 ? [] : [path]),
  ...(isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => listPaths(inner, [...path, key]))
    : []),
]

const remove = () => undefined

/** A copy in which one field is changed; what becomes undefined is gone. */
const changeAt = (
  value: Readonly<Record<string, unknown>>,
  [key = '', ...rest]: readonly string[],
  change: (before: unknown) => unknown,
): Readonly<Record<string, unknown>> => {
  const before = value[key]
  const after = rest.length > 0 && isObject(before) ? changeAt(before, rest, change) : change(before)
  const { [key]: _changed, ...others } = value
  return after === undefined ? others : { ...others, [key]: after }
}
