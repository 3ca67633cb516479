import { concatHex, getContractAddress, getCreate2Address, type Hex, pad } from 'viem'

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
