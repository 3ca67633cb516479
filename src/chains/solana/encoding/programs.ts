/** SPL Token and Token-2022. */
export const tokenPrograms: readonly string[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]

/** Sets compute unit limit and price. */
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'

/** Memo, version 2. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** Assertions that some wallets add to transactions they sign. */
export const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** Owns the derivation of associated token accounts. */
export const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** Slot and Unix time. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'

/** The 150 newest blockhashes, newest first. */
export const recentBlockhashesSysvar = 'SysvarRecentB1ockHashes11111111111111111111'
