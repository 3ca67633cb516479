import { hexToBytes } from 'viem'
import { keccak } from '../abi/keccak.js'
import { type ContractPresence, createPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import type { DeployedContract } from './deployedContract.js'

/** Deployed with other code: impossible by CREATE2, so the endpoint or the chain is not what it seems. */
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
