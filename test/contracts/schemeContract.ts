import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type {
  BlockReference,
  Recorder,
  Settlement,
  SignedTransaction,
} from '../../src/ports/settlementJournal.js'
import { foldAddress } from '../../src/protocol/assetId.js'
import type { Payment } from '../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import type { Reason } from '../../src/protocol/reasons.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { Authorized, Outcome, Scheme, Verification } from '../../src/schemes/scheme.js'
import { verifyTraced } from '../support/explained.js'
import { countRuns } from '../support/longRun.js'
import { missedDeadline } from '../support/missedDeadline.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'

export interface SchemeBody {
  readonly paymentPayload: {
    readonly accepted: object
    readonly payload: object
  }
  readonly paymentRequirements: object
  readonly settleAmount?: string
}

export interface PlannedPayment {
  readonly body: SchemeBody
  /** Equivalent on this chain: other letter case, key order or signature form. */
  readonly respelled: SchemeBody
  /** Amount received by the recipient, which is used for this payment only; of a hold, what is held. */
  countReceived(): Promise<bigint>
}

export interface RecorderHooks {
  /** Runs before storing; may reject, like a recorder that lost its claim. */
  before?(): Promise<void>
  /** Runs after storing, before `record` resolves; may reject, like a process that dies here. */
  after?(signed: SignedTransaction): Promise<void>
}

interface SchemeAbilities {
  /** Settles any `settleAmount` up to the authorized amount. */
  readonly settlesPart?: boolean
  /** The payer broadcasts the payment: settle claims the proof, records nothing and sends nothing. */
  readonly isVerifyOnly?: boolean
  /** Settling holds the authorized amount, and the recipient gets nothing yet. */
  readonly isHold?: boolean
  /** Of a payload that cannot be read; default `invalid_payload_structure`. */
  readonly unreadableReason?: Reason
  /** Fields whose absence has another reason than that. */
  readonly absenceReasons?: Readonly<Record<string, Reason>>
}

/** A scheme on a dedicated test chain whose connection can be cut. */
export interface SchemeHarness {
  readonly scheme: Scheme
  /** A network other than that of the payments. */
  readonly otherNetwork: string
  plan(): Promise<PlannedPayment>
  /** Paths of the proof that are accepted with any content, or absent; default none. */
  readonly ignoredFields?: readonly string[]
  openRecorder(hooks: RecorderHooks): Recorder
  /** A valid transaction that was never broadcast. */
  createUnsentTransaction(): Promise<SignedTransaction>
  /** Bytes of every transaction sent to the chain. */
  listSent(): readonly string[]
  /** Sends are dropped, without a response. */
  dropSends(): void
  /** Sends arrive, but the responses are dropped. */
  dropSendResponses(): void
  /** No request gets a response. */
  dropAllResponses(): void
  /** Ends the faults; resolves when no request hangs because of them. */
  restore(): Promise<void>
  close(): Promise<void>
}

export const describeSchemeContract = (
  name: string,
  open: () => Promise<SchemeHarness>,
  {
    settlesPart = false,
    isVerifyOnly = false,
    isHold = false,
    unreadableReason = 'invalid_payload_structure',
    absenceReasons = {},
  }: SchemeAbilities = {},
): void => {
  describe(name, () => {
    let harness: SchemeHarness
    let scheme: Scheme
    beforeAll(async () => {
      harness = await open()
      scheme = harness.scheme
    })
    afterAll(() => harness.close())

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

    /** A recorded transaction that the chain has never seen. */
    const createUnsent = async () => {
      const unsent = await harness.createUnsentTransaction()
      known.add(unsent.bytes)
      return unsent
    }

    const never = new AbortController().signal
    const verify = (payment: Payment) => verifyTraced(scheme, payment, { isAwaited: () => true })
    const resolve = (settlement: Settlement) => scheme.resolve(settlement, AbortSignal.timeout(waitLimitMs))

    const authorize = async (body: SchemeBody) => {
      const payment = read(body)
      const verdict = await verify(payment)
      if (!verdict.isValid) throw new Error(`The planned payment is refused as ${verdict.reason}`)
      return { payment, verdict }
    }

    const isIgnored = (path: readonly string[]) => harness.ignoredFields?.includes(path.join('.')) === true
    const listReadPaths = (payload: unknown) => listPaths(payload).filter((path) => !isIgnored(path))

    const planValid = async () => {
      const plan = await harness.plan()
      const { payment, verdict } = await authorize(plan.body)
      const moved = isHold ? verdict.authorizedAmount : verdict.amount
      return { ...plan, payment, verdict, moved, receivedBefore: await plan.countReceived() }
    }

    /** Ends the faults, and waits until the scheme works again. */
    const restore = async () => {
      await harness.restore()
      const payment = read((await harness.plan()).body)
      await pollUntil(() => verify(payment).catch(() => null), 'the chain to answer again')
    }

    const resolveFully = (settlement: Settlement) =>
      pollUntil(async () => {
        const outcome = await resolve(settlement)
        return outcome.state === 'pending' ? null : outcome
      }, 'the final outcome of the settlement')

    describe('verify', () => {
      it('accepts a payment, returns the amount that will move, and moves nothing', async () => {
        const { payment, verdict, countReceived, receivedBefore } = await planValid()
        expect(verdict.authorizedAmount).toBe(payment.requirements.amount)
        expect(verdict.amount).toBe(isHold ? 0n : payment.requirements.amount)
        expect(factsOf(await verify(payment))).toEqual(factsOf(verdict))
        expect(await countReceived()).toBe(receivedBefore)
      })

      it('names the payer in one spelling, but for the letter case of hex', async () => {
        const { verdict } = await planValid()
        const normal = scheme.network.normalizeAddress(verdict.payer) ?? foldAddress(verdict.payer)
        expect(normal).toBe(foldAddress(verdict.payer))
      })

      it('refuses a payload with any field missing as unreadable', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const wrong: unknown[] = []
        for (const path of listReadPaths(payload)) {
          const verdict = await verify(read(withProof(body, changeAt(payload, path, remove))))
          const reason = absenceReasons[path.join('.')] ?? unreadableReason
          if (!('reason' in verdict) || verdict.reason !== reason) wrong.push({ path, verdict })
        }
        expect(wrong).toEqual([])
      })

      it('refuses an empty payload as unreadable', async () => {
        const { body } = await planValid()
        expect(await verify(read(withProof(body, {})))).toMatchObject({
          isValid: false,
          payer: null,
          reason: unreadableReason,
        })
      })

      it('refuses fields of a wrong type or form, and never throws', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const accepted: unknown[] = []
        for (const path of listReadPaths(payload)) {
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

      it('accepts any content in the fields that it ignores, and their absence', async () => {
        const { body } = await planValid()
        const payload = proofOf(body)
        const ignored = listPaths(payload).filter(isIgnored)
        const refused: unknown[] = []
        // In all of them at once: if that is accepted, none of them is read.
        for (const change of [remove, ...junkValues.map((junk) => () => junk)]) {
          const proof = ignored.reduce((changed, path) => changeAt(changed, path, change), payload)
          const verdict = await verify(read(withProof(body, proof)))
          if (!verdict.isValid) refused.push({ value: change(), reason: verdict.reason })
        }
        expect(refused).toEqual([])
      })

      it('returns a result for any payload, and never throws', async () => {
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
          { numRuns: countRuns(30, 100) },
        )
      })

      it('is not reached by a payment for another network: network_mismatch', async () => {
        const { body } = await harness.plan()
        const { accepted, ...payload } = body.paymentPayload
        const elsewhere = { ...payload, accepted: { ...accepted, network: harness.otherNetwork } }
        expect(readPayment(wirePaymentRequest.parse({ ...body, paymentPayload: elsewhere }))).toMatchObject({
          reason: 'network_mismatch',
        })
      })

      it('stops reading an unresponsive chain once the caller disconnected', async () => {
        const { body } = await harness.plan()
        harness.dropAllResponses()
        try {
          await expect(scheme.verify(read(body), { isAwaited: () => false })).rejects.toThrow(
            'The caller is gone',
          )
        } finally {
          await restore()
        }
      })
    })

    describe('the authorization id', () => {
      it('is stable, equal in verify and identify, and independent of the encoding', async () => {
        const { body, respelled, verdict, payment } = await planValid()
        expect(respelled).not.toEqual(body)
        const again = read(respelled)
        expect(await verify(again)).toMatchObject({ isValid: true, authorizationId: verdict.authorizationId })
        expect([payment, again].map((each) => scheme.identify(each))).toEqual(
          Array(2).fill(verdict.authorizationId),
        )
      })

      it('is unique per authorization', async () => {
        const ids = await Promise.all([planValid(), planValid(), planValid()])
        expect(new Set(ids.map(({ verdict }) => verdict.authorizationId)).size).toBe(3)
      })

      it('is null if the payload is unreadable', async () => {
        const { body } = await harness.plan()
        expect(scheme.identify(read(withProof(body, {})))).toBeNull()
      })
    })

    if (isVerifyOnly) {
      describe('settle', () => {
        it("claims the payer's own transaction: records nothing, sends nothing, moves nothing", async () => {
          const { verdict, countReceived, receivedBefore } = await planValid()
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(waitLimitMs) })
          if (outcome.state !== 'confirmed') throw new Error(`It is ${outcome.state}`)
          expect(outcome.transaction).not.toBe('')
          expect(outcome.settledAmount ?? verdict.amount).toBe(verdict.amount)
          expect(recorder.recorded).toEqual([])
          expect(harness.listSent()).toEqual([])
          expect(await countReceived()).toBe(receivedBefore)
        })

        it('does not consume the proof itself: the journal decides who owns it', async () => {
          const { payment, verdict } = await planValid()
          const settle = () => verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(waitLimitMs) })
          expect(await settle()).toEqual(await settle())
          expect(factsOf(await verify(payment))).toEqual(factsOf(verdict))
        })

        it('is resolved from its row after the block of the payment was orphaned', async () => {
          const { payment, verdict } = await planValid()
          const outcome = await verdict.settle(openRecorder(), {
            waitUntil: AbortSignal.timeout(waitLimitMs),
          })
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

        it('is moved, and the rest is never moved', async () => {
          const { payment, verdict, countReceived } = await planPart(1n)
          expect(verdict).toMatchObject({ amount: 1n, authorizedAmount: payment.requirements.amount })
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(waitLimitMs) })
          expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 1n })
          expect(await countReceived()).toBe(1n)
          expect(await resolve(settlementOf(payment, verdict, recorder.recorded))).toEqual(outcome)
          expect(await verify(payment)).toMatchObject({ isValid: false })
        })

        it('can be 0: confirmed, and nothing moves', async () => {
          const { verdict, countReceived } = await planPart(0n)
          expect(verdict.amount).toBe(0n)
          const outcome = await verdict.settle(openRecorder(), {
            waitUntil: AbortSignal.timeout(waitLimitMs),
          })
          expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 0n })
          expect(await countReceived()).toBe(0n)
        })

        it('is not part of the authorization id: any amount uses up the same authorization', async () => {
          const { body } = await harness.plan()
          const ids = [undefined, '0', '1'].map((settleAmount) =>
            scheme.identify(read(settleAmount === undefined ? body : { ...body, settleAmount })),
          )
          expect(ids[0]).not.toBeNull()
          expect(new Set(ids).size).toBe(1)
        })

        it('cannot exceed it', async () => {
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
          waitUntil: AbortSignal.timeout(waitLimitMs),
        })
        expect(outcome.state).toBe('confirmed')
        return outcome.state === 'confirmed' ? (outcome.block ?? null) : null
      }

      it('is canonical, on networks with reorgs', async () => {
        const block = await settleInBlock()
        if (block === null) return
        expect(['canonical', 'final']).toContain(
          await scheme.network.getBlockStatus(block, AbortSignal.timeout(waitLimitMs)),
        )
      })

      it('is never orphaned because the chain does not answer or is behind', async () => {
        const block = await settleInBlock()
        if (block === null) return
        const beyond = { number: block.number + 1_000_000n, hash: block.hash }
        expect(await scheme.network.getBlockStatus(beyond, AbortSignal.timeout(waitLimitMs))).toBe('unknown')
        harness.dropAllResponses()
        try {
          const result = scheme.network.getBlockStatus(block, missedDeadline(500))
          expect(['unknown', 'threw']).toContain(await result.catch(() => 'threw'))
        } finally {
          await restore()
        }
      })
    })

    function describeSending() {
      describe('settle', () => {
        it('moves the verified amount once, and returns the transaction', async () => {
          const { payment, verdict, moved, countReceived } = await planValid()
          const recorder = openRecorder()
          const outcome = await verdict.settle(recorder, { waitUntil: AbortSignal.timeout(waitLimitMs) })
          expect(outcome).toMatchObject({
            state: 'confirmed',
            transaction: recorder.recorded.at(-1)?.transaction,
          })
          expect(await countReceived()).toBe(moved)
          expect(await verify(payment)).toMatchObject({ isValid: false })
          // The reconciler resolves it to the same outcome.
          expect(await resolve(settlementOf(payment, verdict, recorder.recorded))).toEqual(outcome)
        })

        it('awaits the recorder exactly once before it sends, and sends only recorded bytes', async () => {
          const { verdict } = await planValid()
          const knownBefore = new Set(known)
          const listNew = () => harness.listSent().filter((bytes) => !knownBefore.has(bytes))
          const stored = deferred()
          const release = deferred()
          const recorder = openRecorder(async () => {
            stored.resolve()
            await release.promise
          })
          const settling = verdict.settle(recorder, { waitUntil: AbortSignal.timeout(waitLimitMs) })
          await stored.promise
          // A round trip to the chain: time enough for a send that did not wait.
          await planValid()
          expect(listNew()).toEqual([])
          release.resolve()
          expect(await settling).toMatchObject({ state: 'confirmed' })
          expect(recorder.recorded).toHaveLength(1)
          expect(new Set(listNew())).toEqual(new Set(recorder.recorded.map(({ bytes }) => bytes)))
        })

        it('sends nothing if the recorder rejects', async () => {
          const { verdict, countReceived } = await planValid()
          const recorder = harness.openRecorder({ before: () => Promise.reject(new Error('taken over')) })
          await expect(verdict.settle(recorder, { waitUntil: never })).rejects.toThrow('taken over')
          expect(await countReceived()).toBe(0n)
        })

        it('does not exist for payments that verify refuses', async () => {
          const { body } = await planValid()
          const refusal = await verify(read(withProof(body, {})))
          expect(refusal).toMatchObject({ isValid: false, reason: unreadableReason })
          expect(refusal).not.toHaveProperty('settle')
        })

        it('moves funds once when called twice concurrently', async () => {
          const { verdict, moved, countReceived } = await planValid()
          const settle = () => verdict.settle(openRecorder(), { waitUntil: AbortSignal.timeout(waitLimitMs) })
          const outcomes = await Promise.all([settle(), settle()])
          expect(await countReceived()).toBe(moved)
          const confirmed = outcomes.flatMap((each) => (each.state === 'confirmed' ? [each.transaction] : []))
          expect(new Set(confirmed).size).toBe(1)
        })
      })

      describe('a send with an unknown outcome', () => {
        /** Settles with a failing connection; returns the outcome and the recorded settlement. */
        const settleWithFault = async (fail: () => void) => {
          const { payment, verdict, moved, countReceived } = await planValid()
          // The wait ends soon once something was recorded; before that, a slow machine would leave nothing to resolve.
          const ended = new AbortController()
          const recorder = openRecorder(async () => {
            fail()
            missedDeadline(1_500).addEventListener('abort', () => ended.abort())
          })
          let outcome: Outcome
          try {
            outcome = await verdict.settle(recorder, { waitUntil: ended.signal })
          } finally {
            await restore()
          }
          const settlement = settlementOf(payment, verdict, recorder.recorded)
          return { outcome, settlement, moved, countReceived }
        }

        it.each([
          ['is dropped', ['pending'], (): void => harness.dropSends()],
          ['meets a chain that no longer responds', ['pending'], (): void => harness.dropAllResponses()],
          // The chain may still confirm in time.
          [
            'arrives and its response is lost',
            ['pending', 'confirmed'],
            (): void => harness.dropSendResponses(),
          ],
        ])('that %s is %j with its transaction, and becomes the payment', async (_, states, fail) => {
          const { outcome, settlement, moved, countReceived } = await settleWithFault(fail)
          expect(states).toContain(outcome.state)
          expect(outcome).toMatchObject({ state: outcome.state, transaction: settlement.transaction })
          expect(await resolveFully(settlement)).toMatchObject({
            state: 'confirmed',
            transaction: settlement.transaction,
          })
          expect(await countReceived()).toBe(moved)
        })

        it('becomes the payment when the process died between recording and sending', async () => {
          const { payment, verdict, moved, countReceived } = await planValid()
          const recorder = openRecorder(() => Promise.reject(new Error('killed')))
          await expect(verdict.settle(recorder, { waitUntil: never })).rejects.toThrow('killed')
          expect(await countReceived()).toBe(0n)
          const settlement = settlementOf(payment, verdict, recorder.recorded)
          await scheme.resolve(settlement, AbortSignal.timeout(waitLimitMs), { isReadOnly: true })
          expect(harness.listSent()).not.toContain(recorder.recorded[0]?.bytes)
          await resolve(settlement)
          expect(harness.listSent()).toContain(recorder.recorded[0]?.bytes)
          expect(await resolveFully(settlement)).toMatchObject({ state: 'confirmed' })
          expect(await countReceived()).toBe(moved)
        })
      })

      describe('resolve', () => {
        it('returns pending, not failed, for a transaction that the chain does not know', async () => {
          const { payment, verdict, countReceived } = await planValid()
          const unsent = await createUnsent()
          expect(await resolve(settlementOf(payment, verdict, [unsent]))).toEqual({
            state: 'pending',
            transaction: unsent.transaction,
          })
          expect(await countReceived()).toBe(0n)
        })

        it('never returns failed because the chain does not answer', async () => {
          const { payment, verdict } = await planValid()
          const settlement = settlementOf(payment, verdict, [await createUnsent()])
          harness.dropAllResponses()
          try {
            const result = scheme.resolve(settlement, missedDeadline(500))
            const state = await result.then(
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

/** A verification without its function, for comparison. */
const factsOf = (verification: Verification) => ({ ...verification, settle: null })

/** The row as another process reads it: only what the journal stores. */
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
  'x'.repeat(16_000),
  [],
  ['x'],
  {},
]

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listPaths = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] => [
  ...(path.length === 0 ? [] : [path]),
  ...(isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => listPaths(inner, [...path, key]))
    : []),
]

const remove = () => undefined

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
