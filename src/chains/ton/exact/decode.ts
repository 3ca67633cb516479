import type { Reason } from '../../../protocol/reasons.js'
import { readCell } from '../encoding/cells.js'
import { type JettonTransfer, readJettonTransfer } from '../tokens/jettonTransfer.js'
import { readExternalMessage, readInternalMessage, type WalletMessage } from '../wallets/walletMessage.js'
import { readWalletRequest, type WalletRequest } from '../wallets/walletRequest.js'
import type { ClientPaidProof, SponsoredProof, TonProof } from './payload.js'

/** A payment as its bytes say it. */
export interface DecodedPayment {
  readonly message: WalletMessage
  readonly request: WalletRequest
  readonly transfer: JettonTransfer
  /** What the client says of it beside the bytes; null in the form that we relay. */
  readonly copy: ClientPaidProof['authorization'] | null
  /** The jetton that the client names beside the bytes. */
  readonly namedAsset: string
  /** Whether we relay it and pay for it. */
  readonly isSponsored: boolean
  /** How large its bag of cells is, in bytes. */
  readonly size: number
}

/** What came of decoding. */
export type Decoding = { readonly decoded: DecodedPayment } | { readonly refusedAs: Reason }

/** Decodes a proof; whatever the bytes are, it answers. */
export const decodePayment = (proof: TonProof): Decoding => {
  const isSponsored = isSponsoredProof(proof)
  const boc = isSponsored ? proof.settlementBoc : proof.signedBoc
  const cell = readCell(boc)
  const message = cell && (isSponsored ? readInternalMessage(cell) : readExternalMessage(cell))
  if (message === null) return { refusedAs: 'invalid_boc_format' }
  const request = readWalletRequest(message.body)
  if (request === null) return { refusedAs: 'invalid_exact_tvm_payload_w5_actions' }
  const transfer = readJettonTransfer(request.message.body)
  if (transfer === null) return { refusedAs: 'invalid_exact_tvm_payload_jetton_transfer' }
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

const isSponsoredProof = (proof: TonProof): proof is SponsoredProof => 'settlementBoc' in proof
