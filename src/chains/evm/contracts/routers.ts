import type { Hex } from 'viem'
import type { RecipientRouters } from '../../../schemes/network.js'
import { readAddress } from '../abi/address.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import { createContractPresence } from './deployedContract.js'
import { findRecipientRouter } from './findRecipientRouter.js'
import { locateUptoRouter } from './locateUptoRouter.js'

/** The routers whose facilitators are the configured accounts. */
export interface Routers {
  /** Pays any recipient. */
  readonly shared: Hex
  /** Pays this recipient only; deployed by the first settlement that needs it. */
  findFor(payTo: Hex): Hex
  /** Whether the shared router, which deploys the others, has the expected code. */
  readonly presence: ContractPresence
}

export const createRouters = (rpc: Pick<Rpc, 'getCode'>, signers: readonly Hex[]): Routers => {
  const contract = locateUptoRouter(signers)
  return {
    shared: contract.address,
    findFor: (payTo) => findRecipientRouter(contract.address, payTo),
    presence: createContractPresence(rpc, contract),
  }
}

/** For servers that write requirements; whether a recipient's router is deployed already is asked each time. */
export const createRecipientRouters = (
  rpc: Pick<Rpc, 'getCode'>,
  { shared, findFor, presence }: Routers,
  takesSharedRouterPermits: boolean,
): RecipientRouters => ({
  find: async (payTo) => {
    const recipient = readAddress(payTo)
    if (recipient === null || !(await presence.ask())) return null
    const address = findFor(recipient)
    const isDeployed = (await rpc.getCode(address)) !== '0x'
    return { address, isDeployed, shared: takesSharedRouterPermits ? shared : null }
  },
})
