import type { Hex } from 'viem'
import { readPermitProof } from '../payload.js'
import { createPermitPreparer, type PreparerDependencies } from '../prepare.js'
import { createPermitCall } from './call.js'
import { findFailedCheck } from './checks.js'
import { hashPermit } from './typedData.js'

export const createPreparer = (dependencies: PreparerDependencies & { readonly router: Hex | null }) => {
  const { rpc, network, router } = dependencies
  return createPermitPreparer(dependencies, {
    read: readPermitProof,
    hash: hashPermit,
    findFailedCheck,
    createCall: (candidate, signed) =>
      createPermitCall({ rpc, network: network.network, router }, candidate, signed),
  })
}
