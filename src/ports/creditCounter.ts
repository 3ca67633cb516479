export interface CreditCounter {
  /** A recount of a wallet did not agree with what the triggers had counted. */
  countCreditRepair(): void
}
