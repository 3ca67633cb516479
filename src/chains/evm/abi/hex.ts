import type { Hex } from 'viem'

/** Bytes and hashes in the journal are hex that we wrote ourselves. */
export const asHex = (text: string): Hex => `0x${text.replace(/^0x/, '')}`
