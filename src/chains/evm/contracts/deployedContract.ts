import { type Hex, hexToBytes } from 'viem'
import { keccak } from '../abi/words.js'
import { type ContractPresence, createPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'

/** A contract of ours has one address on every chain, because CREATE2 derives it from the init code. */
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

/**
 * The deterministic deployment proxy, at one address on nearly every EVM chain: calldata is a salt of 32 bytes and init
 * code, which it deploys by CREATE2 (github.com/Arachnid/deterministic-deployment-proxy).
 */
export const deploymentProxy = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** `foreign`: other code, which CREATE2 excludes, so that the endpoint or the chain is not what it seems. */
export type ContractState = 'deployed' | 'absent' | 'foreign'

export const readContractState = async (
  rpc: Pick<Rpc, 'getCode'>,
  { address, codeHash }: DeployedContract,
): Promise<ContractState> => {
  const code = await rpc.getCode(address)
  if (code === '0x') return 'absent'
  return keccak(hexToBytes(code)) === codeHash ? 'deployed' : 'foreign'
}

/** Whether a contract is deployed with the expected code. */
export const createContractPresence = (
  rpc: Pick<Rpc, 'getCode'>,
  contract: DeployedContract,
  now?: () => number,
): ContractPresence =>
  createPresence(async () => (await readContractState(rpc, contract)) === 'deployed', now)
