import { type Hex, zeroAddress } from 'viem'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { ContractReader } from '../../chain.js'
import { isSameAddress } from '../abi/address.js'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { permit2Separator } from '../permit2/payload.js'
import type { Rpc } from '../rpc/rpc.js'
import { isCounterfactual, readSignature } from '../signatures/signature.js'
import { isSignedByContract } from '../signIn/walletCheck.js'
import { separatorOf } from '../tokens/tokenRegistry.js'
import { type ChannelConfig, collectors, hashDepositNonce } from './contract.js'
import type { DepositProof } from './payload.js'

export const isZero = (address: Hex): boolean => isSameAddress(address, zeroAddress)

/** Who answers for a signature: a key, or a wallet contract (EIP-1271), whose answer may change. */
export type SignerKind = 'key' | 'contract'

interface Asking {
  readonly rpc: Pick<Rpc, 'getCode'>
  readonly reader: ContractReader
  /** Whose share a wallet contract uses. */
  readonly requester: Requester
}

interface Signed {
  readonly signer: Hex
  readonly digest: Hex
  readonly signature: Hex
}

/**
 * Who signed a voucher, as the contract decides it: a payerAuthorizer is a key also where it has code; a payer with code, which
 * EIP-7702 counts as well, is asked.
 */
export const findVoucherSigner = async (
  asking: Asking,
  config: Pick<ChannelConfig, 'payer' | 'payerAuthorizer'>,
  { digest, signature }: Omit<Signed, 'signer'>,
): Promise<SignerKind | null> => {
  const { payer, payerAuthorizer } = config
  return isZero(payerAuthorizer)
    ? await findSigner(asking, { signer: payer, digest, signature })
    : await findVoucherKey(config, { digest, signature })
}

/** The same where the payer is known to have no code. */
export const findVoucherKey = async (
  { payer, payerAuthorizer }: Pick<ChannelConfig, 'payer' | 'payerAuthorizer'>,
  { digest, signature }: Omit<Signed, 'signer'>,
): Promise<'key' | null> =>
  await findKey({ signer: isZero(payerAuthorizer) ? payer : payerAuthorizer, digest, signature })

/** Who signed as an account: code decides, as in the contract. */
export const findSigner = async (
  { rpc, reader, requester }: Asking,
  { signer, digest, signature }: Signed,
): Promise<SignerKind | null> => {
  if ((await rpc.getCode(signer)) === '0x') return await findKey({ signer, digest, signature })
  // The contract does not unwrap ERC-6492.
  if (isCounterfactual(signature)) return null
  const proof = { address: signer, signature, digests: [digest], requester }
  return (await isSignedByContract(reader, proof)) === null ? null : 'contract'
}

/** In characters: 65 bytes. */
const strictLength = 2 + 2 * 65

/** The contract takes 65 bytes with v of 27 or 28 and a low s; a high s would revert every batch that claims the voucher. */
const findKey = async ({ signer, digest, signature }: Signed): Promise<'key' | null> => {
  const hasStrictForm = signature.length === strictLength && /^1[bc]$/.test(signature.slice(-2))
  if (!hasStrictForm) return null
  const read = await readSignature(signature, digest, signer)
  return read?.kind === 'ecdsa' ? 'key' : null
}

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const recoveryValues: Readonly<Record<string, 0 | 1>> = { '00': 0, '1b': 0, '01': 1, '1c': 1 }

/** The same signature of a key in the form that the contract takes; anything else is left as it is. */
export const normalizeKeySignature = (signature: Hex): Hex => {
  const parity = recoveryValues[signature.slice(130)]
  if (signature.length !== strictLength || parity === undefined) return signature
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const isHigh = s > curveOrder / 2n && s < curveOrder
  const v = 27 + (isHigh ? 1 - parity : parity)
  return `0x${signature.slice(2, 66)}${numberWord(isHigh ? curveOrder - s : s)}${v.toString(16)}`
}

const hashWords = (words: string): Hex => keccak(Buffer.from(words, 'hex'))

const digestOf = (separator: Hex, struct: Hex): Hex =>
  hashWords(`1901${separator.slice(2)}${struct.slice(2)}`)

const receiveType = keccak(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
).slice(2)

/** The EIP-712 digest of a deposit by ERC-3009. */
export const hashReceive = (
  { config, channelId, amount }: Pick<DepositProof, 'config' | 'channelId' | 'amount'>,
  { validAfter, validBefore, salt }: NonNullable<DepositProof['eip3009']>,
  domain: { readonly chainId: number; readonly name: string; readonly version: string },
): Hex => {
  const struct = hashWords(
    receiveType +
      addressWord(config.payer) +
      addressWord(collectors.eip3009) +
      numberWord(amount) +
      numberWord(validAfter) +
      numberWord(validBefore) +
      hashDepositNonce(channelId, salt).slice(2),
  )
  return digestOf(separatorOf({ ...domain, asset: config.token }), struct)
}

const permittedType = 'TokenPermissions(address token,uint256 amount)'
const permittedTypeHash = keccak(permittedType).slice(2)
const witnessType = 'DepositWitness(bytes32 channelId)'
const witnessTypeHash = keccak(witnessType).slice(2)
const permitTypeHash = keccak(
  `PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,DepositWitness witness)${witnessType}${permittedType}`,
).slice(2)

/** The EIP-712 digest of a deposit by Permit2. */
export const hashDepositPermit = (
  { token, amount, spender, nonce, deadline, channelId }: NonNullable<DepositProof['permit2']>,
  chainId: number,
): Hex => {
  const permitted = hashWords(permittedTypeHash + addressWord(token) + numberWord(amount)).slice(2)
  const witness = hashWords(witnessTypeHash + channelId.slice(2)).slice(2)
  const fields = addressWord(spender) + numberWord(nonce) + numberWord(deadline) + witness
  return digestOf(permit2Separator(chainId), hashWords(permitTypeHash + permitted + fields))
}
