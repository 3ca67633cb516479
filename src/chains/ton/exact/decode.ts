import type { Address, Cell } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress, readCell } from '../encoding/cells.js'
import { type JettonTransfer, readJettonTransfer } from '../tokens/jettonTransfer.js'
import { readExternalMessage, readInternalMessage, type WalletMessage } from '../wallets/walletMessage.js'
import { readWalletRequest, type WalletRequest } from '../wallets/walletRequest.js'
import type { SignedIdentity } from './authorizationId.js'
import type { ClientPaidProof, ExactProof, SponsoredProof } from './payload.js'

export interface DecodedPayment {
  readonly message: WalletMessage
  readonly request: WalletRequest
  readonly transfer: JettonTransfer
  /** Copy in the payload beside the bytes; null for relayed payments. */
  readonly copy: ClientPaidProof['authorization'] | null
  readonly namedAsset: string
  readonly isSponsored: boolean
  readonly size: number
}

/** A refusal names the wallet where the message could be read. */
type Decoding =
  | { readonly decoded: DecodedPayment }
  | { readonly refusedAs: Reason; readonly wallet?: Address }

/** Never throws. */
export const decodePayment = (proof: ExactProof): Decoding => {
  const isSponsored = isSponsoredProof(proof)
  const boc = isSponsored ? proof.settlementBoc : proof.signedBoc
  const cell = readCell(boc)
  if (cell === null) return { refusedAs: 'invalid_boc_format' }
  const reading = isSponsored
    ? readRequest(readInternalMessage(cell))
    : readClientPaid(cell, proof.authorization.from)
  if ('refusedAs' in reading) return reading
  const { message, request } = reading
  const transfer = readJettonTransfer(request.message.body)
  if (transfer === null) {
    return { refusedAs: 'invalid_exact_tvm_payload_jetton_transfer', wallet: message.wallet }
  }
  return {
    decoded: {
      message,
      request,
      transfer,
      isSponsored,
      copy: isSponsored ? null : proof.authorization,
      namedAsset: isSponsored ? proof.asset : proof.authorization.jettonMaster,
      size: Math.ceil((boc.length * 3) / 4),
    },
  }
}

export const identityOf = ({ message, request }: DecodedPayment): SignedIdentity => ({
  wallet: message.wallet,
  signedHash: request.signedHash,
})

export const expiryOf = ({ request }: DecodedPayment): Date => new Date(request.validUntil * 1_000)

type RequestReading =
  | { readonly message: WalletMessage; readonly request: WalletRequest }
  | { readonly refusedAs: Reason; readonly wallet?: Address }

const readRequest = (message: WalletMessage | null): RequestReading => {
  if (message === null) return { refusedAs: 'invalid_boc_format' }
  const request = readWalletRequest(message.body)
  return request === null
    ? { refusedAs: 'invalid_exact_tvm_payload_w5_actions', wallet: message.wallet }
    : { message, request }
}

/**
 * An external message, or the signed body alone, which is wrapped for `from`: its signature binds it to that wallet's
 * key. The external reading comes first: random signature bits can look like the head of a message, but then its body
 * is no request.
 */
const readClientPaid = (cell: Cell, from: string): RequestReading => {
  const reading = readRequest(readExternalMessage(cell))
  if ('request' in reading) return reading
  const request = readWalletRequest(cell)
  if (request === null) return reading
  const wallet = readAddress(from)
  if (wallet === null) return { refusedAs: 'invalid_sender_address' }
  return { message: { wallet, init: null, body: cell }, request }
}

const isSponsoredProof = (proof: ExactProof): proof is SponsoredProof => 'settlementBoc' in proof
