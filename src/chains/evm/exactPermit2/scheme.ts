import {
  createEvmMinimum,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
} from '../paymentMethod.js'
import { describePermit, readJudge } from './judge.js'
import { formatPermitId, readPermitProof } from './payload.js'
import { createPreparer, type Prepared } from './prepare.js'

/** `exact` by Permit2: the proxy transfers exactly what the payer permitted, to the witness's recipient. */
export const createPermit2Method = (dependencies: MethodDependencies): PaymentMethod =>
  createPaymentMethod<Prepared>(dependencies, createEvmMinimum(dependencies), {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readPermitProof(payment.proof)
      if ('problem' in reading) return null
      return formatPermitId(dependencies.network.network, reading.proof.permit)
    },
    describe: ({ candidate }) => describePermit(candidate.permit),
    readJudge,
  })
