import { readAddress } from '../abi/address.js'
import type { Routers } from '../contracts/routers.js'
import {
  createEvmMinimum,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
} from '../paymentMethod.js'
import { describePermit, readJudge } from './judge.js'
import { formatPermitId, readUptoProof } from './payload.js'
import { decodePermitState } from './permitState.js'
import type { FindPermitProblem } from './permitSupport.js'
import { createPreparer, type Prepared } from './prepare.js'

/** `upto` by an EIP-2612 permit: the router transfers what was used, at most what the payer permitted. */
export const createPermitMethod = (
  dependencies: MethodDependencies & {
    readonly routers: Routers
    readonly findPermitProblem: FindPermitProblem
  },
): PaymentMethod =>
  createPaymentMethod<Prepared>(dependencies, createEvmMinimum(dependencies), {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readUptoProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      return formatPermitId(dependencies.network.network, asset, reading.proof.permit)
    },
    describe: ({ candidate: { permit, routers } }) =>
      describePermit({ router: routers.shared, spender: permit.spender, nonce: permit.nonce }),
    readJudge,
    describeHold: ({ candidate }, reads) => ({
      spender: candidate.permit.spender,
      balance: decodePermitState(reads).balance ?? 0n,
      // The permit itself grants it.
      allowance: null,
    }),
  })
