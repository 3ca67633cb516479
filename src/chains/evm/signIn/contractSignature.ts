import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  erc6492SignatureValidatorByteCode,
  type Hex,
  parseAbi,
} from 'viem'
import type { ContractReader } from '../../chain.js'

interface ContractSignature {
  readonly address: Hex
  readonly signature: Hex
  readonly digests: readonly Hex[]
}

const walletAbi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

// The selector of isValidSignature, in a word.
const accepted = `0x1626ba7e${'0'.repeat(56)}`

// ERC-6492: the signature is wrapped with the factory call and ends with this marker.
const counterfactualEnd = '6492'.repeat(16)

const walletGas = 3_000_000n
// Creates the validator and the wallet as well.
const deploymentGas = 10_000_000n

/**
 * Whether a wallet contract accepts the signature of one of the digests. A factory of the signer's choice is called
 * only within `eth_call`, by a contract that exists nowhere: never by a transaction, never from an account of ours.
 */
export const isSignedByContract = async (
  contracts: ContractReader,
  { address, signature, digests }: ContractSignature,
): Promise<'eip1271' | 'eip6492' | null> => {
  if (signature.endsWith(counterfactualEnd)) {
    for (const digest of digests) {
      const data = encodeValidatorCall(address, digest, signature)
      if ((await contracts.call({ to: null, data, gas: deploymentGas })) === '0x01') return 'eip6492'
    }
    return null
  }
  // A call to an account without code succeeds.
  if ((await contracts.getCode(address)) === '0x') return null
  for (const digest of digests) {
    const data = encodeFunctionData({ abi: walletAbi, args: [digest, signature] })
    const answer = await contracts.call({ to: address, data, gas: walletGas })
    if (answer?.toLowerCase() === accepted) return 'eip1271'
  }
  return null
}

const encodeValidatorCall = (address: Hex, digest: Hex, signature: Hex): Hex =>
  concatHex([
    erc6492SignatureValidatorByteCode,
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes32' }, { type: 'bytes' }],
      [address, digest, signature],
    ),
  ])
