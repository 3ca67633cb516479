import { type Abi, encodeEventTopics, encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { addressWord, keccak, numberWord, readWord } from '../abi/words.js'
import { type ContractPresence, createPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Log } from '../rpc/wireShapes.js'
import type { ContractCall } from '../transactions/settlementCall.js'

/* The escrow of base/commerce-payments in its two published versions, which differ in how a fee is stated. */

/** One set of contracts. The collectors pull funds for the escrow alone. */
export interface Deployment {
  readonly version: '1.0' | '1.1'
  readonly escrow: Hex
  readonly collectors: Readonly<Record<'eip3009' | 'permit2', Hex>>
  /** Pulls refunds from the operator's allowance. */
  readonly refundCollector: Hex
}

const current: Deployment = {
  version: '1.1',
  escrow: '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c',
  collectors: {
    eip3009: '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88',
    permit2: '0xD69831Aed5bfe262067ec4c751f4F830EcdD446e',
  },
  refundCollector: '0x7a03443724d14798c4AB4622F1DAAcA761Fea486',
}

const first: Deployment = {
  version: '1.0',
  escrow: '0xBdEA0D1bcC5966192B070Fdf62aB4EF5b4420cff',
  collectors: {
    eip3009: '0x0E3dF9510de65469C4518D7843919c0b8C7A7757',
    permit2: '0x992476B9Ee81d52a5BdA0622C333938D0Af0aB26',
  },
  refundCollector: '0x934907bffd0901b6A21e398B9C53A4A38F02fa5d',
}

/** The set of `extra.authCaptureEscrow`; the newest where it is absent, null for an escrow that is not published. */
export const findDeployment = (escrow: Hex | null): Deployment | null => {
  if (escrow === null) return current
  return [current, first].find((each) => isSameAddress(each.escrow, escrow)) ?? null
}

/** Whether a network has the newest escrow. */
export const createEscrowPresence = (rpc: Pick<Rpc, 'getCode'>): ContractPresence =>
  createPresence(async () => (await rpc.getCode(current.escrow)) !== '0x')

/** What the payer signs by its hash; times in Unix seconds, addresses in EIP-55 form. */
export interface PaymentInfo {
  /** The only sender that the escrow accepts, but for `reclaim`. */
  readonly operator: Hex
  readonly payer: Hex
  readonly receiver: Hex
  readonly token: Hex
  readonly maxAmount: bigint
  readonly preApprovalExpiry: number
  readonly authorizationExpiry: number
  readonly refundExpiry: number
  readonly minFeeBps: number
  readonly maxFeeBps: number
  readonly feeReceiver: Hex
  readonly salt: bigint
}

export const maxUint48 = 2n ** 48n - 1n
export const maxUint120 = 2n ** 120n - 1n

const infoFields =
  'address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt'
const infoTypeHash = keccak(`PaymentInfo(${infoFields})`).slice(2)

const hashWords = (words: string): Hex => keccak(Buffer.from(words, 'hex'))

/** The escrow's hash of a payment. Payer zero: what payers sign as nonce, before a payer is known. */
export const hashPaymentInfo = (
  { chainId, escrow }: { readonly chainId: number; readonly escrow: Hex },
  info: PaymentInfo,
): Hex => {
  const inner = hashWords(
    infoTypeHash +
      addressWord(info.operator) +
      addressWord(info.payer) +
      addressWord(info.receiver) +
      addressWord(info.token) +
      numberWord(info.maxAmount) +
      numberWord(info.preApprovalExpiry) +
      numberWord(info.authorizationExpiry) +
      numberWord(info.refundExpiry) +
      numberWord(info.minFeeBps) +
      numberWord(info.maxFeeBps) +
      addressWord(info.feeReceiver) +
      numberWord(info.salt),
  )
  return hashWords(numberWord(chainId) + addressWord(escrow) + inner.slice(2))
}

/** The identity of a payment: the escrow collects it once, by whichever method. */
export const formatPaymentId = (network: string, escrow: Hex, hash: Hex): string =>
  `${network}/${escrow}/${hash}`.toLowerCase()

const bindingTypeHash = keccak(
  'x402AuthCaptureSaltBinding(address receiverAuthorizer,address policy,uint256 saltNonce)',
).slice(2)

/** The salt that binds a payment to who may move its hold. */
export const bindSalt = (receiverAuthorizer: Hex, policy: Hex, saltNonce: bigint): bigint =>
  BigInt(
    hashWords(
      bindingTypeHash + addressWord(receiverAuthorizer) + addressWord(policy) + numberWord(saltNonce),
    ),
  )

const infoStruct =
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }'

const commonAbi = parseAbi([
  infoStruct,
  'function authorize(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData)',
  'function refund(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData)',
  'function void(PaymentInfo paymentInfo)',
  'event PaymentAuthorized(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector)',
  'event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount)',
  'event PaymentReclaimed(bytes32 indexed paymentInfoHash, uint256 amount)',
  'event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector)',
])

/** A fee as an amount of the token. */
const amountFeeAbi = parseAbi([
  infoStruct,
  'function charge(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData, uint256 feeAmount, address feeReceiver)',
  'function capture(PaymentInfo paymentInfo, uint256 amount, uint256 feeAmount, address feeReceiver)',
  'event PaymentCharged(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector, uint256 feeAmount, address feeReceiver)',
  'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver)',
])

/** A fee in basis points of the amount. */
const shareFeeAbi = parseAbi([
  infoStruct,
  'function charge(PaymentInfo paymentInfo, uint256 amount, address tokenCollector, bytes collectorData, uint16 feeBps, address feeReceiver)',
  'function capture(PaymentInfo paymentInfo, uint256 amount, uint16 feeBps, address feeReceiver)',
  'event PaymentCharged(bytes32 indexed paymentInfoHash, PaymentInfo paymentInfo, uint256 amount, address tokenCollector, uint16 feeBps, address feeReceiver)',
  'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint16 feeBps, address feeReceiver)',
])

/** What is done with a payment, by one call of the escrow. */
export type Operation = 'authorize' | 'charge' | 'capture' | 'void' | 'refund'

/** `fee`: an amount in version 1.1, basis points in version 1.0. */
export interface Fee {
  readonly fee: bigint
  readonly feeReceiver: Hex
}

type Step =
  | {
      readonly operation: 'authorize' | 'refund'
      readonly amount: bigint
      readonly collector: Hex
      readonly collectorData: Hex
    }
  | ({
      readonly operation: 'charge'
      readonly amount: bigint
      readonly collector: Hex
      readonly collectorData: Hex
    } & Fee)
  | ({ readonly operation: 'capture'; readonly amount: bigint } & Fee)
  | { readonly operation: 'void' }

/** A call of the escrow, and the event that alone proves it: topics, and how the data ends; null: the data may be any. */
interface EscrowCall extends ContractCall {
  readonly topic: Hex
  readonly terms: string | null
}

const topicOf = (abi: Abi, eventName: string): Hex => {
  const [topic] = encodeEventTopics({ abi, eventName })
  if (typeof topic !== 'string') throw new Error(`${eventName} has no topic`)
  return topic
}

export const planEscrowCall = (
  { escrow: to, version }: Deployment,
  info: PaymentInfo,
  step: Step,
): EscrowCall => {
  const feeAbi: Abi = version === '1.1' ? amountFeeAbi : shareFeeAbi
  const { operation } = step
  switch (operation) {
    case 'authorize':
    case 'refund': {
      const { amount, collector, collectorData } = step
      return {
        to,
        data: encodeFunctionData({
          abi: commonAbi,
          functionName: operation,
          args: [info, amount, collector, collectorData],
        }),
        topic: topicOf(commonAbi, operation === 'authorize' ? 'PaymentAuthorized' : 'PaymentRefunded'),
        terms: numberWord(amount) + addressWord(collector),
      }
    }
    case 'charge': {
      const { amount, collector, collectorData, fee, feeReceiver } = step
      const args = [
        info,
        amount,
        collector,
        collectorData,
        version === '1.1' ? fee : Number(fee),
        feeReceiver,
      ]
      return {
        to,
        data: encodeFunctionData({ abi: feeAbi, functionName: operation, args }),
        topic: topicOf(feeAbi, 'PaymentCharged'),
        terms: numberWord(amount) + addressWord(collector) + numberWord(fee) + addressWord(feeReceiver),
      }
    }
    case 'capture': {
      const { amount, fee, feeReceiver } = step
      const args = [info, amount, version === '1.1' ? fee : Number(fee), feeReceiver]
      return {
        to,
        data: encodeFunctionData({ abi: feeAbi, functionName: operation, args }),
        topic: topicOf(feeAbi, 'PaymentCaptured'),
        terms: numberWord(amount) + numberWord(fee) + addressWord(feeReceiver),
      }
    }
    case 'void':
      return {
        to,
        data: encodeFunctionData({ abi: commonAbi, functionName: operation, args: [info] }),
        topic: topicOf(commonAbi, 'PaymentVoided'),
        terms: null,
      }
  }
}

/** The events of a collection, of both versions. */
export const collectedTopics: readonly Hex[] = [
  topicOf(commonAbi, 'PaymentAuthorized'),
  topicOf(amountFeeAbi, 'PaymentCharged'),
  topicOf(shareFeeAbi, 'PaymentCharged'),
]

const heldTopic = topicOf(commonAbi, 'PaymentAuthorized')
const refundedTopic = topicOf(commonAbi, 'PaymentRefunded')
const returnedTopics = [topicOf(commonAbi, 'PaymentVoided'), topicOf(commonAbi, 'PaymentReclaimed')]
const capturedTopics = [topicOf(amountFeeAbi, 'PaymentCaptured'), topicOf(shareFeeAbi, 'PaymentCaptured')]

/** The events that change the balances of a payment, of both versions. */
export const balanceTopics: readonly Hex[] = [
  ...collectedTopics,
  ...capturedTopics,
  ...returnedTopics,
  refundedTopic,
]

// The fields of the payment precede the amount of a collection.
const infoWords = infoFields.split(',').length

/** Computes the balances before an event from those after it. */
export const stepBackBalances = (
  { topics: [first], data }: Pick<Log, 'topics' | 'data'>,
  { capturable, refundable }: Balances,
): Balances => {
  const topic = first?.toLowerCase() ?? ''
  const isCollection = collectedTopics.some((each) => each === topic)
  const amount = readWord(`0x${data.slice(2 + (isCollection ? infoWords * 64 : 0))}`) ?? 0n
  if (topic === heldTopic) return { capturable: capturable - amount, refundable }
  if (isCollection || topic === refundedTopic) {
    return { capturable, refundable: isCollection ? refundable - amount : refundable + amount }
  }
  return {
    capturable: capturable + amount,
    refundable: capturedTopics.some((each) => each === topic) ? refundable - amount : refundable,
  }
}

const stateSelector = toFunctionSelector('paymentState(bytes32)')

/** Calldata of `paymentState`. */
export const encodeStateCall = (hash: Hex): Hex => `${stateSelector}${hash.slice(2)}`

/** In smallest units. The pair never recurs for one payment: what is held never grows, and what can be refunded grows by captures only. */
export interface Balances {
  readonly capturable: bigint
  readonly refundable: bigint
}

/** What the escrow knows of a payment. */
export interface PaymentState extends Balances {
  readonly isCollected: boolean
}

export const decodePaymentState = (answer: Hex | null | undefined): PaymentState | null => {
  if (answer == null || answer.length !== 2 + 3 * 64) return null
  const [isCollected, capturable, refundable] = [0, 1, 2].map((index) =>
    readWord(`0x${answer.slice(2 + index * 64, 66 + index * 64)}`),
  )
  if (isCollected == null || capturable == null || refundable == null) return null
  return { isCollected: isCollected !== 0n, capturable, refundable }
}
