import type { Hex } from 'viem'
import {
  createEvmMinimum,
  createPaymentMethod,
  type MethodDependencies,
  type PaymentMethod,
} from '../../paymentMethod.js'
import type { ContractPresence } from '../../rpc/presence.js'
import type { Rpc } from '../../rpc/rpc.js'
import { describePermit } from '../judge.js'
import { formatPermitId, type Permit, readPermitProof } from '../payload.js'
import type { Prepared } from '../prepare.js'
import { createProxyPresence } from '../presence.js'
import { exactProxyAddress } from './contracts.js'
import { readJudge } from './judge.js'
import { createPreparer } from './prepare.js'

export interface ExactPermit2Dependencies extends MethodDependencies {
  /** Executes payments together; null on networks without it. */
  readonly router: Hex | null
}

/** `exact` by Permit2: the proxy transfers exactly what the payer permitted, to the witness's recipient. */
export const createPermit2Method = (dependencies: ExactPermit2Dependencies): PaymentMethod =>
  createPaymentMethod<Prepared<Permit>>(dependencies, createEvmMinimum(dependencies), {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readPermitProof(payment.proof)
      if ('problem' in reading) return null
      return formatPermitId(dependencies.network.network, reading.proof.permit)
    },
    describe: ({ candidate }) => describePermit(candidate.permit, dependencies.router),
    readJudge,
    // Permit2 has one sequence of nonces per owner, whichever proxy a permit names.
    isHoldable: true,
  })

export const createPermit2Presence = (rpc: Rpc, chainId: number): ContractPresence =>
  createProxyPresence(rpc, chainId, exactProxyAddress)
