import { sleep } from '../../concurrency/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { Recorder, Settlement } from '../../ports/settlementJournal.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { PaymentDemands } from '../../protocol/recipients.js'
import { namesOf, runRules, type Trace } from '../../protocol/rules/rules.js'
import type { Network } from '../network.js'
import type { Authorized, Outcome, Refusal, Scheme, VerifyOptions } from '../scheme.js'
import type { DirectChain } from './directChain.js'
import {
  createInquiry,
  findRowContradiction,
  formatAuthorizationId,
  type Inquiry,
  readDetails,
  toDetails,
} from './inquiry.js'
import { type Judgement, judge } from './judge.js'
import { findMemoContradiction, findMemoProblem, readMemo } from './memo.js'
import { findClaimProblem, readDirectProof } from './payload.js'
import { createRules, noteTransaction, type ReadProof } from './rules.js'

// The specification's bound, whatever the requirements allow.
const longestAgeSeconds = 3_600
const clockToleranceSeconds = 5
// A payment that was just young enough for verify must not be too old for settle.
const settleGraceSeconds = 60
// Nodes that do not know a recorded transaction for so long will not include it: its proof can be claimed again.
const missingAfterMs = 3_600_000

const noDemands: PaymentDemands = { memo: false, signedClaim: false, exactSince: null }

interface ExactDirectOptions {
  /** That of the chain. */
  readonly network: Network
  readonly clock: Clock
  /** How long verify waits for a transaction that is known and not final: clients ask as soon as they have paid. */
  readonly verifyWaitMs?: number
  /** Whether one node's word is enough for a transaction that shows no signature of the payer. Default: no. */
  readonly acceptsUnverified?: boolean
}

/**
 * The client made the transfer and proves it by its hash. Verify looks it up and consumes nothing; settle claims it: the
 * journal admits one claim of the transfers of one asset between two accounts in one transaction.
 */
export const createExactDirectScheme = (
  chain: DirectChain,
  { network: opened, clock, verifyWaitMs = 0, acceptsUnverified = false }: ExactDirectOptions,
): Scheme => {
  const { network, carriesMemo, isSignedBy } = chain

  const rules = createRules(chain)
  const readingRules = ['payload_fields', 'asset', ...namesOf(rules), 'memo', 'claim', 'transaction'] as const

  const read = (payment: Payment, trace: Trace | undefined): Reading => {
    const { requirements } = payment
    trace?.expect(readingRules)
    const reading = readDirectProof(chain, payment.proof)
    if ('reason' in reading) {
      trace?.note('payload_fields', reading)
      return { refused: refuse(null, reading.reason, reading.message) }
    }
    trace?.note('payload_fields', null)
    const { proof } = reading
    const payer = proof.from
    const asset = chain.readAsset(requirements.asset)
    const isOffered = asset !== null && chain.isOffered(asset)
    trace?.note('asset', isOffered ? null : 'unsupported_asset', {
      path: 'paymentRequirements.asset',
      found: requirements.asset,
      expected: 'an asset that this facilitator settles there',
    })
    if (!isOffered) return { refused: refuse(payer, 'unsupported_asset') }
    const broken = runRules(rules, { payment, proof, asset }, trace)
    return broken === null ? { proof, asset } : { refused: { isValid: false, payer, ...broken } }
  }

  const inquire = (
    payment: Payment,
    { proof, asset }: ReadProof,
    { isForSettle = false, paidAfter, paidBefore, demands = noDemands }: VerifyOptions,
  ): Inquiry => {
    const { amount, maxTimeoutSeconds, extra } = payment.requirements
    const ageSeconds = Math.min(Math.max(maxTimeoutSeconds, chain.minAgeSeconds), longestAgeSeconds)
    const maxAgeSeconds = ageSeconds + clockToleranceSeconds
    const graceSeconds = isForSettle ? settleGraceSeconds : 0
    const { transaction, from, to } = proof
    return createInquiry(
      {
        transaction,
        asset,
        from,
        to,
        amount,
        memo: readMemo(extra),
        maxAgeSeconds,
        paidAfter: paidAfter ?? null,
        paidBefore: paidBefore ?? null,
        exactSince: demands.exactSince,
        isLimited: false,
        hints: payment.proof,
      },
      new Date(clock.now().getTime() - (maxAgeSeconds + graceSeconds) * 1_000),
    )
  }

  const examine = async ({ query, terms }: Inquiry): Promise<Judgement> => {
    const found = await chain.lookUp(query)
    const judgement = judge(found, terms, clock.now())
    const isUnverified = found.state === 'successful' && found.isUnverified === true && !acceptsUnverified
    return isUnverified && judgement.state === 'paid'
      ? { state: 'refused', reason: 'cross_check_unavailable' }
      : judgement
  }

  /** Waits a little for a transaction that the chain knows. An unknown hash costs one look-up, or two while nodes lag. */
  const examinePatiently = async (inquiry: Inquiry, isAwaited: () => boolean): Promise<Judgement> => {
    const waitUntilMs = performance.now() + verifyWaitMs
    let judgement = await examine(inquiry)
    while (
      judgement.state === 'unknown' &&
      judgement.reason === 'transaction_not_final' &&
      performance.now() + chain.pollIntervalMs < waitUntilMs &&
      isAwaited()
    ) {
      await sleep(chain.pollIntervalMs)
      judgement = await examine(inquiry)
    }
    return judgement
  }

  /** Waits until the transaction is final. An unreachable chain is no answer. */
  const waitForOutcome = async (inquiry: Inquiry, waitUntil: AbortSignal): Promise<Outcome> => {
    const { transaction } = inquiry.query
    while (await sleep(chain.pollIntervalMs, waitUntil)) {
      const judgement = await examine(inquiry).catch(() => null)
      if (judgement !== null && judgement.state !== 'unknown') {
        return toOutcome(judgement, transaction, inquiry.terms.amount)
      }
    }
    return { state: 'pending', transaction }
  }

  const authorize = (inquiry: Inquiry, judgement: Judgement): Authorized => {
    const { query, terms } = inquiry
    const amount = judgement.state === 'paid' ? judgement.amount : terms.amount
    return {
      isValid: true,
      payer: terms.from,
      authorizationId: formatAuthorizationId(network, { ...terms, transaction: query.transaction }),
      authorizedAmount: amount,
      amount,
      expiresAt: null,
      details: toDetails(inquiry),
      settle: async (recorder: Recorder, { waitUntil }) => {
        // Final: nothing can change.
        if (judgement.state === 'paid') return toOutcome(judgement, query.transaction, amount)
        // The payer has sent it; recorded, so that its outcome is found after a crash too.
        await recorder.record({ transaction: query.transaction, bytes: query.transaction })
        return await waitForOutcome(inquiry, waitUntil)
      },
    }
  }

  /** A row that names another transfer than its details closes no payment. */
  const readRow = (settlement: Settlement): Inquiry => {
    const inquiry = readDetails(settlement)
    const { asset, from, to } = inquiry.terms
    const { asset: namedAsset, payer, payTo } = settlement
    if (chain.readAsset(namedAsset) !== asset || payer !== from || chain.readAddress(payTo) !== to) {
      throw new Error(
        `The asset, payer or recipient of settlement ${settlement.id} is not that of its details`,
      )
    }
    return inquiry
  }

  return {
    kind: { scheme: 'exact-direct', network },
    network: opened,
    describeKind: () => ({ extra: chain.extra, extensions: [] }),
    settledState: null,
    journalClaims: {
      publicProof: {
        carriesMemo,
        signatures: isSignedBy === null ? null : { isSignedBy },
        findContradiction: (asset, extra) => {
          const contradiction = findMemoContradiction(carriesMemo, extra)
          if (contradiction !== null) return contradiction
          const named = asset ?? chain.describeAsset(null)?.asset ?? null
          const normal = named === null ? null : chain.readAsset(canonicalAsset(network, named))
          return normal === null ? null : chain.findContradiction(normal, extra)
        },
        findRowContradiction: (settlement) => findRowContradiction(chain, settlement),
      },
    },
    describeAsset: async (asset) => chain.describeAsset(asset === null ? null : chain.readAsset(asset)),

    identify: (payment) => {
      const reading = readDirectProof(chain, payment.proof)
      const asset = chain.readAsset(payment.requirements.asset)
      if ('reason' in reading || asset === null) return null
      return formatAuthorizationId(network, { ...reading.proof, asset })
    },

    verify: async (payment, options) => {
      const { isAwaited, isForSettle = false, demands = noDemands, trace } = options
      const reading = read(payment, trace)
      if ('refused' in reading) return reading.refused
      const payer = reading.proof.from
      if (!isAwaited()) throw new Error('The caller is gone')
      const missingMemo = findMemoProblem(payment.requirements, demands)
      trace?.note('memo', missingMemo)
      const problem =
        missingMemo ??
        (await findClaimProblem(chain, reading.proof, { payment, isRequired: demands.signedClaim }))
      if (missingMemo === null) trace?.note('claim', problem)
      if (problem !== null) return refuse(payer, problem.reason, problem.message)

      const inquiry = inquire(payment, reading, options)
      const judgement = isForSettle ? await examine(inquiry) : await examinePatiently(inquiry, isAwaited)
      // Settle waits for a transaction that the chain knows.
      const isAwaitable =
        isForSettle && judgement.state === 'unknown' && judgement.reason !== 'transaction_not_found'
      if (trace !== undefined) noteTransaction(inquiry, isAwaitable ? null : judgement, trace)
      if (judgement.state === 'refused') return refuse(payer, judgement.reason)
      if (judgement.state === 'unknown' && !isAwaitable) return refuse(payer, judgement.reason)
      return authorize(inquiry, judgement)
    },

    resolve: async (settlement, _signal, { isReadOnly = false } = {}) => {
      const inquiry = readRow(settlement)
      const { transaction } = inquiry.query
      const judgement = await examine(inquiry)
      if (judgement.state !== 'unknown') {
        return isReadOnly
          ? toEvidence(judgement, settlement, inquiry)
          : toOutcome(judgement, transaction, settlement.authorizedAmount)
      }
      const waitedMs = clock.now().getTime() - settlement.createdAt.getTime()
      if (judgement.reason === 'transaction_not_found' && waitedMs > missingAfterMs) {
        return { state: 'failed', reason: judgement.reason, transaction }
      }
      return { state: 'pending', transaction }
    },
  }
}

type Reading = ReadProof | { readonly refused: Refusal }

const refuse = (payer: string | null, reason: Reason, message?: string): Refusal => ({
  isValid: false,
  payer,
  reason,
  ...(message === undefined ? {} : { message }),
})

/** A surplus that was found only after the claim is not part of it. */
const toOutcome = (
  judgement: Exclude<Judgement, { readonly state: 'unknown' }>,
  transaction: string,
  claimedAmount: bigint,
): Outcome => {
  switch (judgement.state) {
    case 'paid': {
      const settledAmount = judgement.amount < claimedAmount ? judgement.amount : claimedAmount
      return { state: 'confirmed', transaction, settledAmount }
    }
    case 'refused':
      return { state: 'failed', reason: judgement.reason, transaction }
  }
}

/**
 * The settled amount that a sound row has, whatever its columns say: all that was paid, or what was required if the claim
 * was limited to it, as every claim is that was recorded before the evidence was final.
 */
const toEvidence = (
  judgement: Exclude<Judgement, { readonly state: 'unknown' }>,
  { broadcasts }: Settlement,
  { query, terms, isLimited }: Inquiry,
): Outcome => {
  if (judgement.state === 'refused') return toOutcome(judgement, query.transaction, terms.amount)
  const isRequiredAmount = broadcasts.length > 0 || isLimited
  const claimed = isRequiredAmount ? terms.amount : judgement.amount
  return toOutcome(judgement, query.transaction, claimed)
}
