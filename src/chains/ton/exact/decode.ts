import type { Address } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { readCell } from '../encoding/cells.js'
import { type JettonTransfer, readJettonTransfer } from '../tokens/jettonTransfer.js'
import { readExternalMessage, readInternalMessage, type WalletMessage } from '../wallets/walletMessage.js'
import { readWalletRequest, type WalletRequest } from '../wallets/walletRequest.js'
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
  const message = cell && (isSponsored ? readInternalMessage(cell) : readExternalMessage(cell))
  if (message === null) return { refusedAs: 'invalid_boc_format' }
  const { wallet } = message
  const request = readWalletRequest(message.body)
  if (request === null) return { refusedAs: 'invalid_exact_tvm_payload_w5_actions', wallet }
  const transfer = readJettonTransfer(request.message.body)
  if (transfer === null) return { refusedAs: 'invalid_exact_tvm_payload_jetton_transfer', wallet }
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

const isSponsoredProof = (proof: ExactProof): proof is SponsoredProof => 'settlementBoc' in proof
