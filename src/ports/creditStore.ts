/** What a score is computed from. Volumes are in millionths of a US dollar. */
export interface CreditFacts {
  /**
   * Confirmed payments to other wallets, of a cent or more, and what they paid, without what came back from the payee,
   * directly or through one other wallet. Of the payments to a payee, the share counts that was kept, rounded up.
   */
  readonly payments: number
  readonly volume: bigint
  /** As above, with at most 10 payments for each payee. */
  readonly cappedPayments: number
  /** As above, with at most 1,000 US dollars for each payee. */
  readonly cappedVolume: bigint
  readonly payees: number
  /** Payments that do not count, because what they paid came back. */
  readonly returnedPayments: number
  /** What does not count, because it came back. */
  readonly returnedVolume: bigint
  /** Authorizations that failed by the payer's fault. */
  readonly failures: number
  /** It is the time of the earliest payment that counts. */
  readonly firstAt: Date | null
}

export interface WalletFacts {
  readonly wallet: string
  readonly facts: CreditFacts
}

export interface Recount {
  /**
   * False: the wallet has too many settlements to compare in time; its figures are as before.
   */
  readonly isComplete: boolean
  /** Figures that were wrong, and are corrected. */
  readonly repairs: number
}

/**
 * Credit facts of wallets. The journal keeps them in the transaction of each settlement. A wallet is the CAIP-2 namespace
 * of its networks and its normalised address, such as `eip155:0x…`.
 */
export interface CreditStore {
  /** Those of the wallets that have paid. Includes every settlement that was closed before the call. */
  read(wallets: readonly string[]): Promise<readonly WalletFacts[]>
  /** Counts the settlements of the wallet again. */
  recount(wallet: string): Promise<Recount>
  /** Finds the earliest payments that are left after a reorg; returns whether some are still to be found. */
  findLostDates(stopped: AbortSignal): Promise<boolean>
  /** Scores changed wallets, and those scored before `before`, for `listTop`; returns whether some are left. */
  rescore(score: (facts: CreditFacts) => number, before: Date): Promise<boolean>
  /** By their stored score, the highest first; wallets without points are left out. */
  listTop(limit: number): Promise<readonly WalletFacts[]>
}

export interface CreditCounter {
  /** A recount of a wallet did not agree with what the triggers had counted. */
  countCreditRepair(): void
}
