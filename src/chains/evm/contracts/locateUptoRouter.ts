import { concatHex, encodeAbiParameters, getCreate2Address, type Hex, pad } from 'viem'
import { type DeployedContract, deploymentProxy } from './deployedContract.js'
import { uptoRouter } from './uptoRouter.js'

/** The router whose facilitators are exactly these accounts: in whatever order, at one address on every chain. */
export const locateUptoRouter = (signers: readonly Hex[]): DeployedContract => {
  // The constructor takes one order only.
  const facilitators = [...new Set(signers.map(toLowerCase))].sort()
  const { name, codeHash, creationCode } = uptoRouter
  const initCode = concatHex([creationCode, encodeAbiParameters([{ type: 'address[]' }], [facilitators])])
  const address = getCreate2Address({ from: deploymentProxy, salt: pad('0x'), bytecode: initCode })
  return { name, address, codeHash, initCode }
}

const toLowerCase = (address: Hex): Hex => `0x${address.slice(2).toLowerCase()}`
