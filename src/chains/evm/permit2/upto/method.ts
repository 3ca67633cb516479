import { readSettleAmount } from '../../../../schemes/settleAmount.js'
import { createPaymentMethod, type MethodDependencies, type PaymentMethod } from '../../paymentMethod.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { TransactionEngine } from '../../transactions/engine.js'
import { createPermitState, decodePermitState } from '../call.js'
import { formatPermitId, permit2Address } from '../payload.js'
import {
  createPermitPreparer,
  field,
  hasNotExpired,
  hasStarted,
  type Prepared,
  paysRecipient,
  paysSomeoneElse,
  permitsProxy,
  permitsToken,
  type Rule,
} from '../prepare.js'
import { chargeOf, createChargeCall, type Facilitators, findFacilitator } from './call.js'
import { describeCharge, readJudge } from './judge.js'
import { hashUptoPermit, readUptoProof, type UptoPermit, uptoProxyAddress } from './payload.js'

export interface UptoPermit2Dependencies extends MethodDependencies, Facilitators {}

/** `upto` by Permit2: the proxy transfers what we charge, at most what the payer permitted, to the witness's recipient. */
export const createUptoPermit2Method = (dependencies: UptoPermit2Dependencies): PaymentMethod => {
  const { rpc, facilitators, router } = dependencies
  const { network } = dependencies.network
  const ours = { facilitators, router }
  const method = createPaymentMethod<Prepared<UptoPermit>>(
    { ...dependencies, engine: withoutEmptyCharges(dependencies.engine, rpc) },
    {
      ...createPermitPreparer(dependencies, {
        read: readUptoProof,
        hash: hashUptoPermit,
        rules: createRules(ours),
        createCall: (candidate, signed) => createChargeCall({ rpc, network, ours }, candidate, signed),
      }),
      identify: (payment) => {
        const reading = readUptoProof(payment.proof)
        return 'problem' in reading ? null : formatPermitId(network, reading.proof.permit)
      },
      describe: ({ candidate: { permit } }) => {
        const facilitator = findFacilitator(permit, ours)
        return describeCharge(
          permit,
          facilitator !== null && 'router' in facilitator ? facilitator.router : null,
        )
      },
      readJudge,
      state: createPermitState(readUptoProof, (_permit, payment) => chargeOf(payment)),
      describeHold: ({ candidate, tokenPermit }, reads) => {
        const { balance, allowance } = decodePermitState(reads, candidate.permit)
        const facts = { spender: permit2Address, balance: balance ?? 0n }
        return tokenPermit === null
          ? { allowance: allowance ?? 0n, ...facts }
          : { allowance: null, isGrantedAtSettle: true, ...facts }
      },
    },
  )
  return {
    ...method,
    resolve: async (settlement, signal, options) =>
      settlement.amount === 0n
        ? { state: 'confirmed', transaction: '', settledAmount: 0n }
        : await method.resolve(settlement, signal, options),
  }
}

/** x402: a charge of 0 succeeds without a transaction. Only the journal consumes the authorization. */
const withoutEmptyCharges = (engine: TransactionEngine, rpc: Rpc): TransactionEngine => ({
  ...engine,
  simulate: async (call, use) => {
    if (call.amount > 0n) return await engine.simulate(call, use)
    const answers = await Promise.all(call.reads.map((read) => rpc.call(read)))
    const reads = answers.map((answer) => (answer.succeeds ? answer.value : null))
    const refused = call.findContradiction(reads, null)
    return refused === null ? { reads } : { reads, refused }
  },
  settle: async (call, recorder, options) =>
    call.amount > 0n ? await engine.settle(call, recorder, options) : { state: 'confirmed', transaction: '' },
})

const namesFacilitator = (ours: Facilitators): Rule<UptoPermit> => ({
  name: 'facilitator',
  check: ({ permit }) => (findFacilitator(permit, ours) === null ? 'upto_facilitator_mismatch' : null),
  compare: ({ permit }) => ({
    path: field('witness.facilitator'),
    found: permit.facilitator,
    expected: 'extra.facilitatorAddress of the scheme in GET /supported',
  }),
})

// What a token credits cannot be simulated: the proxy takes no call by another contract that could read balances.
const paysInListedToken: Rule = {
  name: 'asset_listed',
  check: ({ token }) => (token.isListed ? null : 'unsupported_asset'),
}

const permitsSomething: Rule = {
  name: 'required_amount',
  check: ({ permit }) => (permit.amount > 0n ? null : 'invalid_payment_amount'),
  compare: ({ permit }) => ({
    path: field('permitted.amount'),
    found: permit.amount,
    expected: 'at least 1',
  }),
}

// At settle without `settleAmount` the requirements contain the charge, and only the permit the maximum.
const permitsMaximum: Rule = {
  name: 'authorized_amount',
  check: ({ permit, payment: { requirements, settleAmount }, isForSettle }) =>
    permit.amount === requirements.amount || (isForSettle && settleAmount === null)
      ? null
      : 'permit2_amount_mismatch',
  compare: ({ permit, payment }) => ({
    path: field('permitted.amount'),
    found: permit.amount,
    expected: `exactly ${payment.requirements.amount}`,
  }),
}

const chargesWithinBounds: Rule = {
  name: 'charge',
  check: ({ permit, payment, isForSettle }) => {
    const settled = readSettleAmount(payment, {
      authorizedMaximum: permit.amount,
      isForSettle,
      isRequiredAmountCharge: true,
    })
    if ('amount' in settled) return null
    // x402 names it so.
    return settled.reason === 'settle_amount_above_maximum'
      ? 'invalid_upto_evm_payload_settlement_exceeds_amount'
      : settled.reason
  },
  compare: ({ permit, payment }) => ({
    path: 'settleAmount',
    found: payment.settleAmount ?? 'absent: the whole maximum is assumed',
    expected: `0, or ${payment.requirements.minAmount ?? 0n} to ${permit.amount}`,
  }),
}

export const createRules = (ours: Facilitators): readonly Rule<UptoPermit>[] => [
  permitsProxy(uptoProxyAddress),
  permitsToken,
  paysInListedToken,
  paysRecipient,
  paysSomeoneElse,
  namesFacilitator(ours),
  permitsSomething,
  permitsMaximum,
  chargesWithinBounds,
  hasStarted,
  hasNotExpired,
]
