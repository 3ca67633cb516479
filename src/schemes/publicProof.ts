import type { Settlement } from '../ports/settlementJournal.js'
import type { PaymentRequirements } from '../protocol/payment.js'

/** Of schemes whose chain cannot know what is spent: payers move the funds themselves, or there is no chain. */
export interface JournalClaims {
  /** Null: the payment carries the payer's signature, which binds it. */
  readonly publicProof: PublicProof | null
}

/** A proof that every observer of the chain can present: the recipient states what claims must show besides. */
export interface PublicProof {
  /** Whether transfers can carry a memo. */
  readonly carriesMemo: boolean
  /** Null: wallets of the network sign no messages. */
  readonly signatures: ClaimSignatures | null
  /**
   * A sentence if the requirements contradict themselves, so that clients would pay in vain; else null. Null asset: the
   * network's first token.
   */
  findContradiction(asset: string | null, extra: PaymentRequirements['extra']): string | null
  /** No signature binds the columns of a row. Pure; in every state. */
  findRowContradiction(settlement: Settlement): RowContradiction | null
}

export interface ClaimSignatures {
  /**
   * Whether the account's own key signed the text, as the wallets of the network sign messages. Throws only if the chain is
   * unavailable.
   */
  isSignedBy(claim: {
    readonly account: string
    readonly text: string
    readonly signature: string
    readonly publicKey: string | null
  }): Promise<boolean>
}

/** A column of a settlement that contradicts what its row records of the same payment elsewhere. */
export interface RowContradiction {
  readonly column: string
  readonly expected: string
  readonly actual: string
}

/** Null where payments carry the payer's signature. */
export const findPublicProof = ({
  journalClaims,
}: {
  readonly journalClaims: JournalClaims | null
}): PublicProof | null => (journalClaims === null ? null : journalClaims.publicProof)
