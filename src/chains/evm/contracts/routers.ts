import { concatHex, encodeAbiParameters, getContractAddress, getCreate2Address, type Hex, pad } from 'viem'
import type { RecipientRouters } from '../../../schemes/network.js'
import { readAddress } from '../abi/address.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import { createContractPresence, type DeployedContract, deploymentProxy } from './deployedContract.js'
import { uptoRouter } from './uptoRouter.js'

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

/** Serves those who write requirements; asks each time whether a recipient's router is deployed already. */
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

/** The router whose facilitators are exactly these accounts has one address on every chain, whatever their order. */
export const locateUptoRouter = (signers: readonly Hex[]): DeployedContract => {
  // The constructor takes one order only.
  const facilitators = [...new Set(signers.map(toLowerCase))].sort()
  const { name, codeHash, creationCode } = uptoRouter
  const initCode = concatHex([creationCode, encodeAbiParameters([{ type: 'address[]' }], [facilitators])])
  const address = getCreate2Address({ from: deploymentProxy, salt: pad('0x'), bytecode: initCode })
  return { name, address, codeHash, initCode }
}

const toLowerCase = (address: Hex): Hex => `0x${address.slice(2).toLowerCase()}`

/**
 * What `routerOf` of a router returns: the spender of permits that can pay this recipient only. CREATE2 by the router
 * with the recipient as salt, of an EIP-1167 clone that ends with the recipient.
 */
export const findRecipientRouter = (router: Hex, recipient: Hex): Hex => {
  // Created by the router's constructor.
  const implementation = getContractAddress({ from: router, nonce: 1n })
  const bytecode = concatHex([cloneStart, implementation, cloneEnd, recipient])
  return getCreate2Address({ from: router, salt: pad(recipient), bytecode })
}

// Copies the 65 bytes after the first ten to the chain: 45 of EIP-1167, and the recipient.
const cloneStart = '0x6100413d81600a3d39f3363d3d373d3d3d363d73'
const cloneEnd = '0x5af43d82803e903d91602b57fd5bf3'
