import type { Hex } from 'viem'
import { createContractPresence } from '../contracts/contractPresence.js'
import { findRecipientRouter } from '../contracts/findRecipientRouter.js'
import { locateUptoRouter } from '../contracts/locateUptoRouter.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'

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
