import { Address, type Cell } from '@ton/core'
import { z } from 'zod'
import { describeIssue, type JsonObject } from '../../../protocol/fields.js'
import type { Reason } from '../../../protocol/reasons.js'
import { describeAuthorization } from '../../common/settling/exactScheme.js'
import { maxBase64Length, readAddress, readCell } from '../encoding/cells.js'
import { type JettonTransfer, readJettonTransfer } from '../tokens/jettons.js'
import {
  readExternalMessage,
  readInternalMessage,
  readWalletRequest,
  type WalletMessage,
  type WalletRequest,
} from '../wallets/walletMessage.js'

const boc = z.string().min(1).max(maxBase64Length)
const addressText = z.string().min(1).max(128)
const digits = z.string().regex(/^[0-9]{1,78}$/)

const clientPaidProof = z.object({
  signedBoc: boc,
  /**
   * What moves money, as the client wrote it: compared, never trusted. Clients write their own clock and seqno beside it
   * before the wallet signs, so those are not read.
   */
  authorization: z.object({
    from: addressText,
    to: addressText,
    jettonMaster: addressText,
    jettonAmount: digits,
  }),
})

const sponsoredProof = z.object({ settlementBoc: boc, asset: addressText })

type ClientPaidProof = z.infer<typeof clientPaidProof>

type SponsoredProof = z.infer<typeof sponsoredProof>

type ExactProof = ClientPaidProof | SponsoredProof

/** The form is chosen by the field that is present; a problem names the field. */
export const readExactProof = (
  payload: Readonly<Record<string, unknown>>,
): { readonly proof: ExactProof } | { readonly problem: string } => {
  const shape = 'settlementBoc' in payload ? sponsoredProof : clientPaidProof
  const parsed = shape.safeParse(payload, { error: describeIssue })
  if (parsed.success) return { proof: parsed.data }
  const [issue] = parsed.error.issues
  return { problem: `payload.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is of the wrong form'}` }
}

const claim = z.object({ authorization: z.object({ from: addressText }) })

/** The payer that a payload names beside a message that cannot be read; null if it names none. */
export const readClaimedPayer = (payload: Readonly<Record<string, unknown>>): Address | null => {
  const parsed = claim.safeParse(payload)
  return parsed.success ? readAddress(parsed.data.authorization.from) : null
}

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

/** Wallet address and hash of the signed body; the body includes seqno and expiry, but not the signature. */
interface SignedIdentity {
  readonly wallet: Address
  readonly signedHash: Buffer
}

/** The same for every encoding of its message. */
export const formatAuthorizationId = (network: string, { wallet, signedHash }: SignedIdentity): string =>
  `${network}/${wallet.toRawString()}/${signedHash.toString('hex')}`

/** Stored in the journal for `resolve`. */
export const formatDetails = ({ wallet, signedHash }: SignedIdentity): JsonObject => ({
  wallet: wallet.toRawString(),
  signedHash: signedHash.toString('hex'),
})

const detailsShape = z.object({ wallet: z.string(), signedHash: z.string().regex(/^[0-9a-f]{64}$/) })

/** Inverse of `formatDetails`; throws for anything else. */
export const readDetails = (details: JsonObject): SignedIdentity => {
  const { wallet, signedHash } = detailsShape.parse(details)
  return { wallet: Address.parseRaw(wallet), signedHash: Buffer.from(signedHash, 'hex') }
}

/** What a payment authorizes, with and without a chain. */
export const describePayment = (network: string, decoded: DecodedPayment) =>
  describeAuthorization({
    payer: decoded.message.wallet.toRawString(),
    authorizationId: formatAuthorizationId(network, identityOf(decoded)),
    amount: decoded.transfer.amount,
    expiresAt: expiryOf(decoded),
  })
