import { randomBytes } from 'node:crypto'
import { Keyring } from '@polkadot/api'

export type KeyType = 'sr25519' | 'ed25519' | 'ecdsa'
export type PolkadotKey = ReturnType<Keyring['addFromSeed']>

/** An account of a wallet; its address has the generic prefix 42. Only once a chain runs: sr25519 is WebAssembly. */
export const createKey = (type: KeyType = 'sr25519'): PolkadotKey =>
  new Keyring({ type, ss58Format: 42 }).addFromSeed(randomBytes(32))
