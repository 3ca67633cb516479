import type { Hex } from 'viem'

/** A contract of ours: at one address on every chain, because CREATE2 derives the address from the init code. */
export interface DeployedContract {
  readonly name: string
  readonly address: Hex
  /** Keccak-256 of the code at the address. */
  readonly codeHash: Hex
  /** Creation code, followed by the constructor's arguments if it has any. */
  readonly initCode: Hex
}

/** A contract of ours whose address depends on the constructor's arguments, while its code does not. */
export interface ContractCode {
  readonly name: string
  /** Keccak-256 of the code on chain. */
  readonly codeHash: Hex
  readonly creationCode: Hex
}
