import { createPermitPreparer, type PreparerDependencies } from '../prepare.js'
import { createChargeCall } from './call.js'
import { createFindFailedCheck, type Facilitators } from './checks.js'
import { readUptoProof } from './payload.js'
import { hashUptoPermit } from './typedData.js'

export const createPreparer = (dependencies: PreparerDependencies & Facilitators) => {
  const { rpc, network, facilitators, router } = dependencies
  const ours = { facilitators, router }
  return createPermitPreparer(dependencies, {
    read: readUptoProof,
    hash: hashUptoPermit,
    findFailedCheck: createFindFailedCheck(ours),
    createCall: (candidate, signed) =>
      createChargeCall({ rpc, network: network.network, ours }, candidate, signed),
  })
}
