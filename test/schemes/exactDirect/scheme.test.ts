import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import type { Payment } from '../../../src/protocol/payment.js'
import type { PaymentDemands } from '../../../src/protocol/recipients.js'
import {
  createDirectNetwork,
  type DirectChain,
  type DirectTransfer,
  type LookUp,
} from '../../../src/schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { findPublicProof } from '../../../src/schemes/publicProof.js'
import type { Authorized, Scheme, Verification } from '../../../src/schemes/scheme.js'
import { verifyTraced } from '../../support/explained.js'
import { createManualClock } from '../../support/manualClock.js'
import { settlement } from '../../support/memoryJournal.js'
import { withoutExtensions } from '../../support/plainPayment.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { createToyDirectChain, type ToyDirectChain } from '../../support/toyDirectChain.js'

const paid: DirectTransfer = { asset: 'gold', from: 'alice', to: 'bob', amount: 100n, memo: null }

const createPayment = (
  proof: Readonly<Record<string, unknown>> = {},
  requirements: Partial<Payment['requirements']> = {},
): Payment => ({
  version: 2,
  callerNetwork: 'toy:1',
  requirements: {
    scheme: 'exact-direct',
    network: 'toy:1',
    amount: 100n,
    minAmount: null,
    asset: 'gold',
    payTo: 'bob',
    maxTimeoutSeconds: 60,
    extra: {},
    ...requirements,
  },
  proof: { txHash: 'tx-1', from: 'alice', to: 'bob', amount: '100', ...proof },
  resource: 'https://shop.example/report',
  settleAmount: null,
  acceptedAmount: 100n,
  usageDetails: null,
  ...withoutExtensions,
})

const claimFor = (transaction: string, resource = 'https://shop.example/report') =>
  [
    'exact-direct claim',
    'network: toy:1',
    `transaction: ${transaction}`,
    'payTo: bob',
    `resource: ${resource}`,
  ].join('\n')

describe('exact-direct', () => {
  const clock = createManualClock()
  let toy: ToyDirectChain
  let scheme: Scheme

  const open = (changes: Partial<DirectChain> = {}, verifyWaitMs = 0) => {
    toy = createToyDirectChain(changes)
    scheme = createExactDirectScheme(toy.chain, {
      network: createDirectNetwork(toy.chain),
      clock,
      verifyWaitMs,
    })
  }
  beforeEach(() => open())

  const contradictionOf = ({ requirements: { asset, extra } }: Payment) =>
    findPublicProof(scheme)?.findContradiction(asset, extra)
  const secondsAgo = (seconds: number) => new Date(clock.now().getTime() - seconds * 1_000)
  const found = (transfers: readonly DirectTransfer[] = [paid], ageSeconds = 10): LookUp => ({
    state: 'successful',
    includedAt: secondsAgo(ageSeconds),
    transfers,
  })

  const verify = (payment: Payment, isForSettle = false) =>
    scheme.verify(payment, { isAwaited: () => true, isForSettle })
  const nameVerdict = (verdict: Verification) => (verdict.isValid ? 'valid' : verdict.reason)
  const reasonOf = async (payment: Payment, isForSettle = false) =>
    nameVerdict(await verifyTraced(scheme, payment, { isAwaited: () => true, isForSettle }))
  const authorize = async (payment: Payment): Promise<Authorized> => {
    const verdict = await verify(payment, true)
    if (!verdict.isValid) throw new Error(verdict.reason)
    return verdict
  }

  const recorded: string[] = []
  afterEach(() => {
    recorded.length = 0
  })
  const settle = ({ settle: run }: Authorized, waitUntil = AbortSignal.timeout(waitLimitMs)) =>
    run(
      {
        settlementId: 'settlement',
        record: async ({ transaction }) => {
          recorded.push(transaction)
        },
      },
      { waitUntil },
    )

  describe('the payload', () => {
    beforeEach(() => toy.find(found()))

    it.each<[string, Readonly<Record<string, unknown>>]>([
      ['opHash', { txHash: undefined, opHash: 'tx-1' }],
      ['extrinsicHash', { txHash: undefined, extrinsicHash: 'tx-1' }],
      ['txId', { txHash: null, txId: 'TX-1' }],
      ['two fields that name one transaction', { txId: 'TX-1' }],
      ['an amount as a number', { amount: 100 }],
      ['a copied amount that says less than the chain', { amount: '1' }],
      ['the asset', { contractAddress: 'gold' }],
      ['hints of any form', { blockHash: { deep: [] }, extrinsicIndex: 3 }],
    ])('may hold %s', async (_name, proof) => {
      expect(await reasonOf(createPayment(proof))).toBe('valid')
    })

    it.each<[string, Readonly<Record<string, unknown>>, string]>([
      ['no hash', { txHash: undefined }, 'invalid_payload_structure'],
      ['two transactions', { opHash: 'tx-2' }, 'invalid_payload_structure'],
      ['a malformed hash', { txHash: '../blocks/1' }, 'invalid_payload_structure'],
      ['a hash that is no text', { txHash: 7 }, 'invalid_payload_structure'],
      ['an endless hash', { txHash: `tx-${'1'.repeat(300)}` }, 'invalid_payload_structure'],
      ['no payer', { from: undefined }, 'invalid_payload_structure'],
      ['a malformed payer', { from: 'alice!' }, 'invalid_sender_address'],
      ['an endless payer', { from: 'a'.repeat(300) }, 'invalid_sender_address'],
      ['no recipient', { to: undefined }, 'invalid_payload_structure'],
      ['another recipient than payTo', { to: 'carol' }, 'recipient_mismatch'],
      ['the payer as recipient', { from: 'bob' }, 'self_payment'],
      ['no amount', { amount: undefined }, 'invalid_payload_structure'],
      ['a negative amount', { amount: '-1' }, 'invalid_payload_structure'],
      ['a fraction', { amount: 1.5 }, 'invalid_payload_structure'],
      ['another asset', { contractAddress: 'silver' }, 'asset_mismatch'],
      ['a malformed asset', { contractAddress: 7 }, 'invalid_payload_structure'],
      ['a claim that is no object', { claim: 'signed' }, 'invalid_claim_signature'],
      ['a claim without signature', { claim: { publicKey: 'key' } }, 'invalid_claim_signature'],
      ['an endless signature', { claim: { signature: 's'.repeat(2_000) } }, 'invalid_claim_signature'],
    ])('with %s is refused, and the chain is not asked', async (_name, proof, reason) => {
      expect(await reasonOf(createPayment(proof))).toBe(reason)
      expect(toy.listQueries()).toEqual([])
    })

    it('is refused for an asset that is not settled, and for nothing to pay', async () => {
      expect(await reasonOf(createPayment({}, { asset: 'lead' }))).toBe('unsupported_asset')
      expect(await reasonOf(createPayment({}, { amount: 0n }))).toBe('invalid_payment_amount')
    })

    it('is identified by the transfers that it claims, whatever their spelling', () => {
      const id = scheme.identify(createPayment())
      expect(id).toBe('toy:1/tx-1/gold/alice/bob')
      expect(scheme.identify(createPayment({ txHash: 'TX-1', from: 'ALICE', amount: 7 }))).toBe(id)
      expect(scheme.identify(createPayment({ from: 'carol' }))).not.toBe(id)
      expect(scheme.identify(createPayment({ txHash: 'tx-2' }))).not.toBe(id)
      expect(scheme.identify(createPayment({ txHash: undefined }))).toBeNull()
    })
  })

  describe('verify', () => {
    it('accepts a final transfer and names what it moved', async () => {
      toy.find(found([{ ...paid, amount: 150n }]))
      expect(await verify(createPayment())).toMatchObject({
        isValid: true,
        payer: 'alice',
        amount: 150n,
        authorizedAmount: 150n,
        authorizationId: 'toy:1/tx-1/gold/alice/bob',
      })
    })

    it.each<[LookUp['state'], string]>([
      ['missing', 'transaction_not_found'],
      ['pending', 'transaction_not_final'],
      ['failed', 'transaction_failed'],
    ])('refuses a transaction that is %s as %s', async (state, reason) => {
      if (state !== 'successful') toy.find({ state })
      expect(await reasonOf(createPayment())).toBe(reason)
    })

    it('waits for a transaction that is not final, because clients ask as soon as they have paid', async () => {
      open({}, waitLimitMs)
      toy.find({ state: 'pending' })
      const reason = verify(createPayment()).then(nameVerdict)
      await pollUntil(() => toy.listQueries().length > 1, 'the transaction to be looked up again')
      toy.find(found())
      expect(await reason).toBe('valid')
    })

    it('does not wait longer than configured, nor for an unknown transaction, nor for a caller that is gone', async () => {
      open({}, 20)
      toy.find({ state: 'pending' })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      const reason = verify(createPayment()).then(nameVerdict)
      await vi.advanceTimersByTimeAsync(19)
      const lookUps = toy.listQueries().length
      expect(lookUps).toBeGreaterThan(2)
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await reason).toBe('transaction_not_final')
      expect(toy.listQueries().length - lookUps).toBeLessThanOrEqual(1)
      vi.useRealTimers()

      open({}, 60_000)
      expect(await reasonOf(createPayment())).toBe('transaction_not_found')
      const asked = toy.listQueries().length
      const verdict = scheme.verify(createPayment(), { isAwaited: () => false })
      await expect(verdict).rejects.toThrow('The caller is gone')
      expect(toy.listQueries()).toHaveLength(asked)
    })

    it('throws while the chain is unavailable: that is no reason to refuse', async () => {
      toy.find(new Error('No node answers'))
      await expect(verify(createPayment())).rejects.toThrow('No node answers')
    })

    it.each<[string, number, number, number, string]>([
      ['within maxTimeoutSeconds', 60, 0, 65, 'valid'],
      ['older than maxTimeoutSeconds', 60, 0, 66, 'transaction_too_old'],
      ['younger than slow blocks need', 60, 600, 605, 'valid'],
      ['older than slow blocks need', 60, 600, 606, 'transaction_too_old'],
      ['within an hour, where the requirements allow a day', 86_400, 0, 3_605, 'valid'],
      ['older than an hour, where the requirements allow a day', 86_400, 0, 3_606, 'transaction_too_old'],
    ])('judges the age of a block: %s', async (_name, maxTimeoutSeconds, minAgeSeconds, age, expected) => {
      open({ minAgeSeconds })
      toy.find(found([paid], age))
      expect(await reasonOf(createPayment({}, { maxTimeoutSeconds }))).toBe(expected)
    })

    const given = secondsAgo(10)
    const bounds = [
      ['before', { paidAfter: given }, 11, 'transaction_too_old'],
      ['after', { paidBefore: given }, 9, 'transaction_too_late'],
    ] as const

    it.each(bounds)(
      'is refused if it was made %s the given time, whatever its age',
      async (_, bound, age, reason) => {
        for (const isForSettle of [true, false]) {
          const verify = () =>
            scheme.verify(createPayment(), { isAwaited: () => true, isForSettle, ...bound })
          toy.find({ state: 'successful', includedAt: secondsAgo(age), transfers: [paid] })
          expect(await verify()).toMatchObject({ isValid: false, reason })
          toy.find({ state: 'successful', includedAt: given, transfers: [paid] })
          expect(await verify()).toMatchObject({ isValid: true })
        }
        // The search is bounded by the age alone.
        expect(toy.listQueries().every(({ notBefore }) => notBefore < given)).toBe(true)
      },
    )

    it.each(bounds)(
      'is judged by the time it was made %s also when it becomes final later, or after a crash',
      async (_, bound, age, reason) => {
        toy.find({ state: 'pending' })
        const verdict = await scheme.verify(createPayment(), {
          isAwaited: () => true,
          isForSettle: true,
          ...bound,
        })
        if (!verdict.isValid) throw new Error('It waits for the transaction')
        toy.find({ state: 'successful', includedAt: secondsAgo(age), transfers: [paid] })
        const record = async () => undefined
        const settled = await verdict.settle(
          { settlementId: 's-1', record },
          { waitUntil: AbortSignal.timeout(waitLimitMs) },
        )
        const refused = { state: 'failed', reason }
        expect(settled).toMatchObject(refused)
        const row = settlement({ details: verdict.details, createdAt: clock.now() })
        expect(await scheme.resolve(row, AbortSignal.timeout(waitLimitMs))).toMatchObject(refused)
      },
    )

    it('gives settle a minute more, so that what verify accepted does not expire between the two', async () => {
      toy.find(found([paid], 125))
      expect(await reasonOf(createPayment())).toBe('transaction_too_old')
      expect(await reasonOf(createPayment(), true)).toBe('valid')
      toy.find(found([paid], 126))
      expect(await reasonOf(createPayment(), true)).toBe('transaction_too_old')
    })
  })

  describe('a required memo', () => {
    const withMemo = (memo: unknown) => createPayment({}, { extra: { memo } })

    it('must be carried by the transfer', async () => {
      toy.find(found([{ ...paid, memo: 'order 7' }]))
      expect(await reasonOf(withMemo('order 7'))).toBe('valid')
      expect(await reasonOf(withMemo('order 8'))).toBe('memo_mismatch')
    })

    it.each([7, '', 'm'.repeat(257), {}])('%j is a contradiction', (memo) => {
      expect(contradictionOf(withMemo(memo))).toMatch(/^extra\.memo: must be a text/)
    })

    it('is a contradiction where transfers carry none', () => {
      open({ carriesMemo: false })
      expect(contradictionOf(withMemo('order 7'))).toMatch(/carry no memo$/)
      expect(contradictionOf(createPayment())).toBeNull()
    })
  })

  describe('what the recipient has stated', () => {
    const none = { memo: false, signedClaim: false, exactSince: null }
    const judgeWith = async (payment: Payment, demands: Partial<PaymentDemands>) => {
      const options = { isAwaited: () => true, demands: { ...none, ...demands } }
      const verdict = await scheme.verify(payment, options)
      return verdict.isValid ? 'valid' : verdict.reason
    }
    const preimage = 'a-secret-that-only-the-client-was-offered'
    const memo = createHash('sha256').update(preimage).digest('hex').slice(0, 32)
    const withExtra = (extra: Payment['requirements']['extra']) => createPayment({}, { extra })

    it('asks for the preimage of the memo, which is public itself', async () => {
      toy.find(found([{ ...paid, memo }]))
      expect(await judgeWith(withExtra({ memoPreimage: preimage }), { memo: true })).toBe('valid')
      expect(await judgeWith(withExtra({ memo, memoPreimage: preimage }), { memo: true })).toBe('valid')
      const others = { memoPreimage: 'another-secret-that-is-as-long-as-this' }
      for (const extra of [{}, { memo }, others, { memo, memoPreimage: memo.slice(1) }]) {
        expect(await judgeWith(withExtra(extra), { memo: true })).toBe('memo_mismatch')
      }
    })

    it('is written into no row: the preimage stays with the requirements', async () => {
      toy.find(found([{ ...paid, memo }]))
      const verdict = await verify(withExtra({ memoPreimage: preimage }))
      if (!verdict.isValid) throw new Error(verdict.reason)
      expect(verdict.details).toMatchObject({ memo })
      expect(JSON.stringify(verdict.details)).not.toContain(preimage)
    })

    it('fits with the memo of the requirements, or they contradict themselves', () => {
      expect(contradictionOf(withExtra({ memo, memoPreimage: preimage }))).toBeNull()
      expect(contradictionOf(withExtra({ memo: 'order 7', memoPreimage: preimage }))).toMatch(
        /^extra\.memo: must be the first 32 hex digits/,
      )
      for (const memoPreimage of ['order 7', 'x'.repeat(31), 'x'.repeat(129), 7, `${'x'.repeat(32)}\n`]) {
        expect(contradictionOf(withExtra({ memoPreimage }))).toMatch(/^extra\.memoPreimage: must be 32/)
      }
      open({ carriesMemo: false })
      expect(contradictionOf(withExtra({ memoPreimage: preimage }))).toMatch(/carry no memo$/)
    })

    it('asks for a signed claim, whatever the requirements say', async () => {
      toy.find(found())
      const payment = withExtra({ requireSignedClaim: false })
      expect(await judgeWith(payment, { signedClaim: true })).toBe('invalid_claim_signature')
      const claim = { signature: `alice signs ${claimFor('tx-1')}` }
      expect(await judgeWith(createPayment({ claim }), { signedClaim: true })).toBe('valid')
    })

    it('asks for exactly the amount, not before it was issued, also after a crash', async () => {
      const exactSince = secondsAgo(10)
      const since = async (ageSeconds: number, amount = 100n) => {
        toy.find(found([{ ...paid, amount }], ageSeconds))
        return await judgeWith(createPayment(), { exactSince })
      }
      expect(await since(10)).toBe('valid')
      expect(await since(11)).toBe('transaction_too_old')
      expect(await since(10, 101n)).toBe('amount_mismatch')
      toy.find({ state: 'pending' })
      const options = { isAwaited: () => true, isForSettle: true, demands: { ...none, exactSince } }
      const verdict = await scheme.verify(createPayment(), options)
      if (!verdict.isValid) throw new Error('It waits for the transaction')
      const row = settlement({ details: verdict.details, createdAt: clock.now() })
      const resolve = () => scheme.resolve(row, AbortSignal.timeout(waitLimitMs))
      toy.find(found([{ ...paid, amount: 101n }]))
      expect(await resolve()).toMatchObject({ state: 'failed', reason: 'amount_mismatch' })
      toy.find(found([paid], 11))
      expect(await resolve()).toMatchObject({ state: 'failed', reason: 'transaction_too_old' })
      toy.find(found([paid], 10))
      expect(await resolve()).toMatchObject({ state: 'confirmed' })
    })

    it('never makes an old transfer young enough', async () => {
      toy.find(found([paid], 70))
      expect(await judgeWith(createPayment(), { exactSince: secondsAgo(600) })).toBe('transaction_too_old')
    })
  })

  describe('a signed claim', () => {
    const required = { extra: { requireSignedClaim: true } }
    const signed = (text: string) => ({ claim: { signature: `alice signs ${text}` } })
    beforeEach(() => toy.find(found()))

    it('binds the transaction to the purchase', async () => {
      const proof = signed(claimFor('tx-1'))
      expect(await reasonOf(createPayment(proof, required))).toBe('valid')
      expect(await reasonOf(createPayment({ ...proof, txHash: 'TX-1' }, required))).toBe('valid')
    })

    it.each([
      ['missing', {}],
      ['for another transaction', signed(claimFor('tx-2'))],
      ['for another resource', signed(claimFor('tx-1', 'https://shop.example/other'))],
      ['of another account', { claim: { signature: `carol signs ${claimFor('tx-1')}` } }],
    ])('is refused when it is %s', async (_name, proof) => {
      expect(await reasonOf(createPayment(proof, required))).toBe('invalid_claim_signature')
    })

    it('is checked also where it is not required', async () => {
      expect(await reasonOf(createPayment(signed('something else')))).toBe('invalid_claim_signature')
      expect(await reasonOf(createPayment(signed(claimFor('tx-1'))))).toBe('valid')
    })
  })

  describe('settle', () => {
    it('confirms a final transfer, and records and sends nothing', async () => {
      toy.find(found([{ ...paid, amount: 150n }]))
      const authorized = await authorize(createPayment())
      expect(await settle(authorized)).toEqual({
        state: 'confirmed',
        transaction: 'tx-1',
        settledAmount: 150n,
      })
      expect(recorded).toEqual([])
    })

    it('waits for a transaction that is not final, recorded so that a crash does not lose it', async () => {
      toy.find({ state: 'pending' })
      const authorized = await authorize(createPayment())
      expect(authorized.authorizedAmount).toBe(100n)
      const outcome = settle(authorized)
      toy.find(new Error('No node answers'))
      const asked = toy.listQueries().length
      await pollUntil(() => toy.listQueries().length > asked, 'a look-up without an answer')
      toy.find(found([{ ...paid, amount: 150n }]))
      // Above the claim: the surplus is not part of it.
      expect(await outcome).toEqual({ state: 'confirmed', transaction: 'tx-1', settledAmount: 100n })
      expect(recorded).toEqual(['tx-1'])
    })

    it.each<[string, LookUp | (() => LookUp), string]>([
      ['fails', { state: 'failed' }, 'transaction_failed'],
      ['pays less', () => found([{ ...paid, amount: 99n }]), 'insufficient_amount'],
    ])('fails with the reason when the transaction %s in the end', async (_name, next, reason) => {
      toy.find({ state: 'pending' })
      const outcome = settle(await authorize(createPayment()))
      toy.find(typeof next === 'function' ? next() : next)
      expect(await outcome).toEqual({ state: 'failed', reason, transaction: 'tx-1' })
    })

    it.each<LookUp['state']>(['pending', 'missing'])(
      'is pending when the transaction stays %s',
      async (state) => {
        toy.find({ state: 'pending' })
        const authorized = await authorize(createPayment())
        if (state === 'missing') toy.find({ state })
        const stop = new AbortController()
        const outcome = settle(authorized, stop.signal)
        const asked = toy.listQueries().length
        await pollUntil(() => toy.listQueries().length > asked, 'a look-up')
        stop.abort()
        expect(await outcome).toEqual({
          state: 'pending',
          transaction: 'tx-1',
        })
      },
    )

    it('refuses a transaction that the chain does not know', async () => {
      expect(await reasonOf(createPayment(), true)).toBe('transaction_not_found')
    })
  })

  describe('resolve', () => {
    const rowOf = (authorized: Authorized, changes: Partial<Settlement> = {}): Settlement => ({
      id: 'settlement',
      state: 'pending',
      authorizationId: authorized.authorizationId,
      scheme: 'exact-direct',
      network: 'toy:1',
      asset: 'gold',
      payer: authorized.payer,
      payTo: 'bob',
      amount: authorized.amount,
      authorizedAmount: authorized.authorizedAmount,
      expiresAt: null,
      // As the journal returns it.
      details: JSON.parse(JSON.stringify(authorized.details)),
      resource: null,
      caller: 'anonymous',
      fingerprint: 'f',
      transaction: 'tx-1',
      broadcasts: [{ transaction: 'tx-1', bytes: 'tx-1' }],
      reason: null,
      settledAmount: null,
      gasUsed: null,
      consumedBy: null,
      isOwned: false,
      createdAt: clock.now(),
      closedAt: null,
      block: null,
      isFinal: false,
      ...changes,
    })
    const never = new AbortController().signal
    const openRow = async (payment = createPayment(), changes: Partial<Settlement> = {}) => {
      toy.find({ state: 'pending' })
      return rowOf(await authorize(payment), changes)
    }

    it('finds the outcome from the row alone, with the hints of the payload', async () => {
      const row = await openRow(createPayment({ blockHash: '0xab', extrinsicIndex: 2, deep: {} }))
      expect(await scheme.resolve(row, never)).toEqual({ state: 'pending', transaction: 'tx-1' })
      toy.find(found())
      expect(await scheme.resolve(row, never)).toEqual({
        state: 'confirmed',
        transaction: 'tx-1',
        settledAmount: 100n,
      })
      const [first, , last] = toy.listQueries()
      expect(last).toEqual({
        ...first,
        notBefore: secondsAgo(60 + 5 + 60),
        hints: {
          txHash: 'tx-1',
          from: 'alice',
          to: 'bob',
          amount: '100',
          blockHash: '0xab',
          extrinsicIndex: 2,
        },
      })
    })

    it('never confirms more than was claimed, nor without the memo that was required', async () => {
      const row = await openRow(createPayment({}, { extra: { memo: 'order 7' } }))
      toy.find(found())
      expect(await scheme.resolve(row, never)).toMatchObject({ state: 'failed', reason: 'memo_mismatch' })
      toy.find(found([{ ...paid, memo: 'order 7', amount: 900n }]))
      expect(await scheme.resolve(row, never)).toMatchObject({ state: 'confirmed', settledAmount: 100n })
    })

    it('compares with all that was paid, unless the claim was limited to what was required', async () => {
      toy.find(found([{ ...paid, amount: 150n }]))
      const authorized = await authorize(createPayment())
      const row = rowOf({ ...authorized, amount: 120n, authorizedAmount: 120n }, { broadcasts: [] })
      const compare = (changed: Settlement) => scheme.resolve(changed, never, { isReadOnly: true })
      expect(await compare(row)).toMatchObject({ state: 'confirmed', settledAmount: 150n })
      const limited = { ...row, details: { ...row.details, isLimited: true } }
      expect(await compare(limited)).toMatchObject({ settledAmount: 100n })
      expect(await compare(await openRow())).toMatchObject({ state: 'pending' })
    })

    it.each<Partial<Settlement>>([
      { asset: 'silver' },
      { payer: 'carol' },
      { payTo: 'carol' },
      { payTo: '!' },
    ])('closes no row that names another transfer than its details: %j', async (changes) => {
      const row = await openRow()
      toy.find(found())
      await expect(scheme.resolve({ ...row, ...changes }, never)).rejects.toThrow(/details/)
    })

    it('finds no contradiction in rows that it wrote, whatever the spelling of asset and recipient', async () => {
      const waiting = await openRow()
      toy.find(found([{ ...paid, amount: 150n }]))
      const complete = rowOf(await authorize(createPayment()), { broadcasts: [] })
      const spelled = { ...complete, asset: 'GOLD', payTo: 'BOB' }
      const settled: Settlement = { ...complete, state: 'confirmed', settledAmount: 150n }
      for (const row of [waiting, complete, spelled, settled]) {
        expect(findPublicProof(scheme)?.findRowContradiction(row)).toBeNull()
      }
    })

    it.each<[string, Partial<Settlement>]>([
      ['details', { details: {} }],
      ['asset', { asset: 'silver' }],
      ['payer', { payer: 'carol' }],
      ['payTo', { payTo: 'carol' }],
      ['authorizationId', { authorizationId: 'toy:1/tx-1/gold/alice/carol' }],
      ['transaction', { transaction: 'tx-2' }],
      ['transactions', { broadcasts: [{ transaction: 'tx-2', bytes: 'tx-2' }] }],
      ['amount', { amount: 101n, authorizedAmount: 101n }],
      ['authorizedAmount', { authorizedAmount: 101n }],
      ['settledAmount', { settledAmount: 99n }],
      ['expiresAt', { expiresAt: new Date(0) }],
    ])('finds that %s contradicts the rest of its row', async (column, changes) => {
      expect(
        findPublicProof(scheme)?.findRowContradiction({ ...(await openRow()), ...changes }),
      ).toMatchObject({ column })
    })

    it('fails a transaction that no node knows for an hour: its proof can be claimed again', async () => {
      const row = await openRow()
      toy.find({ state: 'missing' })
      expect(await scheme.resolve(row, never)).toEqual({ state: 'pending', transaction: 'tx-1' })
      const old = { ...row, createdAt: secondsAgo(3_601) }
      expect(await scheme.resolve(old, never)).toEqual({
        state: 'failed',
        reason: 'transaction_not_found',
        transaction: 'tx-1',
      })
      toy.find({ state: 'pending' })
      expect(await scheme.resolve(old, never)).toEqual({ state: 'pending', transaction: 'tx-1' })
    })

    it('throws for the details of another scheme, and while the chain is unavailable', async () => {
      const row = await openRow()
      await expect(scheme.resolve({ ...row, details: { nonce: '0x1' } }, never)).rejects.toThrow(/details/)
      toy.find(new Error('No node answers'))
      await expect(scheme.resolve(row, never)).rejects.toThrow('No node answers')
    })

    it('needs no block: only final transactions are confirmed', async () => {
      expect(await scheme.network.getBlockStatus({ number: 1n, hash: 'h' }, never)).toBe('final')
    })
  })

  it('repeats what servers need in /supported, and describes assets', async () => {
    expect({ ...scheme.kind, ...scheme.describeKind() }).toEqual({
      scheme: 'exact-direct',
      network: 'toy:1',
      extensions: [],
      extra: { assetSymbol: 'GOLD', assetDecimals: 6 },
    })
    expect(await scheme.describeAsset('GOLD', null)).toMatchObject({ asset: 'gold' })
    expect(await scheme.describeAsset(null, null)).toMatchObject({ asset: 'gold' })
    expect(scheme.network.isAsset('copper')).toBe(false)
    expect(scheme.network.isAddress('B0B')).toBe(false)
  })

  it('calls requirements whose extra names another asset a contradiction', () => {
    const named = (contractAddress: string) => createPayment({}, { extra: { contractAddress } })
    expect(contradictionOf(named('silver'))).toBe('extra.contractAddress: must be the asset')
    expect(contradictionOf(named('gold'))).toBeNull()
  })
})
