/** The token programs whose transfers settle a payment: SPL Token and Token-2022. */
export const tokenPrograms: readonly string[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]

/** Says what a transaction may cost. */
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'

/** Keeps a text in a transaction's log. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** Asserts what wallets showed to their owners; some wallets add it to whatever they sign. */
export const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** Derives token accounts from owners. */
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** Holds a node's slot and time. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'

/** Lists the 150 newest blockhashes, newest first. */
export const recentBlockhashesSysvar = 'SysvarRecentB1ockHashes11111111111111111111'
