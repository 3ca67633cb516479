import { domainSeparator, type Hex } from 'viem'
import type { Requester } from '../../../ports/rateLimiter.js'
import type { ContractReader } from '../../chain.js'
import { addressWord, keccak, numberWord } from '../abi/words.js'
import { permit2Separator } from '../permit2/payload.js'
import { readSignature } from '../signatures/signature.js'
import { isSignedByContract } from '../signIn/walletCheck.js'
import { separatorOf } from '../tokens/tokenRegistry.js'
import type { Deployment, Fee } from './contracts.js'
import type { Authorization, LifecycleProof } from './payload.js'

const hashWords = (words: string): Hex => keccak(Buffer.from(words, 'hex'))

const digestOf = (separator: Hex, struct: Hex): Hex =>
  hashWords(`1901${separator.slice(2)}${struct.slice(2)}`)

const receiveType = keccak(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
).slice(2)
const permittedType = 'TokenPermissions(address token,uint256 amount)'
const permittedTypeHash = keccak(permittedType).slice(2)
const permitType = keccak(
  `PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)${permittedType}`,
).slice(2)

/** Names the token's EIP-712 domain. */
interface SignedToken {
  readonly chainId: number
  readonly asset: Hex
  readonly name: string
  readonly version: string
}

/** The EIP-712 digest that the payer signs. The collector always passes 0 as `validAfter`. */
export const hashAuthorization = (
  { method, from, collector, value, validBefore, nonce }: Authorization,
  token: SignedToken,
): Hex => {
  if (method === 'eip3009') {
    const fields = addressWord(from) + addressWord(collector) + numberWord(value) + numberWord(0n)
    const struct = hashWords(receiveType + fields + numberWord(validBefore) + numberWord(nonce))
    return digestOf(separatorOf(token), struct)
  }
  const permitted = hashWords(permittedTypeHash + addressWord(token.asset) + numberWord(value)).slice(2)
  const fields = addressWord(collector) + numberWord(nonce) + numberWord(validBefore)
  return digestOf(permit2Separator(token.chainId), hashWords(permitType + permitted + fields))
}

/** What the receiver's authorizer signs for: in the domain of the operator that sends it. */
interface OperatorDomain {
  readonly chainId: number
  readonly operator: Hex
}

const operatorSeparator = ({ chainId, operator }: OperatorDomain): Hex =>
  domainSeparator({
    domain: { name: 'x402 Auth Capture Operator', version: '1', chainId, verifyingContract: operator },
  })

const feeField = ({ version }: Deployment): string =>
  version === '1.1' ? 'uint256 feeAmount' : 'uint16 feeBps'

const voidType = keccak('Void(bytes32 paymentInfoHash)').slice(2)
const refundType = keccak(
  'Refund(bytes32 paymentInfoHash,uint256 amount,address tokenCollector,uint256 expectedCapturableAmount,uint256 expectedRefundableAmount)',
).slice(2)

export const hashVoid = (domain: OperatorDomain, hash: Hex): Hex =>
  digestOf(operatorSeparator(domain), hashWords(voidType + hash.slice(2)))

/** The EIP-712 digest of a request about a collected payment. */
export const hashLifecycle = (
  domain: OperatorDomain & { readonly deployment: Deployment },
  hash: Hex,
  proof: LifecycleProof,
): Hex => {
  if (proof.type === 'void') return hashVoid(domain, hash)
  const { deployment } = domain
  const balances = numberWord(proof.expectedCapturable) + numberWord(proof.expectedRefundable)
  const start = hash.slice(2) + numberWord(proof.amount)
  if (proof.type === 'refund') {
    const struct = hashWords(refundType + start + addressWord(deployment.refundCollector) + balances)
    return digestOf(operatorSeparator(domain), struct)
  }
  const type = keccak(
    `Capture(bytes32 paymentInfoHash,uint256 amount,${feeField(deployment)},address feeReceiver,uint256 expectedCapturableAmount,uint256 expectedRefundableAmount)`,
  ).slice(2)
  const struct = hashWords(type + start + numberWord(proof.fee) + addressWord(proof.feeReceiver) + balances)
  return digestOf(operatorSeparator(domain), struct)
}

interface SignedCharge extends Fee {
  readonly hash: Hex
  readonly amount: bigint
  readonly collector: Hex
  /** The payer's signature as it was received. */
  readonly collectorData: Hex
}

export const hashCharge = (
  domain: OperatorDomain & { readonly deployment: Deployment },
  { hash, amount, collector, collectorData, fee, feeReceiver }: SignedCharge,
): Hex => {
  const type = keccak(
    `Charge(bytes32 paymentInfoHash,uint256 amount,address tokenCollector,bytes32 collectorDataHash,${feeField(domain.deployment)},address feeReceiver)`,
  ).slice(2)
  const dataHash = hashWords(collectorData.slice(2)).slice(2)
  const fields = numberWord(amount) + addressWord(collector) + dataHash
  const struct = hashWords(type + hash.slice(2) + fields + numberWord(fee) + addressWord(feeReceiver))
  return digestOf(operatorSeparator(domain), struct)
}

/** Who signed a request of the receiver: its key, its wallet contract (EIP-1271), or neither. */
export type AuthorizerKind = 'key' | 'contract'

/** A malleable signature, with a high s, is none: the same request would have two spellings. */
export const findAuthorizer = async (
  reader: ContractReader,
  {
    authorizer,
    digest,
    signature,
    requester,
  }: {
    readonly authorizer: Hex
    readonly digest: Hex
    readonly signature: Hex
    readonly requester: Requester
  },
): Promise<AuthorizerKind | null> => {
  const read = await readSignature(signature, digest, authorizer)
  if (read === null) return null
  if (read.kind === 'ecdsa') return 'key'
  const proof = { address: authorizer, signature, digests: [digest], requester }
  return (await isSignedByContract(reader, proof)) === null ? null : 'contract'
}
