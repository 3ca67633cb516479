import {
  type Address,
  beginCell,
  Cell,
  external,
  internal,
  type MessageRelaxed,
  storeMessage,
  storeMessageRelaxed,
} from '@ton/core'
import type { KeyPair } from '@ton/crypto'
import { findRelayWallets } from './relayWallets.js'
import type { TonChain } from './tonChain.js'
import type { TestWallet } from './wallets.js'

/** As wallets choose it, and longer than a busy machine needs for anything. */
const validitySeconds = 300

/** The service proves a minute after the expiry of a payment that it was not made. */
export const provenAfterSeconds = validitySeconds + 70

export interface TonPaymentOptions {
  readonly chain: TonChain
  readonly wallet: TestWallet
  readonly payTo: Address
  readonly amount?: bigint
  /** Signed amount, if it differs from the required one. */
  readonly signedAmount?: bigint
  readonly destination?: Address
  readonly jettonWallet?: Address
  readonly seqno?: number
  readonly validUntil?: number
  readonly maxTimeoutSeconds?: number
  readonly mode?: number
  readonly isBounceable?: boolean
  readonly nanoTon?: bigint
  readonly forwardNanoTon?: bigint
  readonly forwardPayload?: Cell
  /** Default of relayed payments: a relay wallet, which the requirements name. */
  readonly responseDestination?: Address | null
  readonly customPayload?: Cell
  readonly signer?: KeyPair
  readonly queryId?: bigint
  /** Default: according to the payload form. */
  readonly isForRelay?: boolean
  /** Instead of the transfer. */
  readonly messages?: readonly MessageRelaxed[]
  readonly innerInit?: boolean
  readonly extra?: Readonly<Record<string, unknown>>
  /** Include the state init; default for relayed payments of undeployed wallets. */
  readonly withInit?: boolean
}

export interface TonPaymentBody {
  readonly payVersion: 2
  readonly paymentPayload: {
    readonly payVersion: 2
    readonly accepted: object
    readonly payload: Readonly<Record<string, unknown>>
  }
  readonly paymentRequirements: {
    readonly scheme: 'exact'
    readonly network: string
    readonly amount: string
    readonly asset: string
    readonly payTo: string
    readonly maxTimeoutSeconds: number
    readonly extra: Readonly<Record<string, unknown>>
  }
}

/** TEP-74. */
export const jettonTransfer = (options: TonPaymentOptions): Cell => {
  const { payTo, destination = payTo, amount = 1_000_000n, signedAmount = amount } = options
  const {
    queryId = BigInt(Math.floor(Math.random() * 2 ** 48)),
    forwardNanoTon = 0n,
    customPayload,
  } = options
  return beginCell()
    .storeUint(0x0f8a7ea5, 32)
    .storeUint(queryId, 64)
    .storeCoins(signedAmount)
    .storeAddress(destination)
    .storeAddress(options.responseDestination ?? null)
    .storeMaybeRef(customPayload ?? null)
    .storeCoins(forwardNanoTon)
    .storeMaybeRef(options.forwardPayload ?? null)
    .endCell()
}

const messagesOf = (options: TonPaymentOptions, nanoTon: bigint): readonly MessageRelaxed[] => {
  const { chain, wallet, isBounceable = true, messages, innerInit = false } = options
  if (messages !== undefined) return messages
  return [
    internal({
      to: options.jettonWallet ?? chain.token.walletOf(wallet.address),
      value: options.nanoTon ?? nanoTon,
      bounce: isBounceable,
      body: jettonTransfer(options),
      ...(innerInit ? { init: wallet.init } : {}),
    }),
  ]
}

const signed = async (options: TonPaymentOptions, request: { nanoTon: bigint; isInternal: boolean }) => {
  const { chain, wallet, maxTimeoutSeconds = validitySeconds } = options
  const seqno = options.seqno ?? (await chain.readSeqno(wallet))
  const validUntil = options.validUntil ?? chain.ledger.now() + maxTimeoutSeconds
  const body = wallet.sign({
    seqno,
    validUntil,
    messages: messagesOf(options, request.nanoTon),
    mode: options.mode ?? 1,
    isInternal: options.isForRelay ?? request.isInternal,
    ...(options.signer === undefined ? {} : { signer: options.signer }),
  })
  return { seqno, validUntil, body }
}

const bodyOf = (options: TonPaymentOptions, payload: Readonly<Record<string, unknown>>): TonPaymentBody => {
  const { chain, payTo, amount = 1_000_000n, maxTimeoutSeconds = validitySeconds, extra = {} } = options
  const requirements = {
    scheme: 'exact',
    network: chain.network,
    amount: amount.toString(),
    asset: chain.token.master.toString(),
    payTo: payTo.toString(),
    maxTimeoutSeconds,
    extra,
  } as const
  return {
    payVersion: 2,
    paymentPayload: { payVersion: 2, accepted: requirements, payload },
    paymentRequirements: requirements,
  }
}

const toBase64 = (cell: Cell): string => cell.toBoc().toString('base64')

/** As the t402 client writes it. */
export const clientPaidPayment = async (given: TonPaymentOptions): Promise<TonPaymentBody> => {
  const { wallet } = given
  const options = {
    queryId: BigInt(Math.floor(Math.random() * 2 ** 48)),
    responseDestination: wallet.address,
    forwardNanoTon: 1n,
    ...given,
  }
  const { payTo, destination = payTo, amount = 1_000_000n, signedAmount = amount, withInit = false } = options
  const { seqno, validUntil, body } = await signed(options, { nanoTon: 100_000_000n, isInternal: false })
  const message = external({ to: wallet.address, body, ...(withInit ? { init: wallet.init } : {}) })
  return bodyOf(options, {
    signedBoc: toBase64(beginCell().store(storeMessage(message)).endCell()),
    authorization: {
      from: wallet.address.toString(),
      to: destination.toString(),
      jettonMaster: options.chain.token.master.toString(),
      jettonAmount: signedAmount.toString(),
      tonAmount: (options.nanoTon ?? 100_000_000n).toString(),
      validUntil,
      seqno,
      queryId: options.queryId.toString(),
    },
  })
}

/** As the x402 client writes it (v5 wallets), with the response destination that `/supported` names. */
export const sponsoredPayment = async (given: TonPaymentOptions): Promise<TonPaymentBody> => {
  const { chain, wallet } = given
  const { responseDestination = await findFirstRelayWallet(chain.globalId) } = given
  const required =
    responseDestination === null ? {} : { responseDestination: responseDestination.toRawString() }
  const options = { ...given, responseDestination, extra: { ...required, ...given.extra } }
  const { body } = await signed(options, { nanoTon: 50_000_000n, isInternal: true })
  const withInit = options.withInit ?? !(await chain.isDeployed(wallet.address))
  const message = internal({
    to: wallet.address,
    value: 0n,
    body,
    ...(withInit ? { init: wallet.init } : {}),
  })
  return bodyOf(options, {
    settlementBoc: toBase64(beginCell().store(storeMessageRelaxed(message)).endCell()),
    asset: chain.token.master.toRawString(),
  })
}

let firstRelayWallet: Promise<Address> | null = null

const findFirstRelayWallet = (globalId: number): Promise<Address> => {
  firstRelayWallet ??= findRelayWallets(globalId).then(([first]) => {
    if (first === undefined) throw new Error('There is no relay wallet')
    return first
  })
  return firstRelayWallet
}

/** The same cells serialized with an index and without a checksum. */
export const respellBoc = (boc: string): string =>
  Cell.fromBase64(boc).toBoc({ idx: true, crc32: false }).toString('base64')
