import { Cell, internal, loadMessage, SendMode } from '@ton/core'
import type { SignedTransaction } from '../../../ports/settlementJournal.js'
import { tryParse } from '../encoding/cells.js'
import type { Prepared } from '../exact/prepare.js'
import { writeExternalMessage } from '../wallets/walletMessage.js'
import type { RelayWallet } from './relayWallets.js'

/** What a message of ours says beside the payments that it carries. */
export interface RelayEnvelope {
  readonly seqno: number
  /** Unix seconds. */
  readonly validUntil: number
  /** Whether our wallet exists already; its first message deploys it. */
  readonly isDeployed: boolean
}

// What the payer's wallet needs to execute the request and to send its one message; what is left stays there.
const executionNanoTon = 6_000_000n

/** The nanoTON that relaying a payment attaches: what its transfer takes along, and what its wallet uses. */
export const countAttached = ({ decoded }: Prepared): bigint =>
  decoded.request.message.nanoTon + executionNanoTon

/** Signs one message that brings payers' requests to their wallets; without payments it only uses its number up. */
export const signRelayMessage = async (
  wallet: RelayWallet,
  payments: readonly Prepared[],
  { seqno, validUntil, isDeployed }: RelayEnvelope,
): Promise<SignedTransaction> => {
  const { contract } = wallet
  const body = await contract.createTransfer({
    seqno,
    timeout: validUntil,
    // One that cannot be sent must not keep the others back.
    sendMode: SendMode.PAY_GAS_SEPARATELY | SendMode.IGNORE_ERRORS,
    messages: payments.map((payment) => {
      const { message } = payment.decoded
      return internal({
        to: message.wallet,
        value: countAttached(payment),
        // What a wallet refuses comes back.
        bounce: true,
        body: message.body,
        ...(payment.isDeployed || message.init === null ? {} : { init: message.init }),
      })
    }),
    signer: async (signing: Cell) => wallet.sign(signing.hash()),
  })
  const { bytes, hash } = writeExternalMessage({
    wallet: wallet.address,
    init: isDeployed ? null : contract.init,
    body,
  })
  return { transaction: hash, bytes }
}

/** Until when a message of ours is valid, in Unix seconds; null for other bytes. */
export const readRelayExpiry = (bytes: string): number | null =>
  tryParse(() => loadMessage(Cell.fromBase64(bytes).beginParse()).body.beginParse().skip(64).loadUint(32))
