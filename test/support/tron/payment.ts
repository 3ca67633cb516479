import { TronWeb, utils } from 'tronweb'
import { z } from 'zod'
import type { SchemeBody } from '../../contracts/schemeContract.js'
import type { TronKey } from './keys.js'
import type { TronChain } from './tronChain.js'

export interface TronPaymentOptions {
  readonly chain: Pick<TronChain, 'url'>
  readonly payer: TronKey
  /** Base58, like all addresses here. */
  readonly payTo: string
  readonly token: string
  readonly amount: bigint
  readonly network?: string
  /** Signed fields that differ from the required ones. */
  readonly signed?: Partial<SignedFields>
  readonly maxTimeoutSeconds?: number
}

export interface SignedFields {
  readonly to: string
  readonly contract: string
  readonly amount: bigint
  /** In sun. */
  readonly feeLimit: number
  /** From now. */
  readonly lifetimeMs: number
  readonly refBlockBytes: string
  readonly refBlockHash: string
}

export interface TronPaymentBody extends SchemeBody {
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly accepted: TronRequirements
    readonly payload: TronPayload
  }
  readonly paymentRequirements: TronRequirements
}

interface TronRequirements {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

export interface TronPayload {
  readonly signedTransaction: string
  readonly authorization: {
    readonly from: string
    readonly to: string
    readonly contractAddress: string
    readonly amount: string
    readonly expiration: number
    readonly refBlockBytes: string
    readonly refBlockHash: string
    readonly timestamp: number
  }
}

const feeLimit = 100_000_000
/** Longer than a busy machine needs for anything; as long as requirements of x402 allow by default. */
const validitySeconds = 300

/** After this a block has a time at which the usual payment cannot be included. */
export const expiredAfterMs = 1_000 * validitySeconds + 35_000

/** In the format of `broadcasthex`. */
const encodeWithTronweb = (signed: { readonly signature: readonly string[] }): string => {
  const message = utils.transaction.txJsonToPb(signed)
  for (const each of signed.signature) message.addSignature(Buffer.from(each.replace(/^0x/, ''), 'hex'))
  return Buffer.from(message.serializeBinary()).toString('hex')
}

/** What tronweb's signers return. */
interface SignedByTronweb {
  readonly visible: boolean
  readonly txID: string
  readonly raw_data_hex: string
  readonly raw_data: object
  readonly signature: readonly string[]
}

const signedShape = z.looseObject({
  visible: z.boolean(),
  txID: z.string(),
  raw_data_hex: z.string(),
  raw_data: z.looseObject({}),
  signature: z.array(z.string()),
})

/** Built, signed and encoded by tronweb, like a wallet; `signed` is the signer's own answer. */
export const signWithTronweb = async (
  { chain, payer, payTo, token, amount }: TronPaymentOptions,
  fields: Partial<SignedFields> = {},
): Promise<{ readonly payload: TronPayload; readonly signed: SignedByTronweb }> => {
  const tronWeb = new TronWeb({ fullHost: chain.url })
  const { to = payTo, contract = token, amount: value = amount } = fields
  const head = await tronWeb.trx.getCurrentRefBlockParams()
  const blockHeader = {
    ref_block_bytes: fields.refBlockBytes ?? head.ref_block_bytes,
    ref_block_hash: fields.refBlockHash ?? head.ref_block_hash,
    expiration: Date.now() + (fields.lifetimeMs ?? 1_000 * validitySeconds),
    timestamp: Date.now(),
  }
  const { transaction } = await tronWeb.transactionBuilder.triggerSmartContract(
    contract,
    'transfer(address,uint256)',
    { feeLimit: fields.feeLimit ?? feeLimit, txLocal: true, blockHeader },
    [
      { type: 'address', value: to },
      { type: 'uint256', value: value.toString() },
    ],
    payer.hexAddress,
  )
  const signed = await tronWeb.trx.sign(transaction, payer.privateKey)
  const payload = {
    signedTransaction: encodeWithTronweb(signed),
    authorization: {
      from: payer.address,
      to,
      contractAddress: contract,
      amount: value.toString(),
      expiration: blockHeader.expiration,
      refBlockBytes: blockHeader.ref_block_bytes,
      refBlockHash: blockHeader.ref_block_hash,
      timestamp: blockHeader.timestamp,
    },
  }
  return { payload, signed: signedShape.parse(signed) }
}

export const signTransfer = async (
  options: TronPaymentOptions,
  fields: Partial<SignedFields> = {},
): Promise<TronPayload> => (await signWithTronweb(options, fields)).payload

export const tronPayment = async (options: TronPaymentOptions): Promise<TronPaymentBody> => {
  const { payTo, token, amount, network = 'tron:nile', maxTimeoutSeconds = validitySeconds } = options
  const fields = { lifetimeMs: 1_000 * maxTimeoutSeconds, ...options.signed }
  const requirements: TronRequirements = {
    scheme: 'exact',
    network,
    amount: amount.toString(),
    asset: token,
    payTo,
    maxTimeoutSeconds,
    extra: {},
  }
  return {
    paymentPayload: {
      x402Version: 2,
      accepted: requirements,
      payload: await signTransfer(options, fields),
    },
    paymentRequirements: requirements,
  }
}
