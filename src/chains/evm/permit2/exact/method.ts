import type { Hex } from 'viem'
import { compareAmountOf } from '../../explanations.js'
import { createPaymentMethod, type MethodDependencies, type PaymentMethod } from '../../paymentMethod.js'
import { createPermitState } from '../call.js'
import { describePermit } from '../judge.js'
import { formatPermitId, type Permit, readPermitProof } from '../payload.js'
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
import { createPermitCall } from './call.js'
import { readJudge } from './judge.js'
import { exactProxyAddress, hashPermit } from './payload.js'

interface ExactPermit2Dependencies extends MethodDependencies {
  /** Executes payments together; null on networks without it. */
  readonly router: Hex | null
}

/** `exact` by Permit2: the proxy transfers exactly what the payer permitted, to the witness's recipient. */
export const createPermit2Method = (dependencies: ExactPermit2Dependencies): PaymentMethod => {
  const { rpc, router } = dependencies
  const { network } = dependencies.network
  return createPaymentMethod<Prepared<Permit>>(dependencies, {
    ...createPermitPreparer(dependencies, {
      read: readPermitProof,
      hash: hashPermit,
      rules,
      createCall: (candidate, signed) => createPermitCall({ rpc, network, router }, candidate, signed),
    }),
    identify: (payment) => {
      const reading = readPermitProof(payment.proof)
      return 'problem' in reading ? null : formatPermitId(network, reading.proof.permit)
    },
    describe: ({ candidate }) => describePermit(candidate.permit, router),
    readJudge,
    state: createPermitState(readPermitProof, ({ amount }) => amount),
    // Permit2 has one sequence of nonces per owner, whichever proxy a permit names.
    isHoldable: true,
  })
}

const asksForSomething: Rule = {
  name: 'required_amount',
  check: ({ payment }) => (payment.requirements.amount > 0n ? null : 'invalid_payment_amount'),
  compare: compareAmountOf,
}

// The proxy transfers exactly what is permitted.
const permitsAmount: Rule = {
  name: 'authorized_amount',
  check: ({ permit, payment }) =>
    permit.amount === payment.requirements.amount ? null : 'permit2_amount_mismatch',
  compare: ({ permit, payment }) => ({
    path: field('permitted.amount'),
    found: permit.amount,
    expected: `exactly ${payment.requirements.amount}`,
  }),
}

export const rules: readonly Rule[] = [
  permitsProxy(exactProxyAddress),
  permitsToken,
  paysRecipient,
  paysSomeoneElse,
  asksForSomething,
  permitsAmount,
  hasStarted,
  hasNotExpired,
]
