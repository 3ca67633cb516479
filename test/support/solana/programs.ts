/** SPL Token. */
export const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** Token-2022. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** Compute Budget, in whose instructions a transaction says what it costs. */
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'

/** Memo, version 2. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** Lighthouse, whose assertions some wallets add. */
export const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** The sysvar that holds slot and time. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'

/** The sysvar that lists the 150 newest blockhashes. */
export const recentBlockhashesSysvar = 'SysvarRecentB1ockHashes11111111111111111111'

/** Genesis hashes of the public clusters. */
export const genesisHashes = {
  mainnet: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
} as const
