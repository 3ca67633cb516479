import {
  createEvmMinimum,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
} from '../../paymentMethod.js'
import type { ContractPresence } from '../../rpc/presence.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { TransactionEngine } from '../../transactions/engine.js'
import { permit2Address } from '../contracts.js'
import { formatPermitId } from '../payload.js'
import { decodePermitState } from '../permitState.js'
import type { Prepared } from '../prepare.js'
import { createProxyPresence } from '../presence.js'
import { type Facilitators, findFacilitator } from './checks.js'
import { uptoProxyAddress } from './contracts.js'
import { describeCharge, readJudge } from './judge.js'
import { readUptoProof, type UptoPermit } from './payload.js'
import { createPreparer } from './prepare.js'

export interface UptoPermit2Dependencies extends MethodDependencies, Facilitators {}

/** `upto` by Permit2: the proxy transfers what we charge, at most what the payer permitted, to the witness's recipient. */
export const createUptoPermit2Method = (dependencies: UptoPermit2Dependencies): PaymentMethod => {
  const engine = withoutEmptyCharges(dependencies.engine, dependencies.rpc)
  const method = createPaymentMethod<Prepared<UptoPermit>>(
    { ...dependencies, engine },
    createEvmMinimum(dependencies),
    {
      ...createPreparer(dependencies),
      identify: (payment) => {
        const reading = readUptoProof(payment.proof)
        if ('problem' in reading) return null
        return formatPermitId(dependencies.network.network, reading.proof.permit)
      },
      describe: ({ candidate: { permit } }) => {
        const facilitator = findFacilitator(permit, dependencies)
        return describeCharge(
          permit,
          facilitator !== null && 'router' in facilitator ? facilitator.router : null,
        )
      },
      readJudge,
      describeHold: ({ candidate, tokenPermit }, reads) => {
        const { balance, allowance } = decodePermitState(reads, candidate.permit)
        const facts = { spender: permit2Address, balance: balance ?? 0n }
        return tokenPermit === null
          ? { ...facts, allowance: allowance ?? 0n }
          : { ...facts, allowance: null, isGrantedAtSettle: true }
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
    return refused === null ? { reads } : { refused }
  },
  settle: async (call, recorder, options) =>
    call.amount > 0n ? await engine.settle(call, recorder, options) : { state: 'confirmed', transaction: '' },
})

export const createUptoPermit2Presence = (rpc: Rpc, chainId: number): ContractPresence =>
  createProxyPresence(rpc, chainId, uptoProxyAddress)
