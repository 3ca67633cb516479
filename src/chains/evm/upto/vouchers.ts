import { hashTypedData } from 'viem'
import { withSignal } from '../../../concurrency/deadline.js'
import type { Vouchers } from '../../../schemes/network.js'
import type { ContractReader } from '../../chain.js'
import { readAddress } from '../abi/address.js'
import { keySignatureLengths, readSignature, readSignatureText } from '../signatures/signature.js'
import { isSignedByContract } from '../signIn/walletCheck.js'

const name = 'Quittance Stream'
const version = '1'

const types = {
  Voucher: [
    { name: 'streamId', type: 'string' },
    { name: 'amount', type: 'uint256' },
    { name: 'sequence', type: 'uint256' },
  ],
} as const

/** Wallets expect it beside the types of the message. */
const domainType = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const

interface VoucherDependencies {
  readonly chainId: number
  /** Null: no wallet contract can be asked, so that only keys sign. */
  readonly contractReader: ContractReader | null
}

/** Vouchers are signed by EIP-712: by a key, a wallet contract (EIP-1271), or one that is not deployed yet (EIP-6492). */
export const createVouchers = ({ chainId, contractReader }: VoucherDependencies): Vouchers => ({
  describe: ({ streamId, amount, sequence }) => ({
    domain: { name, version, chainId },
    types: { EIP712Domain: domainType, ...types },
    primaryType: 'Voucher',
    message: { streamId, amount: amount.toString(), sequence: sequence.toString() },
  }),

  isSigned: async ({ streamId, amount, sequence }, payer, text, signal) => {
    const address = readAddress(payer)
    const signature = readSignatureText(text)
    if (address === null || signature === null) return false
    const digest = hashTypedData({
      domain: { name, version, chainId },
      types,
      primaryType: 'Voucher',
      message: { streamId, amount, sequence },
    })
    if (keySignatureLengths.includes(signature.length)) {
      const read = await readSignature(signature, digest, address)
      // A malleable signature, with a high s, is null.
      if (read === null) return false
      if (read.kind === 'ecdsa') return true
    }
    if (contractReader === null) return false
    // The payer has a stream, and funds that it holds.
    const requester = { name: `payer ${address}`, site: null }
    const proof = { address, signature, digests: [digest], requester }
    return (await withSignal(isSignedByContract(contractReader, proof), signal)) !== null
  },
})
