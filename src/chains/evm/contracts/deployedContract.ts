import type { Hex } from 'viem'

/** A contract of ours: at one address on every chain, because CREATE2 derives the address from the init code. */
export interface DeployedContract {
  readonly name: string
  readonly address: Hex
  /** Keccak-256 of the code at the address. */
  readonly codeHash: Hex
  readonly initCode: Hex
}
