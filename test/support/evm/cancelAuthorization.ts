import { type Address, encodeFunctionData, type Hex, parseSignature } from 'viem'
import { type TokenDomain, usdcAbi } from './localChain.js'
import type { EoaWallet } from './wallets.js'

/** The call by which any account cancels a payer's authorization (EIP-3009). */
export const signCancellation = async (
  token: TokenDomain,
  wallet: EoaWallet,
  nonce: Hex,
): Promise<{ readonly to: Address; readonly data: Hex }> => {
  const signature = await wallet.account.signTypedData({
    domain: { ...token },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  })
  const { r, s, yParity } = parseSignature(signature)
  const args = [wallet.address, nonce, 27 + yParity, r, s] as const
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'cancelAuthorization', args })
  return { to: token.verifyingContract, data }
}
